/*
 * The ring buffer between the threads that decide and the writer. Records have the same bytes in
 * the ring as on disk. Any thread may append, without a lock and without waiting: it reserves its
 * range with one fetch_add, fills it, and stores the first word of the record last. The writer is
 * the only consumer: it walks over the records whose first word is there, writes them to disk, and
 * frees their range.
 *
 * A thread that appends must have checked before that there is room (ring_has_room), for itself and
 * for all other threads that may append after the same check.
 */
#ifndef LAUD_JOURNAL_FILE_RING_H
#define LAUD_JOURNAL_FILE_RING_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "journal/event.h"

#define CACHE_LINE 64

struct ring {
    /* `size` bytes, mapped twice in a row, so that no record is split; free bytes are zero. */
    uint8_t *bytes;
    size_t size;                               /* a power of two */
    alignas(CACHE_LINE) _Atomic uint64_t tail; /* position: everything before it is reserved */
    /* Position: everything before it is zeroed and free again. */
    alignas(CACHE_LINE) _Atomic uint64_t freed;
};

/* 0 or -errno. `size` is a power of two and a multiple of the page size. */
int ring_make(struct ring *ring, size_t size, uint64_t position);
void ring_free(struct ring *ring);

static inline uint8_t *ring_at(const struct ring *ring, uint64_t position)
{
    return ring->bytes + (position & (ring->size - 1));
}

/* Is there room for `bytes` bytes? Loads that follow in the caller are ordered after this check. */
static inline bool ring_has_room(struct ring *ring, size_t bytes)
{
    uint64_t freed = atomic_load_explicit(&ring->freed, memory_order_acquire);
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
    return tail + bytes <= freed + ring->size;
}

/* Appends a record and returns the position after it. Any thread may call. */
uint64_t ring_append(struct ring *ring, const struct event *event);

/*
 * Only the writer calls this. The number of bytes of complete, published records from `from` on
 * without a gap, at most `limit`; *count is the number of these records.
 */
size_t ring_published(const struct ring *ring, uint64_t from, size_t limit, uint32_t *count);

/* Only the writer calls this. Frees the oldest `bytes` bytes. */
void ring_release(struct ring *ring, size_t bytes);

#endif

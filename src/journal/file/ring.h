/*
 * The ring buffer between the threads that decide and the writer. Records have the same bytes in
 * the ring as on disk. Any thread may append, without a lock and without waiting: it reserves its
 * range with one fetch_add, fills it, and stores the first word of the record last. The writer is
 * the only consumer: it walks over the records whose first word is there, writes them to disk, and
 * frees their range.
 *
 * Short and long events share the ring: any byte may be used by either, but the numbers of bytes are divided:
 *
 * - A thread that appends short events must have checked before that there is room (ring_has_room),
 *   for itself and for all other threads that may append after the same check.
 * - A thread that appends a long event must have reserved its bytes before (ring_reserve). Every
 *   reservation succeeds when there is room for the largest, so a large one waits no longer than a
 *   small one.
 *
 * So neither kind can take the room of the other: a reservation never waits for short events, and
 * short events count what is reserved as used, whether it is reserved already or not.
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

/* How the ring is divided. */
struct ring_sizes {
    size_t bytes;    /* of the ring; a power of two and a multiple of the page size */
    size_t longs;    /* of these, for long events; at least long_max */
    size_t long_max; /* the most that is reserved at once */
};

struct ring {
    /* `size` bytes, mapped twice in a row, so that no record is split; free bytes are zero. */
    uint8_t *bytes;
    size_t size;   /* a power of two */
    size_t shorts; /* bytes for short events; the others are for long events */
    size_t longs;
    size_t long_max;
    alignas(CACHE_LINE) _Atomic uint64_t tail; /* position: everything before it is taken */
    /* Position: everything before it is zeroed and free again. */
    alignas(CACHE_LINE) _Atomic uint64_t freed;
    _Atomic uint64_t long_bytes; /* bytes of long events between `freed` and `tail` */
    /* These bytes, and those that are reserved and not appended. */
    alignas(CACHE_LINE) _Atomic uint64_t held;
};

/* 0 or -errno. */
int ring_make(struct ring *ring, const struct ring_sizes *sizes, uint64_t position);
void ring_free(struct ring *ring);

static inline uint8_t *ring_at(const struct ring *ring, uint64_t position)
{
    return ring->bytes + (position & (ring->size - 1));
}

/*
 * Is there room for `bytes` bytes of short events? Loads that follow in the caller are ordered after
 * this check. ring.c says why the order of these loads matters.
 */
static inline bool ring_has_room(struct ring *ring, size_t bytes)
{
    uint64_t freed = atomic_load_explicit(&ring->freed, memory_order_acquire);
    uint64_t long_bytes = atomic_load_explicit(&ring->long_bytes, memory_order_acquire);
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
    return tail + bytes <= freed + long_bytes + ring->shorts;
}

/*
 * Reserves `bytes` bytes for long events, at most long_max. False: there is no room now. Loads that
 * follow in the caller are ordered after this.
 */
bool ring_reserve(struct ring *ring, size_t bytes);

/* Gives back bytes that were reserved and in which nothing was appended. */
void ring_unreserve(struct ring *ring, size_t bytes);

/* Appends the record of a short event and returns the position after it. Any thread may call. */
uint64_t ring_append(struct ring *ring, const struct event *event);

/* The same with a long event, for which event_bytes_max bytes were reserved. */
uint64_t ring_append_long(struct ring *ring, const struct event *event);

/*
 * Only the writer calls this. The number of bytes of complete, published records from `from` on
 * without a gap, at most `limit`; *count is the number of these records.
 */
size_t ring_published(const struct ring *ring, uint64_t from, size_t limit, uint32_t *count);

/* Only the writer calls this. Frees the oldest `bytes` bytes. */
void ring_release(struct ring *ring, size_t bytes);

#endif

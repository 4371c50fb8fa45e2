/*
 * The ring between those who decide and the one who writes. Records lie in it exactly as they will
 * on disk. Any thread appends, without a lock and without waiting: it takes its place with one
 * fetch_add, fills it, and stores the record's first word last. One thread takes: it walks the
 * records whose first word has arrived, writes them out, and gives the room back.
 *
 * Whoever appends has first made sure of room (ring_has_room), for itself and for every other
 * thread that might be appending on the strength of the same look.
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
    uint8_t *bytes; /* `size` of them, mapped twice in a row, so nothing wraps; zero where free */
    size_t size;    /* a power of two */
    alignas(CACHE_LINE) _Atomic uint64_t tail;  /* positions: reserved up to here */
    alignas(CACHE_LINE) _Atomic uint64_t freed; /* zeroed and free again up to here */
};

/* 0 or -errno. Size: a power of two, a multiple of the page size. */
int ring_make(struct ring *ring, size_t size, uint64_t position);
void ring_free(struct ring *ring);

static inline uint8_t *ring_at(const struct ring *ring, uint64_t position)
{
    return ring->bytes + (position & (ring->size - 1));
}

/* Is there room for so many bytes? Orders what the caller loads next after this look. */
static inline bool ring_has_room(struct ring *ring, size_t bytes)
{
    uint64_t freed = atomic_load_explicit(&ring->freed, memory_order_acquire);
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
    return tail + bytes <= freed + ring->size;
}

/* Any thread. Returns the position after the record. */
uint64_t ring_append(struct ring *ring, const struct event *event);

/*
 * The taker only. How many bytes of whole, published records lie from `from` on without a gap, up
 * to `limit`; *count is how many records.
 */
size_t ring_published(const struct ring *ring, uint64_t from, size_t limit, uint32_t *count);

/* The taker only: the oldest `bytes` are not needed any more. */
void ring_release(struct ring *ring, size_t bytes);

#endif

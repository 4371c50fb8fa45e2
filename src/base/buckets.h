/*
 * A histogram to watch a running server with: one bucket for each power of two from a first bound
 * on. One thread adds, any may read (relaxed): what is read is at most a moment old, and never
 * falls. Adding is a few instructions and takes no lock; keep those of different threads on cache
 * lines of their own.
 *
 * Not the one of `laud bench`, which is exact to 0.4 % and 58 KiB large.
 */
#ifndef LAUD_BASE_BUCKETS_H
#define LAUD_BASE_BUCKETS_H

#include <stdatomic.h>
#include <stdint.h>

#define BUCKETS_BOUNDED  24                    /* bounds first, 2 × first, …, 2^23 × first */
#define BUCKETS          (BUCKETS_BOUNDED + 1) /* the last is for what is past all of them */
#define BUCKETS_SHIFT_NS 10                    /* for times: from 1.024 µs to 8.6 s */

struct buckets {
    _Atomic uint64_t sum;
    _Atomic uint64_t counts[BUCKETS];
};

/* What was read of one or more of them. */
struct buckets_total {
    uint64_t sum;
    uint64_t counts[BUCKETS];
};

/* One writer: no need for an atomic read-modify-write. */
static inline void buckets_raise(_Atomic uint64_t *counter, uint64_t by)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + by,
                          memory_order_relaxed);
}

/* The bucket of a value, where the first bound is 2^shift; a bound belongs to what it bounds. */
static inline uint32_t buckets_place(uint64_t value, uint32_t shift)
{
    if (value <= (uint64_t)1 << shift)
        return 0;
    uint32_t place = 64 - (uint32_t)__builtin_clzll(value - 1) - shift;
    return place < BUCKETS_BOUNDED ? place : BUCKETS_BOUNDED;
}

/* The same value so many times. */
static inline void buckets_add(struct buckets *buckets, uint64_t value, uint32_t shift,
                               uint64_t times)
{
    buckets_raise(&buckets->sum, value * times);
    buckets_raise(&buckets->counts[buckets_place(value, shift)], times);
}

/* Adds what is there to a total; returns how many values that were. */
static inline uint64_t buckets_read(const struct buckets *buckets, struct buckets_total *total)
{
    uint64_t count = 0;
    total->sum += atomic_load_explicit(&buckets->sum, memory_order_relaxed);
    for (uint32_t i = 0; i < BUCKETS; i++) {
        uint64_t some = atomic_load_explicit(&buckets->counts[i], memory_order_relaxed);
        total->counts[i] += some;
        count += some;
    }
    return count;
}

static inline uint64_t buckets_count(const struct buckets_total *total)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < BUCKETS; i++)
        count += total->counts[i];
    return count;
}

#endif

/*
 * A small histogram for the metrics of a running server. It has one bucket for each power of two,
 * beginning with a first bound. Only one thread may add values; any thread may read (relaxed). A
 * reader may miss the newest values, but what it reads never decreases. Adding takes a few
 * instructions and no lock. Histograms of different threads should be on different cache lines.
 *
 * `laud bench` has another histogram, which is exact to 0.4 % and takes 58 KiB.
 */
#ifndef LAUD_BASE_BUCKETS_H
#define LAUD_BASE_BUCKETS_H

#include <stdatomic.h>
#include <stdint.h>

#define BUCKETS_BOUNDED  24 /* the bounds are first, 2 × first, …, 2^23 × first */
#define BUCKETS          (BUCKETS_BOUNDED + 1) /* the last bucket is for values above all bounds */
#define BUCKETS_SHIFT_NS 10                    /* for times: from 1.024 µs to 8.6 s */

struct buckets {
    _Atomic uint64_t sum;
    _Atomic uint64_t counts[BUCKETS];
};

/* The sum of what was read from one or more histograms. */
struct buckets_total {
    uint64_t sum;
    uint64_t counts[BUCKETS];
};

/* There is only one writer, so no atomic read-modify-write is needed. */
static inline void buckets_raise(_Atomic uint64_t *counter, uint64_t by)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + by,
                          memory_order_relaxed);
}

/*
 * The index of the bucket of a value, where the first bound is 2^shift. A value that equals a bound
 * belongs to the bucket below that bound.
 */
static inline uint32_t buckets_place(uint64_t value, uint32_t shift)
{
    if (value <= (uint64_t)1 << shift)
        return 0;
    uint32_t bucket = 64 - (uint32_t)__builtin_clzll(value - 1) - shift;
    return bucket < BUCKETS_BOUNDED ? bucket : BUCKETS_BOUNDED;
}

/* Adds the same value `times` times. */
static inline void buckets_add(struct buckets *buckets, uint64_t value, uint32_t shift,
                               uint64_t times)
{
    buckets_raise(&buckets->sum, value * times);
    buckets_raise(&buckets->counts[buckets_place(value, shift)], times);
}

/* Adds the contents of a histogram to a total. Returns how many values the histogram has. */
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

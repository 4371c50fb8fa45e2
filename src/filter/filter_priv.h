/*
 * The struct of a filter, for the files of this folder and their tests.
 */
#ifndef LAUD_FILTER_PRIV_H
#define LAUD_FILTER_PRIV_H

#include <stdatomic.h>

#include "base/limits.h"
#include "filter/filter.h"

#define FILTER_BUCKET_SLOTS 4
#define FILTER_SEGMENTS     20 /* most segments of a filter */
#define FILTER_BITS_MAX     40 /* bits of a bucket's index; fingerprints are the bits 48 to 63 */
#define FILTER_STRIPES      1024
#define FILTER_FIRST_KEYS   KIB(60) /* keys that fit in 2^14 buckets, which are 128 KiB */

struct filter_segment {
    _Atomic uint64_t *buckets;
    uint64_t mask; /* number of buckets - 1 */
};

struct filter {
    uint32_t magic;
    struct memory_budget *budget;

    /*
     * Written by the writing thread, read by all threads. No segment is larger than the next one.
     */
    _Alignas(64) _Atomic uint32_t segment_count;
    _Atomic bool open;
    struct filter_segment segments[FILTER_SEGMENTS];
    _Alignas(64) _Atomic uint64_t taken[FILTER_STRIPES]; /* see filter.c */

    /* Written by the writing thread; others read `keys` and `bytes` for statistics. */
    _Alignas(64) _Atomic uint64_t keys;
    _Atomic uint64_t bytes;         /* bytes charged to the budget */
    uint64_t used[FILTER_SEGMENTS]; /* slots in use, by segment */
};

/* Makes a filter without any segment. NULL: there is no memory. */
struct filter *filter_make(struct memory_budget *budget);

/*
 * Adds a segment of 2^bits buckets, which must not be smaller than the last one. False: there is no
 * memory, or there are too many segments.
 */
bool filter_open_segment(struct filter *filter, uint32_t bits);

/*
 * Makes an empty filter with a single segment as a replacement for this filter, for `keys` keys and
 * half as many more. If `larger` is true, it is larger than the first segment of this filter;
 * otherwise it may be smaller, down to the default size. NULL: there is no memory.
 */
struct filter *filter_new_after(const struct filter *filter, uint64_t keys, bool larger);

/*
 * Does the filter have more than one segment, or will it soon, or is it open? Then a filter that is
 * made for its present keys is faster. Only the writing thread may call.
 */
bool filter_is_scattered(const struct filter *filter);

/*
 * Is the filter larger than a new one? Is it, in addition, mostly empty? Only the writing thread
 * may call.
 */
bool filter_is_large(const struct filter *filter);
bool filter_is_loose(const struct filter *filter);

/*
 * Another filter has replaced this one: nobody will write to it any more, but some threads may
 * still be asking it. From now on it answers "maybe" for everything, and its memory is returned to
 * the system. Its addresses stay reserved until it is freed.
 */
void filter_retire(struct filter *filter);

static inline uint32_t filter_segments(const struct filter *filter)
{
    return atomic_load_explicit(&filter->segment_count, memory_order_acquire);
}

/* The number of used slots at which a segment counts as full: 15 of 16. */
static inline uint64_t filter_segment_limit(uint64_t buckets)
{
    uint64_t slots = buckets * FILTER_BUCKET_SLOTS;
    return slots - (slots + 15) / 16;
}

static inline uint64_t filter_segment_bytes(uint64_t buckets)
{
    return buckets * sizeof(uint64_t);
}

#endif

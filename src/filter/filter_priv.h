/*
 * What a filter is made of, for the files of this folder and their tests.
 */
#ifndef LAUD_FILTER_PRIV_H
#define LAUD_FILTER_PRIV_H

#include <stdatomic.h>

#include "base/limits.h"
#include "filter/filter.h"

#define FILTER_BUCKET_SLOTS 4
#define FILTER_SEGMENTS     20 /* at most */
#define FILTER_BITS_MAX     40 /* of a bucket's index; fingerprints come from bits 48 to 63 */
#define FILTER_STRIPES      1024
#define FILTER_FIRST_KEYS   KIB(60) /* 128 KiB: what 2^14 buckets hold */

struct filter_segment {
    _Atomic uint64_t *buckets;
    uint64_t mask; /* buckets - 1 */
};

struct filter {
    uint32_t magic;
    struct memory_budget *budget;

    /* Written by the writing thread, read by all. No segment is larger than the one after it. */
    _Alignas(64) _Atomic uint32_t segment_count;
    _Atomic bool open;
    struct filter_segment segments[FILTER_SEGMENTS];
    _Alignas(64) _Atomic uint64_t taken[FILTER_STRIPES]; /* see filter.c */

    /* The writing thread's; `keys` and `bytes` are read by others for statistics. */
    _Alignas(64) _Atomic uint64_t keys;
    _Atomic uint64_t bytes;         /* charged */
    uint64_t used[FILTER_SEGMENTS]; /* slots */
};

/* Without any segment. NULL: no memory. */
struct filter *filter_make(struct memory_budget *budget);

/* Adds a segment of 2^bits buckets, not smaller than the last one. False: no memory, or too many.*/
bool filter_open_segment(struct filter *filter, uint32_t bits);

/*
 * An empty one in a single segment, to take the place of this one, for so many keys and half as many
 * more. If it must be larger, it is larger than the first segment of this one; otherwise it may also be
 * smaller, down to the usual. NULL: no memory.
 */
struct filter *filter_new_after(const struct filter *filter, uint64_t keys, bool larger);

/*
 * It is in more than one segment, or soon will be, or is open: one made for what it holds is faster
 * to ask. The writing thread's.
 */
bool filter_is_scattered(const struct filter *filter);

/* Larger than new filters are; and most of it is empty, too. The writing thread's. */
bool filter_is_large(const struct filter *filter);
bool filter_is_loose(const struct filter *filter);

/*
 * Another one has taken its place, so nobody will write to it any more, but some may still be asking:
 * it says maybe to everything from here on, and its memory goes. The addresses stay taken until it
 * is freed.
 */
void filter_retire(struct filter *filter);

static inline uint32_t filter_segments(const struct filter *filter)
{
    return atomic_load_explicit(&filter->segment_count, memory_order_acquire);
}

/* How many of its slots are taken before a segment counts as full: 15 of 16. */
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

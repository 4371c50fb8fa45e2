/*
 * A bucket is one 64-bit word of four 16-bit fingerprints, where 0 is an empty slot, so every
 * bucket is read and written with one atomic access. The fingerprint of a key is its top 16 bits,
 * its index is its low bits. Its entry may be in bucket (index & mask) or in bucket ((index ^
 * flip(fingerprint)) & mask). So the other bucket of an entry can be computed from the entry and
 * its bucket alone, and the entry can be relocated.
 *
 * Segments. Fingerprint and full index are the same in all segments; only the mask is shorter in a
 * smaller one. So two keys that look alike (same fingerprint, same pair of buckets) in one segment
 * look alike in every smaller segment, too. Additions go to the newest, largest segment, or, when
 * that is full, into free slots of an older one. Removal searches from the newest to the oldest
 * segment and removes the first entry that matches.
 *
 * Why removal never loses another key. Assume that every key in the filter has an entry of its own
 * that matches it (this is true for an empty filter, and adding keeps it true). Removing x removes
 * an entry e in segment S. If e was the entry of x, nothing else changes. Otherwise e was the entry
 * of some y that looks like x in S, and the entry e' of x is in a segment T. T was not searched
 * before S, because then e' or another match would have been found there. So T is S or not larger,
 * and because x and y look alike in S they look alike in T: e' matches y and becomes its entry.
 * This depends on the order from large to small: removing an entry like x from a small segment
 * could keep an entry in a large segment that matches x alone, and y would have none.
 *
 * Why a reader never misses a key. The writer adds before it removes: an entry that has to make
 * room is first copied to its other bucket and only then overwritten, beginning at the end of the
 * path. A reader could still read the target before the copy and the source after the removal; the
 * same could happen if a key that looks alike is added in one bucket and one of the two is removed
 * from the other. Therefore the writer increments `taken` of the entry's fingerprint before each
 * store that removes the entry (the counts are striped, so readers of other keys are not affected).
 * If a reader finds nothing and the count is unchanged, it has seen none of the removals that
 * follow the next increment (stores release, loads acquire), and all stores before the last
 * increment: it would have found a key that was in the filter during that time. If the count has
 * changed, it reads again, and after a few attempts it answers "maybe", which is always allowed: no
 * reader ever waits.
 */
#include "filter/filter.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/assert.h"
#include "base/hash.h"
#include "base/limits.h"
#include "filter/filter_priv.h"

#define FILTER_MAGIC    0x66696c74U
#define FILTER_TRIES    8
#define FILTER_HUGE     MIB(2) /* segments of this size and more ask for huge pages */
#define FILTER_PREFETCH KIB(256)
#define FILTER_PAGE     4096
#define LOOSE_PART      16  /* a filter is loose if fewer than 1 of this many slots are used */
#define PATH_NODES      682 /* two roots and four levels of nodes */

#define LANES 0x0001000100010001ULL
#define SIGNS 0x8000800080008000ULL

/* The position of a key, for any segment. */
struct trail {
    uint64_t index[2]; /* the mask of a segment is applied to it */
    uint16_t print;
};

static inline uint64_t flip_of(uint16_t print)
{
    /* Odd, so that the two buckets are never the same. */
    return hash_mix(print, 0x8ebc6af09c88c6e3ULL) | 1;
}

static inline struct trail trail_of(uint64_t key)
{
    uint16_t print = (uint16_t)(key >> 48);
    print += print == 0;
    return (struct trail){.index = {key, key ^ flip_of(print)}, .print = print};
}

/* Sets the sign bit of each lane that is 0; only the lowest set bit is certain to be right. */
static inline uint64_t zero_lanes(uint64_t word)
{
    return (word - LANES) & ~word & SIGNS;
}

static inline uint64_t lanes_like(uint64_t word, uint16_t print)
{
    return zero_lanes(word ^ print * LANES);
}

static inline unsigned lowest_lane(uint64_t signs)
{
    return (unsigned)__builtin_ctzll(signs) / 16;
}

static inline uint16_t lane_get(uint64_t word, unsigned lane)
{
    return (uint16_t)(word >> lane * 16);
}

static inline _Atomic uint64_t *stripe_of(const struct filter *filter, uint16_t print)
{
    return (_Atomic uint64_t *)&filter->taken[print % FILTER_STRIPES];
}

/* Only for the writing thread, which sees its own stores. */
static inline uint64_t bucket_read(const struct filter_segment *segment, uint64_t bucket)
{
    return atomic_load_explicit(&segment->buckets[bucket], memory_order_relaxed);
}

static void lane_put(struct filter_segment *segment, uint64_t bucket, unsigned lane, uint16_t print)
{
    ASSERT(bucket <= segment->mask && lane < FILTER_BUCKET_SLOTS);
    uint64_t word = bucket_read(segment, bucket);
    word &= ~(0xffffULL << lane * 16);
    word |= (uint64_t)print << lane * 16;
    atomic_store_explicit(&segment->buckets[bucket], word, memory_order_release);
}

/* Call it before every store that removes an entry with this fingerprint. */
static void count_taken(struct filter *filter, uint16_t print)
{
    ASSERT(print != 0); /* 0 is an empty slot */
    _Atomic uint64_t *taken = stripe_of(filter, print);
    uint64_t before = atomic_load_explicit(taken, memory_order_relaxed);
    atomic_store_explicit(taken, before + 1, memory_order_release);
}

static bool segments_have(const struct filter *filter, const struct trail *trail)
{
    for (uint32_t i = filter_segments(filter); i-- > 0;) {
        const struct filter_segment *segment = &filter->segments[i];
        uint64_t first = atomic_load_explicit(&segment->buckets[trail->index[0] & segment->mask],
                                              memory_order_acquire);
        uint64_t other = atomic_load_explicit(&segment->buckets[trail->index[1] & segment->mask],
                                              memory_order_acquire);
        if ((lanes_like(first, trail->print) | lanes_like(other, trail->print)) != 0)
            return true;
    }
    return false;
}

bool filter_may_have(const struct filter *filter, uint64_t key)
{
    struct trail trail = trail_of(key);
    const _Atomic uint64_t *taken = stripe_of(filter, trail.print);
    for (int i = 0; i < FILTER_TRIES; i++) {
        uint64_t before = atomic_load_explicit(taken, memory_order_acquire);
        if (segments_have(filter, &trail))
            return true;
        if (atomic_load_explicit(taken, memory_order_relaxed) == before)
            return atomic_load_explicit(&filter->open, memory_order_acquire);
    }
    return true;
}

void filter_prefetch(const struct filter *filter, uint64_t key)
{
    struct trail trail = trail_of(key);
    for (uint32_t i = filter_segments(filter); i-- > 0;) {
        const struct filter_segment *segment = &filter->segments[i];
        if (filter_segment_bytes(segment->mask + 1) < FILTER_PREFETCH)
            break; /* this segment and the older ones are probably in the cache */
        __builtin_prefetch((const void *)&segment->buckets[trail.index[0] & segment->mask]);
        __builtin_prefetch((const void *)&segment->buckets[trail.index[1] & segment->mask]);
    }
}

void filter_stats(const struct filter *filter, struct filter_stats *out)
{
    *out = (struct filter_stats){
        .keys = atomic_load_explicit(&filter->keys, memory_order_relaxed),
        .bytes = atomic_load_explicit(&filter->bytes, memory_order_relaxed),
        .segments = filter_segments(filter),
        .open = atomic_load_explicit(&filter->open, memory_order_acquire),
    };
    for (uint32_t i = 0; i < out->segments; i++)
        out->slots += (filter->segments[i].mask + 1) * FILTER_BUCKET_SLOTS;
}

/*
 * A bucket on the path to an empty slot: the entry in `lane` of its parent can be relocated to it.
 */
struct path_node {
    uint64_t bucket;
    int16_t parent; /* -1: one of the key's own two */
    uint8_t lane;
};

/*
 * The search is breadth first, so the first path that it finds is a shortest one and visits no
 * bucket twice: without the detour it would be shorter. Returns the last node, or -1.
 */
static int path_find(const struct filter_segment *segment, const struct trail *trail,
                     struct path_node nodes[PATH_NODES])
{
    int count = 0;
    for (int i = 0; i < 2; i++) {
        nodes[count] = (struct path_node){.bucket = trail->index[i] & segment->mask, .parent = -1};
        if (zero_lanes(bucket_read(segment, nodes[count++].bucket)) != 0)
            return count - 1;
    }
    for (int i = 0; count + FILTER_BUCKET_SLOTS <= PATH_NODES; i++) {
        uint64_t word = bucket_read(segment, nodes[i].bucket);
        for (unsigned lane = 0; lane < FILTER_BUCKET_SLOTS; lane++) {
            uint64_t other = (nodes[i].bucket ^ flip_of(lane_get(word, lane))) & segment->mask;
            nodes[count] =
                (struct path_node){.bucket = other, .parent = (int16_t)i, .lane = (uint8_t)lane};
            if (zero_lanes(bucket_read(segment, nodes[count++].bucket)) != 0)
                return count - 1;
        }
    }
    return -1;
}

/*
 * Relocates each entry on the path by one step, the last entry first, and puts the new one at the
 * beginning.
 */
static void path_walk(struct filter *filter, struct filter_segment *segment,
                      const struct path_node *nodes, int last, uint16_t print)
{
    const struct path_node *node = &nodes[last];
    ASSERT(last >= 0 && last < PATH_NODES && print != 0);
    /* The path ends at an empty slot. */
    ASSERT(zero_lanes(bucket_read(segment, node->bucket)) != 0);
    unsigned lane = lowest_lane(zero_lanes(bucket_read(segment, node->bucket)));
    while (node->parent >= 0) {
        const struct path_node *parent = &nodes[node->parent];
        uint16_t moved = lane_get(bucket_read(segment, parent->bucket), node->lane);
        ASSERT(moved != 0 && ((parent->bucket ^ flip_of(moved)) & segment->mask) == node->bucket);
        lane_put(segment, node->bucket, lane, moved);
        count_taken(filter, moved); /* the next store overwrites its old slot */
        lane = node->lane;
        node = parent;
    }
    lane_put(segment, node->bucket, lane, print);
}

static bool segment_add(struct filter *filter, uint32_t number, const struct trail *trail)
{
    ASSERT(number < filter_segments(filter));
    struct filter_segment *segment = &filter->segments[number];
    if (filter->used[number] >= filter_segment_limit(segment->mask + 1))
        return false;
    struct path_node nodes[PATH_NODES];
    int last = path_find(segment, trail, nodes);
    if (last < 0)
        return false;
    path_walk(filter, segment, nodes, last, trail->print);
    filter->used[number]++;
    return true;
}

/* The smallest number of bits whose segment has room for this many keys. */
static uint32_t bits_for(uint64_t keys)
{
    uint32_t bits = 1;
    while (bits < FILTER_BITS_MAX && filter_segment_limit(1ULL << bits) < keys)
        bits++;
    return bits;
}

static uint32_t segment_bits(const struct filter_segment *segment)
{
    return (uint32_t)__builtin_popcountll(segment->mask);
}

static uint32_t newest_bits(const struct filter *filter)
{
    uint32_t count = filter_segments(filter);
    return count == 0 ? 0 : segment_bits(&filter->segments[count - 1]);
}

/*
 * Adds a segment that is four times as large as the last one. If there is no memory for that, it is
 * smaller, but at least as large as the last one.
 */
static bool filter_grow(struct filter *filter)
{
    uint32_t bits = newest_bits(filter);
    return filter_open_segment(filter, bits + 2) || filter_open_segment(filter, bits + 1) ||
           filter_open_segment(filter, bits);
}

static bool segments_add(struct filter *filter, const struct trail *trail)
{
    for (uint32_t i = filter_segments(filter); i-- > 0;)
        if (segment_add(filter, i, trail))
            return true;
    return filter_grow(filter) && segment_add(filter, filter_segments(filter) - 1, trail);
}

void filter_add(struct filter *filter, uint64_t key)
{
    CHECK_MAGIC(filter, FILTER_MAGIC);
    if (atomic_load_explicit(&filter->open, memory_order_relaxed))
        return;
    struct trail trail = trail_of(key);
    if (segments_add(filter, &trail))
        atomic_fetch_add_explicit(&filter->keys, 1, memory_order_relaxed);
    else
        atomic_store_explicit(&filter->open, true, memory_order_release);
}

static bool segment_remove(struct filter *filter, uint32_t number, const struct trail *trail)
{
    ASSERT(number < filter_segments(filter));
    struct filter_segment *segment = &filter->segments[number];
    for (int i = 0; i < 2; i++) {
        uint64_t bucket = trail->index[i] & segment->mask;
        uint64_t found = lanes_like(bucket_read(segment, bucket), trail->print);
        if (found == 0)
            continue;
        count_taken(filter, trail->print);
        lane_put(segment, bucket, lowest_lane(found), 0);
        filter->used[number]--;
        return true;
    }
    return false;
}

void filter_remove(struct filter *filter, uint64_t key)
{
    CHECK_MAGIC(filter, FILTER_MAGIC);
    if (atomic_load_explicit(&filter->open, memory_order_relaxed))
        return;
    struct trail trail = trail_of(key);
    for (uint32_t i = filter_segments(filter); i-- > 0;) {
        if (segment_remove(filter, i, &trail)) {
            atomic_fetch_sub_explicit(&filter->keys, 1, memory_order_relaxed);
            return;
        }
    }
}

static size_t segment_charge(uint64_t buckets)
{
    return (filter_segment_bytes(buckets) + FILTER_PAGE - 1) / FILTER_PAGE * FILTER_PAGE;
}

bool filter_open_segment(struct filter *filter, uint32_t bits)
{
    uint32_t count = filter_segments(filter);
    ASSERT(bits >= 1 && bits >= newest_bits(filter));
    ASSERT(count <= FILTER_SEGMENTS);
    if (count == FILTER_SEGMENTS || bits > FILTER_BITS_MAX)
        return false;
    uint64_t buckets = 1ULL << bits;
    size_t bytes = segment_charge(buckets);
    if (!memory_charge(filter->budget, bytes))
        return false;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        memory_release(filter->budget, bytes);
        return false;
    }
    if (bytes >= FILTER_HUGE)
        madvise(memory, bytes, MADV_HUGEPAGE); /* without huge pages it is only slower */
    ASSERT(count == 0 || buckets > filter->segments[count - 1].mask);
    filter->segments[count] = (struct filter_segment){.buckets = memory, .mask = buckets - 1};
    filter->used[count] = 0;
    atomic_fetch_add_explicit(&filter->bytes, bytes, memory_order_relaxed);
    atomic_store_explicit(&filter->segment_count, count + 1, memory_order_release);
    return true;
}

struct filter *filter_make(struct memory_budget *budget)
{
    if (!memory_charge(budget, sizeof(struct filter)))
        return NULL;
    struct filter *filter = aligned_alloc(_Alignof(struct filter), sizeof *filter);
    if (filter == NULL) {
        memory_release(budget, sizeof *filter);
        return NULL;
    }
    memset(filter, 0, sizeof *filter);
    filter->magic = FILTER_MAGIC;
    filter->budget = budget;
    atomic_store_explicit(&filter->bytes, sizeof *filter, memory_order_relaxed);
    return filter;
}

struct filter *filter_new_after(const struct filter *before, uint64_t keys, bool larger)
{
    CHECK_MAGIC(before, FILTER_MAGIC);
    ASSERT(filter_segments(before) > 0);
    uint32_t bits = bits_for(keys + keys / 2);
    uint32_t first = segment_bits(&before->segments[0]), usual = bits_for(FILTER_FIRST_KEYS);
    uint32_t least = larger ? first + 1 : first < usual ? first : usual;
    struct filter *filter = filter_make(before->budget);
    if (filter == NULL)
        return NULL;
    if (filter_open_segment(filter, bits > least ? bits : least))
        return filter;
    filter_free(filter);
    return NULL;
}

bool filter_is_scattered(const struct filter *filter)
{
    ASSERT(filter_segments(filter) > 0);
    uint64_t limit = filter_segment_limit(filter->segments[0].mask + 1);
    return filter_segments(filter) > 1 || filter->used[0] > limit / 8 * 7 ||
           atomic_load_explicit(&filter->open, memory_order_relaxed);
}

bool filter_is_large(const struct filter *filter)
{
    return newest_bits(filter) > bits_for(FILTER_FIRST_KEYS);
}

bool filter_is_loose(const struct filter *filter)
{
    struct filter_stats stats;
    filter_stats(filter, &stats);
    return filter_is_large(filter) && stats.slots / LOOSE_PART > stats.keys;
}

/*
 * A page that was returned to the system reads as empty, which must not be taken for a "no". A
 * reader that sees such a page also sees that the filter is open, which it checks afterwards:
 * `open` is stored before, and the kernel makes every processor drop the old page before any can
 * see the new one.
 */
void filter_retire(struct filter *filter)
{
    CHECK_MAGIC(filter, FILTER_MAGIC);
    atomic_store(&filter->open, true);
    for (uint32_t i = 0; i < filter_segments(filter); i++) {
        const struct filter_segment *segment = &filter->segments[i];
        size_t bytes = segment_charge(segment->mask + 1);
        if (madvise((void *)segment->buckets, bytes, MADV_DONTNEED) != 0)
            continue; /* if it is locked in memory, it still exists and stays charged */
        memory_release(filter->budget, bytes);
        atomic_fetch_sub_explicit(&filter->bytes, bytes, memory_order_relaxed);
    }
}

struct filter *filter_new(struct memory_budget *budget, uint64_t first_keys)
{
    struct filter *filter = filter_make(budget);
    if (filter == NULL)
        return NULL;
    if (!filter_open_segment(filter, bits_for(first_keys != 0 ? first_keys : FILTER_FIRST_KEYS))) {
        filter_free(filter);
        return NULL;
    }
    return filter;
}

void filter_free(struct filter *filter)
{
    if (filter == NULL)
        return;
    CHECK_MAGIC(filter, FILTER_MAGIC);
    for (uint32_t i = 0; i < filter_segments(filter); i++) {
        const struct filter_segment *segment = &filter->segments[i];
        munmap((void *)segment->buckets, segment_charge(segment->mask + 1));
    }
    memory_release(filter->budget, atomic_load_explicit(&filter->bytes, memory_order_relaxed));
    filter->magic = 0;
    free(filter);
}

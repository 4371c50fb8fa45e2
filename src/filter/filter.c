/*
 * A bucket is one 64-bit word of four 16-bit fingerprints, 0 being an empty slot, so that every
 * bucket is read and written in one atomic access. A key's fingerprint is its top 16 bits, its
 * index its low bits; it may stand in bucket (index & mask) or in ((index ^ flip(fingerprint)) &
 * mask). An entry therefore tells its other bucket by itself, which is what lets it be moved.
 *
 * Segments. The fingerprint and the full index are the same in all segments, only the mask is
 * shorter in a smaller one. So two keys that look alike (same fingerprint, same pair of buckets) in
 * a segment look alike in every smaller one too. Additions go to the newest, largest segment, or
 * into what room an older one has when that is full; removal looks from the newest to the oldest
 * and takes the first entry that matches.
 *
 * Why removal never loses another key. Say every key that is in has an entry of its own that
 * matches it (true of the empty filter, kept by adding). Removing x takes the entry e, in segment
 * S. If e was x's own, nothing else changes. Otherwise e was the own entry of some y that looks
 * like x in S, and x's own entry e' is in a segment T. T was not searched before S, for then e'
 * or another match would have been found there; so T is S or not larger, and since x and y look
 * alike in S they do in T: e' matches y and becomes its own. Looking from large to small is what
 * this rests on: taking x's likeness from a small segment could leave in a large one an entry
 * that matches x alone, and y with none.
 *
 * Why a reader never misses. The writer adds before it takes away: an entry that has to make room
 * is first copied to its other bucket and only then overwritten, from the end of the path
 * backwards. A reader could still look at the place copied to before, and at the place taken from
 * after; likewise if a key's likeness is added here and then one of the two removed there. So
 * before each store that takes an entry away, the writer counts up `taken` of the entry's
 * fingerprint (striped, so that readers of other keys do not care). A reader that found nothing
 * and sees the count as it was before has seen none of the stores after the next step of the
 * count (stores release, loads acquire), and all those before the last one: what was in through
 * all that time it would have found. If the count changed it looks again, and after a few times
 * it says maybe, which is always allowed: no reader waits for anyone.
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
#define LOOSE_PART      16  /* fewer than one in so many slots of a filter that is loose are used */
#define PATH_NODES      682 /* two roots and four levels below them */

#define LANES 0x0001000100010001ULL
#define SIGNS 0x8000800080008000ULL

/* Where a key goes, whatever the segment. */
struct trail {
    uint64_t index[2]; /* to be masked */
    uint16_t print;
};

static inline uint64_t flip_of(uint16_t print)
{
    /* Odd: the two buckets are never the same one. */
    return hash_mix(print, 0x8ebc6af09c88c6e3ULL) | 1;
}

static inline struct trail trail_of(uint64_t key)
{
    uint16_t print = (uint16_t)(key >> 48);
    print += print == 0;
    return (struct trail){.index = {key, key ^ flip_of(print)}, .print = print};
}

/* The sign bits of the lanes that are 0; only the lowest one set is sure to be right. */
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

/* For the writing thread, which sees its own stores. */
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

/* Comes before every store that takes an entry of this fingerprint away. */
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
            break; /* it and the older ones are near anyway */
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

/* A bucket on the way to an empty slot: what stands in `lane` of its parent can move to it. */
struct path_node {
    uint64_t bucket;
    int16_t parent; /* -1: one of the key's own two */
    uint8_t lane;
};

/*
 * Breadth first, so that the first way found is a shortest one and passes no bucket twice: if it
 * did, leaving the detour out would give a shorter one. Returns the last node, or -1.
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

/* Moves each entry on the way one step, the last first, and puts the new one at its beginning. */
static void path_walk(struct filter *filter, struct filter_segment *segment,
                      const struct path_node *nodes, int last, uint16_t print)
{
    const struct path_node *node = &nodes[last];
    ASSERT(last >= 0 && last < PATH_NODES && print != 0);
    ASSERT(zero_lanes(bucket_read(segment, node->bucket)) != 0); /* the path ends at a gap */
    unsigned lane = lowest_lane(zero_lanes(bucket_read(segment, node->bucket)));
    while (node->parent >= 0) {
        const struct path_node *parent = &nodes[node->parent];
        uint16_t moved = lane_get(bucket_read(segment, parent->bucket), node->lane);
        ASSERT(moved != 0 && ((parent->bucket ^ flip_of(moved)) & segment->mask) == node->bucket);
        lane_put(segment, node->bucket, lane, moved);
        count_taken(filter, moved); /* the next store overwrites it where it was */
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

/* The smallest number of bits whose segment takes this many keys. */
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

/* Four times the last one; if there is no memory for that, at least no smaller than it. */
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
        madvise(memory, bytes, MADV_HUGEPAGE); /* a kernel without them is only slower */
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
 * A page that was given back reads as empty, which must not pass for a "no". Whoever sees one of
 * those also sees that the filter is open, for which it looks afterwards: that is stored before, and
 * the kernel has every processor drop the old page before any can have the new one.
 */
void filter_retire(struct filter *filter)
{
    CHECK_MAGIC(filter, FILTER_MAGIC);
    atomic_store(&filter->open, true);
    for (uint32_t i = 0; i < filter_segments(filter); i++) {
        const struct filter_segment *segment = &filter->segments[i];
        size_t bytes = segment_charge(segment->mask + 1);
        if (madvise((void *)segment->buckets, bytes, MADV_DONTNEED) != 0)
            continue; /* locked in memory: it is still there, and counts */
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

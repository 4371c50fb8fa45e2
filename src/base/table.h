/*
 * An index over rows that live in a slab: from a 64-bit hash to the cells of the rows that have it.
 * A bucket is one cache line of eight slots, each with a cell and 32 bits of its hash: finding
 * takes one line and then, but for one case in billions, the right row. The table grows by one
 * bucket at a time (linear hashing) and never looks at a row for it, so no insertion waits for the
 * whole to be moved. It costs 12 to 14 bytes a row.
 *
 * Used under its owner's lock. Only table_prefetch and table_peek may be called without it.
 */
#ifndef LAUD_BASE_TABLE_H
#define LAUD_BASE_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/slab.h"

#define TABLE_SLOTS           8 /* table_match is made for them */
#define TABLE_SEGMENT_SHIFT   6
#define TABLE_SEGMENT_BUCKETS (1U << TABLE_SEGMENT_SHIFT) /* 4 KiB, one slab cell */
#define TABLE_LINK            0x80000000U /* in a slot's cell: it is the rest of a full bucket */

_Static_assert(SLAB_CELL_LAST < TABLE_LINK, "no cell looks like a link");

/* A slot: the low half of the hash above, the cell below; 0 if empty. Only the last may link. */
struct table_bucket {
    _Atomic uint64_t slots[TABLE_SLOTS];
};

/* Outgrown directories are kept to the end: a prefetch may still be looking at them. */
struct table_directory {
    struct table_directory *outgrown;
    uint32_t capacity;
    _Atomic(struct table_bucket *) segments[];
};

struct table {
    struct slab *slab;
    _Atomic(struct table_directory *) directory;
    _Atomic uint32_t buckets; /* 0 before the first row */
    uint32_t rows;
};

void table_init(struct table *table, struct slab *slab);
void table_destroy(struct table *table);

/* Makes sure that a row of this hash can be inserted; false: no memory. */
bool table_reserve(struct table *table, uint64_t hash);

/* After table_reserve for the same hash, with nothing inserted and no table_visit_some since. */
void table_insert(struct table *table, uint64_t hash, uint32_t cell);
void table_remove(struct table *table, uint64_t hash, uint32_t cell);
/* The row has moved to another cell. */
void table_replace(struct table *table, uint64_t hash, uint32_t old_cell, uint32_t new_cell);

/* Every row, in no order. */
typedef void table_visit_fn(void *context, struct slab *slab, void *row);
void table_visit(const struct table *table, table_visit_fn *visit, void *context);

/*
 * A walk in steps: gives the rows of the next so many buckets from `cursor` on (0 to begin) and
 * returns the cursor for the next step, 0 when the walk is over. The visitor may remove and replace
 * rows, and free and take cells, but insert none. Between steps anything may be inserted, removed
 * and replaced: a row that is there all the time is given at least once, for rows only ever move to
 * buckets at the end; those that do may be given twice.
 *
 * On its way the walk pulls together what removals have left of long buckets, and moves the table's
 * own cells out of retiring pages. One that cannot be moved for want of memory stays, and so is in
 * slab_retire_left. The segments of the table are in pages that never retire.
 */
typedef void table_visit_some_fn(void *context, struct slab *slab, uint32_t cell);
uint32_t table_visit_some(struct table *table, uint32_t cursor, uint32_t buckets,
                          table_visit_some_fn *visit, void *context);

/* Which bucket a hash belongs to when there are so many. */
static inline uint32_t table_bucket_number(uint64_t hash, uint32_t buckets)
{
    uint32_t mask = UINT32_MAX >> __builtin_clz(buckets);
    uint32_t bucket = (uint32_t)hash & mask;
    return bucket < buckets ? bucket : bucket & (mask >> 1);
}

/* NULL before the first row. */
static inline struct table_bucket *table_bucket_of(const struct table *table, uint64_t hash)
{
    uint32_t buckets = atomic_load_explicit(&table->buckets, memory_order_acquire);
    if (buckets == 0)
        return NULL;
    uint32_t bucket = table_bucket_number(hash, buckets);
    struct table_directory *directory =
        atomic_load_explicit(&table->directory, memory_order_acquire);
    struct table_bucket *segment = atomic_load_explicit(
        &directory->segments[bucket >> TABLE_SEGMENT_SHIFT], memory_order_relaxed);
    return segment + (bucket & (TABLE_SEGMENT_BUCKETS - 1));
}

/*
 * A bit for each slot with this tag; no branch, for there is no telling which it is. With SSE2 a
 * dozen instructions: the fewer there are, the more buckets the processor waits for at once. Its
 * loads are whole for each slot, as the ones beside it are, but a sanitizer cannot know.
 */
#if defined(__SSE2__) && !defined(__SANITIZE_THREAD__)
static inline __m128i table_tags(const __m128i *slots)
{
    __m128 first = _mm_castsi128_ps(_mm_loadu_si128(slots));
    __m128 second = _mm_castsi128_ps(_mm_loadu_si128(slots + 1));
    return _mm_castps_si128(_mm_shuffle_ps(first, second, _MM_SHUFFLE(3, 1, 3, 1)));
}

static inline uint32_t table_match(const struct table_bucket *bucket, uint32_t tag)
{
    const __m128i *slots = (const __m128i *)bucket;
    __m128i wanted = _mm_set1_epi32((int)tag);
    __m128i first = _mm_cmpeq_epi32(table_tags(slots), wanted);
    __m128i second = _mm_cmpeq_epi32(table_tags(slots + 2), wanted);
    __m128i both = _mm_packs_epi32(first, second);
    return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(both, _mm_setzero_si128()));
}
#else
static inline uint32_t table_match(const struct table_bucket *bucket, uint32_t tag)
{
    uint32_t match = 0;
    for (uint32_t i = 0; i < TABLE_SLOTS; i++) {
        uint64_t value = atomic_load_explicit(&bucket->slots[i], memory_order_acquire);
        match |= (uint32_t)(value >> 32 == tag) << i;
    }
    return match;
}
#endif

static inline uint32_t table_cell(const struct table_bucket *bucket, uint32_t slot)
{
    return (uint32_t)atomic_load_explicit(&bucket->slots[slot], memory_order_acquire);
}

/* Walks the cells that a hash may stand for: compare each row's own key. */
struct table_walk {
    const struct table *table;
    const struct table_bucket *bucket;
    uint32_t match;
    uint32_t tag;
};

static inline struct table_walk table_walk_start(const struct table *table, uint64_t hash)
{
    struct table_walk walk = {
        .table = table, .bucket = table_bucket_of(table, hash), .tag = (uint32_t)hash};
    if (walk.bucket != NULL)
        walk.match = table_match(walk.bucket, walk.tag);
    return walk;
}

/* The next cell, 0 at the end. */
static inline uint32_t table_walk_next(struct table_walk *walk)
{
    while (walk->bucket != NULL) {
        while (walk->match != 0) {
            uint32_t cell = table_cell(walk->bucket, (uint32_t)__builtin_ctz(walk->match));
            walk->match &= walk->match - 1;
            if (cell != 0 && !(cell & TABLE_LINK))
                return cell;
        }
        uint32_t last = table_cell(walk->bucket, TABLE_SLOTS - 1);
        if (!(last & TABLE_LINK))
            break;
        walk->bucket = slab_at(walk->table->slab, last & ~TABLE_LINK);
        walk->match = table_match(walk->bucket, walk->tag);
    }
    return 0;
}

/* Without the lock: fetches the bucket of a hash; NULL before the first row. Never goes away. */
static inline const struct table_bucket *table_prefetch(const struct table *table, uint64_t hash)
{
    struct table_bucket *bucket = table_bucket_of(table, hash);
    if (bucket != NULL)
        __builtin_prefetch(bucket, 1);
    return bucket;
}

/*
 * Without the lock: most likely the cell a hash stands for, or with TABLE_LINK the cell with the rest
 * of a full bucket, or 0. It may be freed, or its page gone, before it is used: for slab_hint. No
 * branch depends on what is in the bucket, which is still on its way: guessing wrong would mean to
 * wait for it before going on to the next one.
 */
static inline uint32_t table_peek(const struct table_bucket *bucket, uint64_t hash)
{
    if (bucket == NULL)
        return 0;
    uint32_t match = table_match(bucket, (uint32_t)hash);
    uint32_t slot = (uint32_t)__builtin_ctz(match | 1U << (TABLE_SLOTS - 1));
    uint32_t cell = table_cell(bucket, slot);
    uint32_t some = (uint32_t)(match != 0) | cell >> 31; /* TABLE_LINK */
    return cell & (0 - some);
}

/* The same, and fetches so many bytes of what is there, those at its beginning and its end. */
static inline uint32_t table_prefetch_next(const struct table *table,
                                           const struct table_bucket *bucket, uint64_t hash,
                                           size_t bytes)
{
    if (bucket == NULL)
        return 0;
    uint32_t next = table_peek(bucket, hash);
    const char *at = slab_hint(table->slab, next & ~TABLE_LINK);
    __builtin_prefetch(at, 1);
    if (at != NULL)
        __builtin_prefetch(at + bytes - 1, 1);
    return next;
}

/*
 * After that, if it gave the rest of a bucket: goes on from there. The rest goes when it is not needed
 * any more, and then another cell may be there: harmless, but not to a sanitizer.
 */
static inline void table_prefetch_rest(const struct table *table, uint32_t next, uint64_t hash,
                                       size_t bytes)
{
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    (void)table;
    (void)next;
    (void)hash;
    (void)bytes;
#else
    if (next & TABLE_LINK)
        table_prefetch_next(table, slab_hint(table->slab, next & ~TABLE_LINK), hash, bytes);
#endif
}

#endif

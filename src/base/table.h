/*
 * An index of rows that are in a slab: from a 64-bit hash to the cells of the rows with this hash.
 * A bucket is one cache line of eight slots, each with a cell and 32 bits of its hash. So a lookup
 * reads one cache line and then, except in one of billions of cases, the right row. The table grows
 * by one bucket at a time (linear hashing) and does not read rows for that, so no insertion waits
 * for a resize of the whole table. It costs 12 to 14 bytes per row.
 *
 * The table is used under the lock of its owner. Only table_prefetch, table_peek,
 * table_prefetch_next and table_prefetch_rest may be called without the lock.
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

#define TABLE_SLOTS           8 /* table_match depends on this number */
#define TABLE_SEGMENT_SHIFT   6
#define TABLE_SEGMENT_BUCKETS (1U << TABLE_SEGMENT_SHIFT) /* 4 KiB, one slab cell */
#define TABLE_LINK            0x80000000U /* flag: this cell is the extension of a full bucket */

_Static_assert(SLAB_CELL_LAST < TABLE_LINK, "no cell looks like a link");

/*
 * A slot has the low half of the hash in its upper 32 bits and the cell in its lower 32 bits; 0:
 * empty. Only the last slot may have TABLE_LINK.
 */
struct table_bucket {
    _Atomic uint64_t slots[TABLE_SLOTS];
};

/*
 * Outgrown directories are kept until the table is destroyed, because a prefetch may still read
 * them.
 */
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

/* Makes sure that a row with this hash can be inserted. False: there is no memory. */
bool table_reserve(struct table *table, uint64_t hash);

/*
 * Call it after table_reserve for the same hash; between the two calls there must be no other
 * insertion and no table_visit_some.
 */
void table_insert(struct table *table, uint64_t hash, uint32_t cell);
void table_remove(struct table *table, uint64_t hash, uint32_t cell);
/* The row is in another cell now. */
void table_replace(struct table *table, uint64_t hash, uint32_t old_cell, uint32_t new_cell);

/* Calls `visit` for every row, in no particular order. */
typedef void table_visit_fn(void *context, struct slab *slab, void *row);
void table_visit(const struct table *table, table_visit_fn *visit, void *context);

/*
 * One step of a walk over all rows: visits the rows of the next `buckets` buckets from `cursor` on
 * (0 to begin). Returns the cursor of the next step, or 0 when the walk is complete. The visitor
 * may remove and replace rows, and free and allocate cells, but it must not insert rows. Between
 * steps rows may be inserted, removed and replaced. A row that exists during the whole walk is
 * visited at least once, because a split puts rows only into a new last bucket; such rows may be
 * visited twice.
 *
 * The walk also compacts long buckets after removals, and copies the table's own cells out of
 * retiring pages. If there is no memory for a copy, the cell stays and is counted in
 * slab_retire_left. The segments of the table are in pages that never retire.
 */
typedef void table_visit_some_fn(void *context, struct slab *slab, uint32_t cell);
uint32_t table_visit_some(struct table *table, uint32_t cursor, uint32_t buckets,
                          table_visit_some_fn *visit, void *context);

/* The bucket of a hash when there are `buckets` buckets. */
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
 * A bit mask of the slots with this tag. It has no branch, because a branch on the position of the
 * match would be unpredictable. With SSE2 it takes a dozen instructions; the fewer they are, the
 * more cache misses of different buckets overlap in the processor. The SSE2 loads are atomic for
 * each slot, like those of the other version, but a sanitizer cannot see that.
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

/* A walk over the cells that may have this hash. The caller must compare the key of each row. */
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

/*
 * Without the lock: prefetches the bucket of a hash and returns it; NULL before the first row. The
 * memory of a bucket stays valid for ever.
 */
static inline const struct table_bucket *table_prefetch(const struct table *table, uint64_t hash)
{
    struct table_bucket *bucket = table_bucket_of(table, hash);
    if (bucket != NULL)
        __builtin_prefetch(bucket, 1);
    return bucket;
}

/*
 * Without the lock: probably the cell of this hash, or with TABLE_LINK the extension of a full
 * bucket, or 0. The cell may be freed, or its page returned, at any time, so it is only for
 * slab_hint. No branch depends on the contents of the bucket, which may not have arrived in the
 * cache yet: after a wrong prediction the processor would wait for it before it goes on to the next
 * bucket.
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

/* The same, and also prefetches the first and the last of `bytes` bytes of that cell. */
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
 * Continues table_prefetch_next in the extension of a bucket, if `next` is one. The extension may
 * be freed meanwhile, and another cell may be at its address: that is harmless for a prefetch, but
 * a sanitizer would report it.
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

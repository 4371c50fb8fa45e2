/*
 * Linear hashing: with n buckets, 2^k <= n < 2^(k+1), bucket n is made by splitting bucket n - 2^k,
 * and a hash that points past the end points to the bucket it has not been split from yet. Chains
 * are short (3 rows to 4 buckets), a split touches one or two rows, and those are prefetched one
 * insertion ahead.
 *
 * If there is no memory for more buckets the chains grow longer instead: the rows themselves are
 * what the budget stops.
 */
#include "base/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/memory.h"

#define SEGMENT_BYTES      (TABLE_SEGMENT_BUCKETS * sizeof(uint32_t))
#define DIRECTORY_CAPACITY 4
#define SEGMENTS_MAX       (UINT32_MAX >> TABLE_SEGMENT_SHIFT)

_Static_assert(SEGMENT_BYTES <= SLAB_CELL_MAX, "a segment is one cell");

static size_t directory_bytes(uint32_t capacity)
{
    return sizeof(struct table_directory) + capacity * sizeof(void *);
}

void table_init(struct table *table, struct slab *slab, table_hash_fn *hash, uint64_t seed)
{
    *table = (struct table){.slab = slab, .hash = hash, .seed = seed};
}

void table_destroy(struct table *table)
{
    struct table_directory *directory = atomic_load(&table->directory);
    while (directory != NULL) {
        struct table_directory *outgrown = directory->outgrown;
        memory_release(slab_pool_budget(table->slab->pool), directory_bytes(directory->capacity));
        free(directory);
        directory = outgrown;
    }
    atomic_store(&table->directory, NULL);
}

static struct table_directory *directory_grow(struct table *table, struct table_directory *old)
{
    struct memory_budget *budget = slab_pool_budget(table->slab->pool);
    uint32_t capacity = old == NULL ? DIRECTORY_CAPACITY : old->capacity * 2;
    size_t bytes = directory_bytes(capacity);
    if (!memory_charge(budget, bytes))
        return NULL;
    struct table_directory *directory = calloc(1, bytes);
    if (directory == NULL) {
        memory_release(budget, bytes);
        return NULL;
    }
    directory->outgrown = old;
    directory->capacity = capacity;
    for (uint32_t i = 0; old != NULL && i < old->capacity; i++)
        atomic_init(&directory->segments[i], atomic_load(&old->segments[i]));
    atomic_store_explicit(&table->directory, directory, memory_order_release);
    return directory;
}

/* Makes sure that segment number `segment` is there. */
static bool segment_reserve(struct table *table, uint32_t segment)
{
    if (segment >= SEGMENTS_MAX)
        return false;
    struct table_directory *directory =
        atomic_load_explicit(&table->directory, memory_order_relaxed);
    if (directory == NULL || segment >= directory->capacity) {
        directory = directory_grow(table, directory);
        if (directory == NULL)
            return false;
    }
    if (atomic_load_explicit(&directory->segments[segment], memory_order_relaxed) != NULL)
        return true;
    uint32_t cell = slab_alloc(table->slab, SEGMENT_BYTES);
    if (cell == 0)
        return false;
    _Atomic uint32_t *heads = slab_at(table->slab, cell);
    memset((void *)heads, 0, SEGMENT_BYTES);
    atomic_store_explicit(&directory->segments[segment], heads, memory_order_release);
    return true;
}

bool table_reserve(struct table *table)
{
    if (atomic_load_explicit(&table->buckets, memory_order_relaxed) != 0)
        return true;
    if (!segment_reserve(table, 0))
        return false;
    atomic_store_explicit(&table->buckets, TABLE_SEGMENT_BUCKETS, memory_order_release);
    return true;
}

static _Atomic uint32_t *bucket_at(const struct table *table, uint32_t bucket)
{
    struct table_directory *directory =
        atomic_load_explicit(&table->directory, memory_order_relaxed);
    return atomic_load_explicit(&directory->segments[bucket >> TABLE_SEGMENT_SHIFT],
                                memory_order_relaxed) +
           (bucket & (TABLE_SEGMENT_BUCKETS - 1));
}

static void head_set(_Atomic uint32_t *head, uint32_t cell)
{
    atomic_store_explicit(head, cell, memory_order_release);
}

static uint32_t head_get(const _Atomic uint32_t *head)
{
    return atomic_load_explicit(head, memory_order_relaxed);
}

/* The bucket that the next new one is split from. */
static uint32_t split_source(uint32_t buckets)
{
    return buckets - (1U << (31 - __builtin_clz(buckets)));
}

static void table_split(struct table *table, uint32_t buckets)
{
    if ((buckets & (TABLE_SEGMENT_BUCKETS - 1)) == 0 &&
        !segment_reserve(table, buckets >> TABLE_SEGMENT_SHIFT))
        return;
    _Atomic uint32_t *source = bucket_at(table, split_source(buckets));
    uint32_t stay = 0;
    uint32_t move = 0;
    uint32_t cell = head_get(source);
    while (cell != 0) {
        struct table_row *row = slab_at(table->slab, cell);
        uint32_t next = row->link;
        bool moves = table_bucket(table->hash(row, table->seed), buckets + 1) == buckets;
        uint32_t *chain = moves ? &move : &stay;
        row->link = *chain;
        *chain = cell;
        cell = next;
    }
    head_set(source, stay);
    head_set(bucket_at(table, buckets), move);
    atomic_store_explicit(&table->buckets, buckets + 1, memory_order_release);
}

static void prefetch_split(const struct table *table)
{
    uint32_t buckets = atomic_load_explicit(&table->buckets, memory_order_relaxed);
    uint32_t source = split_source(buckets);
    uint32_t cell = head_get(bucket_at(table, source));
    if (cell != 0)
        __builtin_prefetch(slab_at(table->slab, cell), 1);
    cell = head_get(bucket_at(table, source + 1));
    if (cell != 0)
        __builtin_prefetch(slab_at(table->slab, cell), 1);
}

void table_insert(struct table *table, uint64_t hash, uint32_t cell)
{
    _Atomic uint32_t *head = table_head(table, hash);
    ASSERT(head != NULL);
    struct table_row *row = slab_at(table->slab, cell);
    row->link = head_get(head);
    head_set(head, cell);
    table->rows++;
    for (int i = 0; i < 2; i++) {
        uint32_t buckets = atomic_load_explicit(&table->buckets, memory_order_relaxed);
        if ((uint64_t)table->rows * 4 <= (uint64_t)buckets * 3)
            return;
        table_split(table, buckets);
    }
    prefetch_split(table);
}

/* Where the link to a row is that is known to be in the chain: the head, or a row's link. */
static struct table_row *row_before(const struct table *table, uint64_t hash, uint32_t cell)
{
    uint32_t at = table_peek(table, hash);
    if (at == cell)
        return NULL;
    for (;;) {
        ASSERT(at != 0);
        struct table_row *row = slab_at(table->slab, at);
        if (row->link == cell)
            return row;
        at = row->link;
    }
}

static void relink(struct table *table, uint64_t hash, uint32_t cell, uint32_t to)
{
    struct table_row *before = row_before(table, hash, cell);
    if (before == NULL)
        head_set(table_head(table, hash), to);
    else
        before->link = to;
}

void table_remove(struct table *table, uint64_t hash, uint32_t cell)
{
    const struct table_row *row = slab_at(table->slab, cell);
    relink(table, hash, cell, row->link);
    table->rows--;
}

void table_replace(struct table *table, uint64_t hash, uint32_t old_cell, uint32_t new_cell)
{
    relink(table, hash, old_cell, new_cell);
}

void table_visit(const struct table *table, table_visit_fn *visit, void *context)
{
    uint32_t buckets = atomic_load_explicit(&table->buckets, memory_order_relaxed);
    for (uint32_t bucket = 0; bucket < buckets; bucket++) {
        for (uint32_t cell = head_get(bucket_at(table, bucket)); cell != 0;) {
            struct table_row *row = slab_at(table->slab, cell);
            cell = row->link;
            visit(context, table->slab, row);
        }
    }
}

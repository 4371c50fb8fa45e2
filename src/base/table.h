/*
 * An index over rows that live in a slab: from a hash to the chain of rows that have it. It grows
 * by one bucket at a time (linear hashing), so no insertion ever waits for the whole to be moved,
 * and it costs 5 to 6 bytes a row beside the 4-byte link each row begins with.
 *
 * Used under its owner's lock. Only table_prefetch and table_peek may be called without it.
 */
#ifndef LAUD_BASE_TABLE_H
#define LAUD_BASE_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/slab.h"

#define TABLE_SEGMENT_SHIFT   10
#define TABLE_SEGMENT_BUCKETS (1U << TABLE_SEGMENT_SHIFT) /* one slab cell */

/* The hash of a row, the same one it is looked for with. */
typedef uint64_t table_hash_fn(const void *row, uint64_t seed);

/* Every row starts like this. */
struct table_row {
    uint32_t link;
};

/* Outgrown directories are kept to the end: a prefetch may still be looking at them. */
struct table_directory {
    struct table_directory *outgrown;
    uint32_t capacity;
    _Atomic(_Atomic uint32_t *) segments[];
};

struct table {
    struct slab *slab;
    table_hash_fn *hash;
    uint64_t seed;
    _Atomic(struct table_directory *) directory;
    _Atomic uint32_t buckets; /* 0 before the first row */
    uint32_t rows;
};

void table_init(struct table *table, struct slab *slab, table_hash_fn *hash, uint64_t seed);
void table_destroy(struct table *table);

/* False: no memory. Once true, insertion cannot fail. */
bool table_reserve(struct table *table);

void table_insert(struct table *table, uint64_t hash, uint32_t cell);
void table_remove(struct table *table, uint64_t hash, uint32_t cell);
/* Puts a row's new cell where its old one was linked; the new one has the old link already. */
void table_replace(struct table *table, uint64_t hash, uint32_t old_cell, uint32_t new_cell);

/* Every row, in no order. */
typedef void table_visit_fn(void *context, struct slab *slab, void *row);
void table_visit(const struct table *table, table_visit_fn *visit, void *context);

static inline uint32_t table_bucket(uint64_t hash, uint32_t buckets)
{
    uint32_t mask = UINT32_MAX >> __builtin_clz(buckets);
    uint32_t bucket = (uint32_t)hash & mask;
    return bucket < buckets ? bucket : bucket & (mask >> 1);
}

/* The head of a hash's chain, NULL while there is none. */
static inline _Atomic uint32_t *table_head(const struct table *table, uint64_t hash)
{
    uint32_t buckets = atomic_load_explicit(&table->buckets, memory_order_acquire);
    if (buckets == 0)
        return NULL;
    uint32_t bucket = table_bucket(hash, buckets);
    struct table_directory *directory =
        atomic_load_explicit(&table->directory, memory_order_acquire);
    _Atomic uint32_t *segment = atomic_load_explicit(
        &directory->segments[bucket >> TABLE_SEGMENT_SHIFT], memory_order_relaxed);
    return segment + (bucket & (TABLE_SEGMENT_BUCKETS - 1));
}

/* First cell of the chain, 0 if there is none; follow table_row.link from there, under the lock. */
static inline uint32_t table_peek(const struct table *table, uint64_t hash)
{
    _Atomic uint32_t *head = table_head(table, hash);
    return head == NULL ? 0 : atomic_load_explicit(head, memory_order_acquire);
}

static inline void table_prefetch(const struct table *table, uint64_t hash)
{
    _Atomic uint32_t *head = table_head(table, hash);
    if (head != NULL)
        __builtin_prefetch((const void *)head);
}

#endif

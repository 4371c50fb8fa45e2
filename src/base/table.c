/*
 * Linear hashing: with n buckets, 2^k <= n < 2^(k+1), bucket n is made by splitting bucket n - 2^k.
 * A hash whose bucket does not exist yet belongs to the bucket that will be split to make it. The
 * bits that decide this are in the slots, so a split touches two cache lines and no row.
 *
 * A bucket with more than eight rows has an extension, which its last slot links to: buckets that
 * wait for their split are fuller than the others. If there is no memory for more buckets, the
 * table goes on with extensions; a split never needs more extensions than it frees.
 *
 * A walk in steps needs no snapshot: only a split puts a row into another bucket, and then into a
 * new last one. If the walk visits the source before the split, it finds the row there. If the
 * split is first, the row is in the source or in the new bucket, and the walk visits both later.
 */
#include "base/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/memory.h"

#define SEGMENT_BYTES      (TABLE_SEGMENT_BUCKETS * sizeof(struct table_bucket))
#define DIRECTORY_CAPACITY 4
#define SEGMENTS_MAX       (UINT32_MAX >> TABLE_SEGMENT_SHIFT)
#define FULL_ROWS          11 /* above this average of rows in FULL_BUCKETS, one is added */
#define FULL_BUCKETS       2

_Static_assert(SEGMENT_BYTES <= SLAB_CELL_MAX, "a segment is one cell");
_Static_assert(sizeof(struct table_bucket) == SLAB_LINE, "a bucket is one cache line");

static size_t directory_bytes(uint32_t capacity)
{
    return sizeof(struct table_directory) + capacity * sizeof(void *);
}

void table_init(struct table *table, struct slab *slab)
{
    ASSERT(slab != NULL);
    *table = (struct table){.slab = slab};
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
    ASSERT(old == NULL || capacity > old->capacity);
    directory->outgrown = old;
    directory->capacity = capacity;
    for (uint32_t i = 0; old != NULL && i < old->capacity; i++)
        atomic_init(&directory->segments[i], atomic_load(&old->segments[i]));
    atomic_store_explicit(&table->directory, directory, memory_order_release);
    return directory;
}

/* Makes sure that segment number `segment` exists. */
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
    ASSERT(segment < directory->capacity);
    if (atomic_load_explicit(&directory->segments[segment], memory_order_relaxed) != NULL)
        return true;
    uint32_t cell = slab_alloc_lines(table->slab, SEGMENT_BYTES);
    if (cell == 0)
        return false;
    struct table_bucket *buckets = slab_at(table->slab, cell);
    memset((void *)buckets, 0, SEGMENT_BYTES);
    atomic_store_explicit(&directory->segments[segment], buckets, memory_order_release);
    return true;
}

static struct table_bucket *bucket_at(const struct table *table, uint32_t bucket)
{
    struct table_directory *directory =
        atomic_load_explicit(&table->directory, memory_order_relaxed);
    return atomic_load_explicit(&directory->segments[bucket >> TABLE_SEGMENT_SHIFT],
                                memory_order_relaxed) +
           (bucket & (TABLE_SEGMENT_BUCKETS - 1));
}

static uint64_t slot_get(const struct table_bucket *bucket, uint32_t slot)
{
    return atomic_load_explicit(&bucket->slots[slot], memory_order_relaxed);
}

static void slot_set(struct table_bucket *bucket, uint32_t slot, uint64_t value)
{
    atomic_store_explicit(&bucket->slots[slot], value, memory_order_release);
}

/* The cell of the extension of a full bucket; 0 if there is none. */
static uint32_t bucket_rest(const struct table_bucket *bucket)
{
    uint32_t last = (uint32_t)slot_get(bucket, TABLE_SLOTS - 1);
    return last & TABLE_LINK ? last & ~TABLE_LINK : 0;
}

/* The slot with exactly this value (0: an empty slot), in a bucket or its extensions. */
static bool slot_find(const struct table *table, struct table_bucket *bucket, uint64_t value,
                      struct table_bucket **found, uint32_t *slot)
{
    for (;;) {
        for (uint32_t i = 0; i < TABLE_SLOTS; i++) {
            if (slot_get(bucket, i) == value) {
                *found = bucket;
                *slot = i;
                return true;
            }
        }
        uint32_t rest = bucket_rest(bucket);
        *found = bucket;
        if (rest == 0)
            return false;
        bucket = slab_at(table->slab, rest);
    }
}

/* Copies the last slot of a full bucket to a new cell, and links that cell there. */
static bool bucket_extend(struct table *table, struct table_bucket *bucket)
{
    ASSERT(bucket_rest(bucket) == 0); /* only the last bucket of a chain is extended */
    uint32_t cell = slab_alloc(table->slab, sizeof(*bucket));
    if (cell == 0)
        return false;
    struct table_bucket *rest = slab_at(table->slab, cell);
    memset((void *)rest, 0, sizeof(*rest));
    slot_set(rest, 0, slot_get(bucket, TABLE_SLOTS - 1));
    slot_set(bucket, TABLE_SLOTS - 1, TABLE_LINK | cell);
    return true;
}

bool table_reserve(struct table *table, uint64_t hash)
{
    if (atomic_load_explicit(&table->buckets, memory_order_relaxed) == 0) {
        if (!segment_reserve(table, 0))
            return false;
        atomic_store_explicit(&table->buckets, TABLE_SEGMENT_BUCKETS, memory_order_release);
    }
    struct table_bucket *bucket;
    uint32_t slot;
    return slot_find(table, table_bucket_of(table, hash), 0, &bucket, &slot) ||
           bucket_extend(table, bucket);
}

/* One of the two sides of a split, filled from the front. */
struct side {
    struct table_bucket *bucket;
    uint32_t used;
};

static void side_put(struct table *table, struct side *side, uint64_t value, uint32_t *spare)
{
    if (side->used == TABLE_SLOTS) {
        uint32_t cell = *spare;
        ASSERT(cell != 0);
        struct table_bucket *rest = slab_at(table->slab, cell);
        *spare = (uint32_t)slot_get(rest, 0);
        memset((void *)rest, 0, sizeof(*rest));
        slot_set(rest, 0, slot_get(side->bucket, TABLE_SLOTS - 1));
        slot_set(side->bucket, TABLE_SLOTS - 1, TABLE_LINK | cell);
        *side = (struct side){.bucket = rest, .used = 1};
    }
    slot_set(side->bucket, side->used++, value);
}

/*
 * Distributes the slots of a bucket to both sides. Its extensions become spare cells, linked by
 * their first slot.
 */
static void bucket_deal(struct table *table, struct table_bucket *bucket, uint32_t number,
                        struct side *stay, struct side *move, uint32_t *spare)
{
    uint32_t rest = 0;
    do {
        uint64_t values[TABLE_SLOTS];
        if (rest != 0)
            bucket = slab_at(table->slab, rest);
        for (uint32_t i = 0; i < TABLE_SLOTS; i++) {
            values[i] = slot_get(bucket, i);
            slot_set(bucket, i, 0);
        }
        if (rest != 0) {
            slot_set(bucket, 0, *spare);
            *spare = rest;
        }
        rest = 0;
        for (uint32_t i = 0; i < TABLE_SLOTS; i++) {
            if (values[i] & TABLE_LINK)
                rest = (uint32_t)values[i] & ~TABLE_LINK;
            else if (values[i] != 0)
                side_put(table,
                         table_bucket_number(values[i] >> 32, number + 1) == number ? move : stay,
                         values[i], spare);
        }
    } while (rest != 0);
}

/* The bucket that the next new one is split from. */
static uint32_t split_source(uint32_t buckets)
{
    ASSERT(buckets >= TABLE_SEGMENT_BUCKETS);
    return buckets - (1U << (31 - __builtin_clz(buckets)));
}

static void spare_free(struct table *table, uint32_t spare)
{
    while (spare != 0) {
        uint32_t cell = spare;
        spare = (uint32_t)slot_get(slab_at(table->slab, cell), 0);
        slab_free(table->slab, cell, sizeof(struct table_bucket));
    }
}

static void table_split(struct table *table, uint32_t buckets)
{
    if ((buckets & (TABLE_SEGMENT_BUCKETS - 1)) == 0 &&
        !segment_reserve(table, buckets >> TABLE_SEGMENT_SHIFT))
        return;
    ASSERT(split_source(buckets) < buckets);
    struct table_bucket *source = bucket_at(table, split_source(buckets));
    struct side stay = {.bucket = source};
    struct side move = {.bucket = bucket_at(table, buckets)};
    uint32_t spare = 0;
    bucket_deal(table, source, buckets, &stay, &move, &spare);
    atomic_store_explicit(&table->buckets, buckets + 1, memory_order_release);
    spare_free(table, spare);
    __builtin_prefetch(source + 1, 1);
}

static uint64_t slot_value(uint64_t hash, uint32_t cell)
{
    return hash << 32 | cell;
}

void table_insert(struct table *table, uint64_t hash, uint32_t cell)
{
    ASSERT(cell != 0 && !(cell & TABLE_LINK));
    struct table_bucket *bucket;
    uint32_t slot;
    bool found = slot_find(table, table_bucket_of(table, hash), 0, &bucket, &slot);
    ASSERT(found);
    slot_set(bucket, slot, slot_value(hash, cell));
    table->rows++;
    uint32_t buckets = atomic_load_explicit(&table->buckets, memory_order_relaxed);
    if ((uint64_t)table->rows * FULL_BUCKETS > (uint64_t)buckets * FULL_ROWS)
        table_split(table, buckets);
}

void table_remove(struct table *table, uint64_t hash, uint32_t cell)
{
    struct table_bucket *bucket;
    uint32_t slot;
    bool found =
        slot_find(table, table_bucket_of(table, hash), slot_value(hash, cell), &bucket, &slot);
    ASSERT(found);
    ASSERT(table->rows > 0);
    slot_set(bucket, slot, 0);
    table->rows--;
}

void table_replace(struct table *table, uint64_t hash, uint32_t old_cell, uint32_t new_cell)
{
    struct table_bucket *bucket;
    uint32_t slot;
    bool found =
        slot_find(table, table_bucket_of(table, hash), slot_value(hash, old_cell), &bucket, &slot);
    ASSERT(found);
    ASSERT(new_cell != 0 && !(new_cell & TABLE_LINK));
    slot_set(bucket, slot, slot_value(hash, new_cell));
}

static void bucket_visit(const struct table *table, const struct table_bucket *bucket,
                         table_visit_some_fn *visit, void *context)
{
    for (;;) {
        for (uint32_t i = 0; i < TABLE_SLOTS; i++) {
            uint32_t cell = (uint32_t)slot_get(bucket, i);
            if (cell != 0 && !(cell & TABLE_LINK))
                visit(context, table->slab, cell);
        }
        uint32_t rest = bucket_rest(bucket);
        if (rest == 0)
            return;
        bucket = slab_at(table->slab, rest);
    }
}

struct row_visitor {
    table_visit_fn *visit;
    void *context;
};

static void row_visit(void *context, struct slab *slab, uint32_t cell)
{
    const struct row_visitor *visitor = context;
    visitor->visit(visitor->context, slab, slab_at(slab, cell));
}

void table_visit(const struct table *table, table_visit_fn *visit, void *context)
{
    struct row_visitor visitor = {.visit = visit, .context = context};
    uint32_t buckets = atomic_load_explicit(&table->buckets, memory_order_relaxed);
    for (uint32_t bucket = 0; bucket < buckets; bucket++)
        bucket_visit(table, bucket_at(table, bucket), row_visit, &visitor);
}

/* Fills the gaps after removals, and frees the extensions that are not needed any more. */
static void bucket_tighten(struct table *table, struct table_bucket *bucket, uint32_t number)
{
    struct side side = {.bucket = bucket};
    uint32_t spare = 0;
    bucket_deal(table, bucket, number, &side, &side, &spare);
    spare_free(table, spare);
}

/* Copies extensions out of retiring pages while there is memory for it. */
static void rests_move(struct table *table, struct table_bucket *bucket)
{
    struct slab *slab = table->slab;
    for (uint32_t rest; (rest = bucket_rest(bucket)) != 0; bucket = slab_at(slab, rest)) {
        if (!slab_is_retiring(slab, rest))
            continue;
        uint32_t cell = slab_alloc(slab, sizeof(*bucket));
        if (cell == 0)
            continue;
        memcpy(slab_at(slab, cell), slab_at(slab, rest), sizeof(*bucket));
        slot_set(bucket, TABLE_SLOTS - 1, TABLE_LINK | cell);
        slab_free(slab, rest, sizeof(*bucket));
        rest = cell;
    }
}

uint32_t table_visit_some(struct table *table, uint32_t cursor, uint32_t buckets,
                          table_visit_some_fn *visit, void *context)
{
    uint32_t end = atomic_load_explicit(&table->buckets, memory_order_relaxed);
    for (; cursor < end && buckets != 0; cursor++, buckets--) {
        struct table_bucket *bucket = bucket_at(table, cursor);
        bucket_visit(table, bucket, visit, context);
        if (bucket_rest(bucket) != 0) {
            bucket_tighten(table, bucket, cursor);
            rests_move(table, bucket);
        }
    }
    return cursor < end ? cursor : 0;
}

/*
 * Rows are plain and wide, one for each reaction and one for each counter; being right is what this
 * store is for. A batch locks all the shards it touches, in order, makes every row it may need with
 * nothing in it, and only then changes anything: no reader sees half of it, and none of it is there
 * if memory runs out. A read of many keys locks the same way.
 */
#include "store/memory/store_memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/limits.h"
#include "base/table.h"

#define STORE_MEMORY_MAGIC 0x73746f72U
#define SEED               0x7c0de5eedULL
#define STORE_SHARDS       16 /* of each side; a large batch holds the locks of all of them */
#define SHARD_SHIFT        (64 - __builtin_ctz(STORE_SHARDS))

_Static_assert(STORE_SHARDS <= 64, "a set of shards is one word");

struct reaction_row {
    uint32_t time_s;
    struct id user;
    struct item item;
    uint8_t kind;
};

struct count_row {
    uint8_t name;
    struct item item;
    int64_t value;
};

struct shard {
    _Alignas(64) pthread_mutex_t lock;
    struct table table;
    struct slab slab;
};

struct store_memory {
    struct store store;
    uint32_t magic;
    struct memory_budget *budget;
    struct slab_pool *pool;
    pthread_mutex_t position_lock; /* taken before any shard's */
    uint64_t position;
    struct shard reactions[STORE_SHARDS]; /* by user */
    struct shard counts[STORE_SHARDS];    /* by item */
};

static struct store_memory *memory_of(struct store *store)
{
    struct store_memory *memory = (struct store_memory *)store;
    CHECK_MAGIC(memory, STORE_MEMORY_MAGIC);
    return memory;
}

/* Of a whole key; its shard goes by the user or item alone. */
static uint64_t reaction_hash(struct id user, struct item item, uint8_t kind)
{
    return hash_mix(id_hash(user, SEED), item_hash(item, SEED + kind));
}

static uint64_t count_hash(struct item item, uint8_t name)
{
    return hash_mix(item_hash(item, SEED), name);
}

static uint32_t reaction_shard(const struct store_reaction *reaction)
{
    return (uint32_t)(id_hash(reaction->user, SEED) >> SHARD_SHIFT);
}

static uint32_t count_shard(const struct store_count *count)
{
    return (uint32_t)(item_hash(count->item, SEED) >> SHARD_SHIFT);
}

static uint32_t reaction_find(const struct shard *shard, uint64_t hash,
                              const struct store_reaction *key)
{
    struct table_walk walk = table_walk_start(&shard->table, hash);
    for (;;) {
        uint32_t cell = table_walk_next(&walk);
        if (cell == 0)
            return 0;
        const struct reaction_row *row = slab_at(&shard->slab, cell);
        if (id_equal(row->user, key->user) && item_equal(row->item, key->item) &&
            row->kind == key->kind)
            return cell;
    }
}

static uint32_t count_find(const struct shard *shard, uint64_t hash, const struct store_count *key)
{
    struct table_walk walk = table_walk_start(&shard->table, hash);
    for (;;) {
        uint32_t cell = table_walk_next(&walk);
        if (cell == 0)
            return 0;
        const struct count_row *row = slab_at(&shard->slab, cell);
        if (item_equal(row->item, key->item) && row->name == key->name)
            return cell;
    }
}

static void shards_lock(struct shard *shards, uint64_t set)
{
    for (; set != 0; set &= set - 1)
        pthread_mutex_lock(&shards[__builtin_ctzll(set)].lock);
}

static void shards_unlock(struct shard *shards, uint64_t set)
{
    for (; set != 0; set &= set - 1)
        pthread_mutex_unlock(&shards[__builtin_ctzll(set)].lock);
}

static enum status read_reactions(struct store *store, struct store_reaction *keys, size_t count)
{
    struct store_memory *memory = memory_of(store);
    uint64_t set = 0;
    for (size_t i = 0; i < count; i++)
        set |= 1ULL << reaction_shard(&keys[i]);
    shards_lock(memory->reactions, set);
    for (size_t i = 0; i < count; i++) {
        const struct shard *shard = &memory->reactions[reaction_shard(&keys[i])];
        uint64_t hash = reaction_hash(keys[i].user, keys[i].item, keys[i].kind);
        uint32_t cell = reaction_find(shard, hash, &keys[i]);
        keys[i].time_s =
            cell == 0 ? 0 : ((struct reaction_row *)slab_at(&shard->slab, cell))->time_s;
    }
    shards_unlock(memory->reactions, set);
    return STATUS_OK;
}

static enum status read_counts(struct store *store, struct store_count *keys, size_t count)
{
    struct store_memory *memory = memory_of(store);
    uint64_t set = 0;
    for (size_t i = 0; i < count; i++)
        set |= 1ULL << count_shard(&keys[i]);
    shards_lock(memory->counts, set);
    for (size_t i = 0; i < count; i++) {
        const struct shard *shard = &memory->counts[count_shard(&keys[i])];
        uint64_t hash = count_hash(keys[i].item, keys[i].name);
        uint32_t cell = count_find(shard, hash, &keys[i]);
        keys[i].value = cell == 0 ? 0 : ((struct count_row *)slab_at(&shard->slab, cell))->value;
    }
    shards_unlock(memory->counts, set);
    return STATUS_OK;
}

struct batch {
    struct store_memory *memory;
    const struct store_changes *changes;
    uint64_t reaction_shards; /* a bit for each one touched */
    uint64_t count_shards;
};

static void batch_lock(struct batch *batch)
{
    const struct store_changes *changes = batch->changes;
    for (size_t i = 0; i < changes->reaction_count; i++)
        batch->reaction_shards |= 1ULL << reaction_shard(&changes->reactions[i]);
    for (size_t i = 0; i < changes->count_count; i++)
        batch->count_shards |= 1ULL << count_shard(&changes->counts[i]);
    shards_lock(batch->memory->reactions, batch->reaction_shards);
    shards_lock(batch->memory->counts, batch->count_shards);
}

static void batch_unlock(struct batch *batch)
{
    shards_unlock(batch->memory->reactions, batch->reaction_shards);
    shards_unlock(batch->memory->counts, batch->count_shards);
}

/* A reaction without a time, a counter of 0: there, but saying nothing. */
static bool reaction_reserve(struct shard *shard, const struct store_reaction *change)
{
    uint64_t hash = reaction_hash(change->user, change->item, change->kind);
    if (reaction_find(shard, hash, change) != 0)
        return true;
    if (!table_reserve(&shard->table, hash))
        return false;
    uint32_t cell = slab_alloc(&shard->slab, sizeof(struct reaction_row));
    if (cell == 0)
        return false;
    *(struct reaction_row *)slab_at(&shard->slab, cell) =
        (struct reaction_row){.user = change->user, .item = change->item, .kind = change->kind};
    table_insert(&shard->table, hash, cell);
    return true;
}

static bool count_reserve(struct shard *shard, const struct store_count *change)
{
    uint64_t hash = count_hash(change->item, change->name);
    if (count_find(shard, hash, change) != 0)
        return true;
    if (!table_reserve(&shard->table, hash))
        return false;
    uint32_t cell = slab_alloc(&shard->slab, sizeof(struct count_row));
    if (cell == 0)
        return false;
    *(struct count_row *)slab_at(&shard->slab, cell) =
        (struct count_row){.item = change->item, .name = change->name};
    table_insert(&shard->table, hash, cell);
    return true;
}

static bool batch_reserve(struct batch *batch)
{
    const struct store_changes *changes = batch->changes;
    for (size_t i = 0; i < changes->reaction_count; i++)
        if (changes->reactions[i].time_s != 0 &&
            !reaction_reserve(&batch->memory->reactions[reaction_shard(&changes->reactions[i])],
                              &changes->reactions[i]))
            return false;
    for (size_t i = 0; i < changes->count_count; i++)
        if (!count_reserve(&batch->memory->counts[count_shard(&changes->counts[i])],
                           &changes->counts[i]))
            return false;
    return true;
}

static void reaction_sweep(struct shard *shard, const struct store_reaction *change)
{
    uint64_t hash = reaction_hash(change->user, change->item, change->kind);
    uint32_t cell = reaction_find(shard, hash, change);
    if (cell == 0 || ((struct reaction_row *)slab_at(&shard->slab, cell))->time_s != 0)
        return;
    table_remove(&shard->table, hash, cell);
    slab_free(&shard->slab, cell, sizeof(struct reaction_row));
}

static void count_sweep(struct shard *shard, const struct store_count *change)
{
    uint64_t hash = count_hash(change->item, change->name);
    uint32_t cell = count_find(shard, hash, change);
    if (cell == 0 || ((struct count_row *)slab_at(&shard->slab, cell))->value != 0)
        return;
    table_remove(&shard->table, hash, cell);
    slab_free(&shard->slab, cell, sizeof(struct count_row));
}

/* Rows that say nothing go, whether the batch went through or not. */
static void batch_sweep(struct batch *batch)
{
    const struct store_changes *changes = batch->changes;
    for (size_t i = 0; i < changes->reaction_count; i++)
        reaction_sweep(&batch->memory->reactions[reaction_shard(&changes->reactions[i])],
                       &changes->reactions[i]);
    for (size_t i = 0; i < changes->count_count; i++)
        count_sweep(&batch->memory->counts[count_shard(&changes->counts[i])], &changes->counts[i]);
}

static void reaction_apply(struct shard *shard, const struct store_reaction *change)
{
    uint64_t hash = reaction_hash(change->user, change->item, change->kind);
    uint32_t cell = reaction_find(shard, hash, change);
    if (cell != 0)
        ((struct reaction_row *)slab_at(&shard->slab, cell))->time_s = change->time_s;
}

static bool count_apply(struct shard *shard, const struct store_count *change, int64_t delta)
{
    uint32_t cell = count_find(shard, count_hash(change->item, change->name), change);
    ASSERT(cell != 0);
    struct count_row *row = slab_at(&shard->slab, cell);
    return !__builtin_add_overflow(row->value, delta, &row->value);
}

/* In order; the first sum that leaves the range undoes those before it, wrapping back exactly. */
static enum status counts_apply(struct batch *batch)
{
    const struct store_changes *changes = batch->changes;
    for (size_t i = 0; i < changes->count_count; i++) {
        const struct store_count *change = &changes->counts[i];
        if (count_apply(&batch->memory->counts[count_shard(change)], change, change->value))
            continue;
        for (size_t j = 0; j <= i; j++) {
            const struct store_count *undone = &changes->counts[j];
            count_apply(&batch->memory->counts[count_shard(undone)], undone,
                        (int64_t)(0 - (uint64_t)undone->value));
        }
        return STATUS_COUNTER_OVERFLOW;
    }
    return STATUS_OK;
}

static enum status batch_apply(struct batch *batch)
{
    const struct store_changes *changes = batch->changes;
    enum status status = batch_reserve(batch) ? counts_apply(batch) : STATUS_NO_MEMORY;
    for (size_t i = 0; status == STATUS_OK && i < changes->reaction_count; i++)
        reaction_apply(&batch->memory->reactions[reaction_shard(&changes->reactions[i])],
                       &changes->reactions[i]);
    batch_sweep(batch);
    return status;
}

static enum status apply_unplaced(struct store_memory *memory, const struct store_changes *changes)
{
    struct batch batch = {.memory = memory, .changes = changes};
    batch_lock(&batch);
    enum status status = batch_apply(&batch);
    batch_unlock(&batch);
    return status;
}

static enum status apply(struct store *store, const struct store_changes *changes)
{
    struct store_memory *memory = memory_of(store);
    if (changes->position == 0)
        return apply_unplaced(memory, changes);
    enum status status = STATUS_OK;
    pthread_mutex_lock(&memory->position_lock);
    if (changes->position > memory->position) {
        status = apply_unplaced(memory, changes);
        if (status == STATUS_OK)
            memory->position = changes->position;
    }
    pthread_mutex_unlock(&memory->position_lock);
    return status;
}

static uint64_t position(struct store *store)
{
    struct store_memory *memory = memory_of(store);
    pthread_mutex_lock(&memory->position_lock);
    uint64_t reached = memory->position;
    pthread_mutex_unlock(&memory->position_lock);
    return reached;
}

static uint64_t reaction_count(struct store *store)
{
    struct store_memory *memory = memory_of(store);
    uint64_t count = 0;
    for (uint32_t i = 0; i < STORE_SHARDS; i++) {
        pthread_mutex_lock(&memory->reactions[i].lock);
        count += memory->reactions[i].table.rows;
        pthread_mutex_unlock(&memory->reactions[i].lock);
    }
    return count;
}

static void shard_destroy(struct shard *shard)
{
    table_destroy(&shard->table);
    slab_destroy(&shard->slab);
    pthread_mutex_destroy(&shard->lock);
}

static void store_memory_close(struct store *store)
{
    struct store_memory *memory = memory_of(store);
    for (uint32_t i = 0; i < STORE_SHARDS; i++) {
        shard_destroy(&memory->reactions[i]);
        shard_destroy(&memory->counts[i]);
    }
    pthread_mutex_destroy(&memory->position_lock);
    slab_pool_free(memory->pool);
    memory_release(memory->budget, sizeof(*memory));
    memory->magic = 0;
    free(memory);
}

static bool shard_init(struct shard *shard, struct slab_pool *pool)
{
    pthread_mutex_init(&shard->lock, NULL);
    table_init(&shard->table, &shard->slab);
    return slab_init(&shard->slab, pool);
}

static const struct store_ops store_memory_ops = {
    .name = "memory",
    .may_block = false,
    .read_reactions = read_reactions,
    .read_counts = read_counts,
    .apply = apply,
    .position = position,
    .reaction_count = reaction_count,
    .close = store_memory_close,
};

static struct store_memory *store_memory_alloc(struct memory_budget *budget)
{
    struct store_memory *memory = NULL;
    if (!memory_charge(budget, sizeof(*memory)))
        return NULL;
    if (posix_memalign((void **)&memory, 64, sizeof(*memory)) == 0) {
        memset(memory, 0, sizeof(*memory));
        memory->pool = slab_pool_new(budget);
        if (memory->pool != NULL)
            return memory;
        free(memory);
    }
    memory_release(budget, sizeof(*memory));
    return NULL;
}

struct store *store_memory_open(struct memory_budget *budget)
{
    struct store_memory *memory = store_memory_alloc(budget);
    if (memory == NULL)
        return NULL;
    memory->store.ops = &store_memory_ops;
    memory->magic = STORE_MEMORY_MAGIC;
    memory->budget = budget;
    pthread_mutex_init(&memory->position_lock, NULL);
    bool ready = true;
    for (uint32_t i = 0; i < STORE_SHARDS; i++) {
        ready &= shard_init(&memory->reactions[i], memory->pool);
        ready &= shard_init(&memory->counts[i], memory->pool);
    }
    if (!ready) {
        store_memory_close(&memory->store);
        return NULL;
    }
    return &memory->store;
}

/*
 * Why begun[] is written twice in load_begin: first 0, which stops everything from becoming clean,
 * then the position. A thread that computes what is clean reads `applied` before begun[]; if it misses
 * the 0, the load began later and reads an `applied` that is at least as new.
 *
 * Why a worker gives up its claims before it waits for others: two workers that need each other's keys
 * would otherwise wait for ever.
 */
#include "hot/memory/load.h"

#include <stdlib.h>

#include "base/assert.h"
#include "hot/memory/hot_memory_priv.h"

void loads_init(struct loads *loads)
{
    for (uint32_t i = 0; i < LOADERS; i++)
        atomic_init(&loads->begun[i], UINT64_MAX);
    pthread_mutex_init(&loads->lock, NULL);
    pthread_cond_init(&loads->ended, NULL);
    pthread_rwlock_init(&loads->base_lock, NULL);
}

void loads_destroy(struct loads *loads, struct store_reader *store)
{
    if (loads->base != NULL)
        store_release(store, loads->base);
    pthread_rwlock_destroy(&loads->base_lock);
    pthread_cond_destroy(&loads->ended);
    pthread_mutex_destroy(&loads->lock);
}

uint64_t loads_clean_position(struct loads *loads)
{
    uint64_t applied = atomic_load(&loads->applied);
    for (uint32_t i = 0; i < LOADERS; i++) {
        uint64_t begun = atomic_load(&loads->begun[i]);
        applied = begun < applied ? begun : applied;
    }
    return applied;
}

uint32_t loads_clean(struct loads *loads)
{
    return clean_below(loads_clean_position(loads));
}

void load_begin(struct loads *loads, unsigned worker)
{
    ASSERT(worker < LOADERS);
    ASSERT(atomic_load(&loads->begun[worker]) == UINT64_MAX);
    atomic_store(&loads->begun[worker], 0);
    atomic_store(&loads->begun[worker], atomic_load(&loads->applied));
}

void load_end(struct loads *loads, unsigned worker)
{
    ASSERT(worker < LOADERS && atomic_load(&loads->begun[worker]) != UINT64_MAX);
    atomic_store(&loads->begun[worker], UINT64_MAX);
}

static bool is_claimed(const struct loads *loads, unsigned but, uint64_t key)
{
    for (uint32_t i = 0; i < LOADERS; i++)
        for (uint32_t j = 0; i != but && j < loads->claims[i].count; j++)
            if (loads->claims[i].keys[j] == key)
                return true;
    return false;
}

size_t load_claim(struct loads *loads, unsigned worker, const uint64_t *keys, size_t count,
                  bool *mine)
{
    uint32_t claimed = 0;
    ASSERT(count <= LOAD_KEYS);
    pthread_mutex_lock(&loads->lock);
    for (size_t i = 0; i < count; i++) {
        mine[i] = !is_claimed(loads, worker, keys[i]);
        if (mine[i])
            loads->claims[worker].keys[claimed++] = keys[i];
    }
    loads->claims[worker].count = claimed;
    pthread_mutex_unlock(&loads->lock);
    if (claimed < count)
        atomic_fetch_add_explicit(&loads->stats.shared, count - claimed, memory_order_relaxed);
    return claimed;
}

void load_claim_end(struct loads *loads, unsigned worker, const uint64_t *keys, size_t count,
                    const bool *mine)
{
    pthread_mutex_lock(&loads->lock);
    loads->claims[worker].count = 0;
    pthread_cond_broadcast(&loads->ended);
    for (size_t i = 0; i < count; i++)
        while (!mine[i] && is_claimed(loads, worker, keys[i]))
            pthread_cond_wait(&loads->ended, &loads->lock);
    pthread_mutex_unlock(&loads->lock);
}

/* The items of one step. If they are partial rows, they are completed from the snapshot `base`. */
struct item_load {
    struct store_item items[LOAD_KEYS];
    uint64_t hashes[LOAD_KEYS];
    bool mine[LOAD_KEYS];
    size_t count;
};

/* Is the row missing or, if `partial`, is it partial? */
static bool item_is_wanted(struct hot_memory *hot, struct item item, uint64_t hash, bool partial)
{
    struct item_shard *shard = item_shard_of(hot, hash);
    pthread_mutex_lock(&shard->lock);
    const struct item_row *row = item_find(shard, hash, item);
    bool wanted = partial ? row != NULL && row->flags & ITEM_PARTIAL
                          : row == NULL && filters_may_have_item(hot->filters, item);
    pthread_mutex_unlock(&shard->lock);
    return wanted;
}

/* A partial row that was evicted meanwhile was clean, so the values at the start are outdated. */
static enum status item_store(struct hot_memory *hot, const struct item_load *load, size_t at,
                              const struct store_values *values, bool partial)
{
    const struct store_item *item = &load->items[at];
    uint64_t hash = load->hashes[at];
    struct item_shard *shard = item_shard_of(hot, hash);
    pthread_mutex_lock(&shard->lock);
    bool filled = partial && item_find(shard, hash, item->item) == NULL;
    if (!filled)
        filled = item_fill(shard, hash, item->item, values->values + item->first, item->count);
    pthread_mutex_unlock(&shard->lock);
    return filled ? STATUS_OK : STATUS_NO_MEMORY;
}

void loads_count_found(struct loads *loads, size_t found, size_t count)
{
    atomic_fetch_add_explicit(&loads->stats.hits, found, memory_order_relaxed);
    atomic_fetch_add_explicit(&loads->stats.misses, count - found, memory_order_relaxed);
}

/* Reads the claimed items and puts them into memory. */
static enum status item_load_run(struct hot_memory *hot, struct item_load *load, bool partial)
{
    struct store_item items[LOAD_KEYS];
    size_t indices[LOAD_KEYS];
    size_t count = 0;
    for (size_t i = 0; i < load->count; i++) {
        if (!load->mine[i])
            continue;
        indices[count] = i;
        items[count++] = load->items[i];
    }
    struct store_values values = {0};
    enum status status =
        store_read_items(hot->store, partial ? hot->loads.base : NULL, items, count, &values);
    atomic_fetch_add_explicit(&hot->loads.stats.items, count, memory_order_relaxed);
    size_t found = 0;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        found += items[i].count > 0;
        load->items[indices[i]] = items[i];
        status = item_store(hot, load, indices[i], &values, partial);
    }
    if (status == STATUS_OK && !partial)
        loads_count_found(&hot->loads, found, count);
    free(values.values);
    return status;
}

static enum status item_load_step(struct hot_memory *hot, unsigned worker, struct item_load *load,
                                  bool partial)
{
    if (load->count == 0)
        return STATUS_OK;
    size_t claimed = load_claim(&hot->loads, worker, load->hashes, load->count, load->mine);
    enum status status = claimed == 0 ? STATUS_OK : item_load_run(hot, load, partial);
    load_claim_end(&hot->loads, worker, load->hashes, load->count, load->mine);
    load->count = 0;
    return status;
}

static enum status load_some(struct hot_memory *hot, unsigned worker, const struct item *items,
                             size_t count, bool partial)
{
    struct item_load load;
    enum status status = STATUS_OK;
    load.count = 0;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        uint64_t hash = item_hash_of(hot, items[i]);
        if (!item_is_wanted(hot, items[i], hash, partial))
            continue;
        load.items[load.count] = (struct store_item){.item = items[i]};
        load.hashes[load.count++] = hash;
        if (load.count == LOAD_KEYS)
            status = item_load_step(hot, worker, &load, partial);
    }
    return status == STATUS_OK ? item_load_step(hot, worker, &load, partial) : status;
}

enum status load_items(struct hot_memory *hot, unsigned worker, const struct item *items,
                       size_t count)
{
    load_begin(&hot->loads, worker);
    enum status status = load_some(hot, worker, items, count, false);
    load_end(&hot->loads, worker);
    pthread_rwlock_rdlock(&hot->loads.base_lock);
    if (status == STATUS_OK && hot->loads.base != NULL)
        status = load_some(hot, worker, items, count, true);
    pthread_rwlock_unlock(&hot->loads.base_lock);
    return status;
}

enum status load_reactions(struct hot_memory *hot, unsigned worker, struct store_reaction *keys,
                           size_t count)
{
    ASSERT(atomic_load(&hot->loads.begun[worker]) != UINT64_MAX);
    atomic_fetch_add_explicit(&hot->loads.stats.reactions, count, memory_order_relaxed);
    enum status status = store_read_reactions(hot->store, keys, count);
    size_t found = 0;
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        found += keys[i].time_s != 0;
    if (status == STATUS_OK)
        loads_count_found(&hot->loads, found, count);
    return status;
}

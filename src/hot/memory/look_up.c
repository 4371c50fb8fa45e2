/*
 * Finds which of many users have a reaction on one item. Every change of a reaction sets the stamp of its
 * item's row. So once the store has the item's last change, it has all reactions on the item, and a "no"
 * of the filters is final. This answers nearly all users without reading their rows. The rows of the
 * others are read in groups and prefetched, because a thousand rows are a thousand cache misses
 * otherwise. Memory has the answer for most of these users; only the store has it for the rest.
 */
#include "filter/filters.h"
#include "hot/memory/catch_up.h"
#include "hot/memory/queries.h"

#define GROUP 32 /* users prefetched at a time */

static uint32_t time_on_shelf(const struct hot_memory *hot, const struct user_shard *shard,
                              const struct shelf *shelf, struct id id)
{
    struct shelf_slot slot = {0};
    if (shelf != NULL)
        slot = shelf_find(&shard->slab, shelf, hot->scan, id);
    return slot.chunk == 0 ? QUERY_NOT_SET : shelf_time(&shard->slab, slot);
}

/* Called under the lock of the user's shard. */
static uint32_t look_locked(const struct hot_memory *hot, struct user_shard *shard, uint64_t hash,
                            const struct cleared_key *key)
{
    struct id user = key->user;
    struct item item = key->item;
    uint8_t kind = key->kind;
    struct user_row *row = user_find(shard, hash, user);
    const struct shelf *shelf = row == NULL ? NULL : user_shelf(shard, row, kind, item, 0);
    uint32_t time_s = time_on_shelf(hot, shard, shelf, item.id);
    if (time_s != QUERY_NOT_SET || hot->filters == NULL ||
        (shelf != NULL && !(shelf->flags & SHELF_INCOMPLETE)))
        return time_s;
    if (row != NULL)
        time_s = time_on_shelf(hot, shard, user_shelf(shard, row, kind, item, SHELF_WARM), item.id);
    if (time_s != QUERY_NOT_SET ||
        (shelf == NULL && !filters_may_have_shelf(hot->filters, user, kind, item.type)) ||
        !filters_may_have_reaction(hot->filters, user, kind, item))
        return time_s;
    return cleared_has(&shard->cleared, key) || user_absent_has(shard, key) ? QUERY_NOT_SET
                                                                            : QUERY_UNKNOWN;
}

uint32_t memory_look_up_one(struct hot_memory *hot, uint64_t hash, const struct cleared_key *key)
{
    struct user_shard *shard = user_shard_of(hot, hash);
    pthread_mutex_lock(&shard->lock);
    uint32_t time_s = look_locked(hot, shard, hash, key);
    pthread_mutex_unlock(&shard->lock);
    return time_s;
}

/*
 * Sets all users of a group to QUERY_NOT_SET for now, and writes those to `out` for whom the filters gave
 * no final "no". Returns how many.
 */
static uint32_t ask_filters(const struct hot_memory *hot, const struct query_lookup *lookup,
                            struct store_listed *users, uint32_t count, bool stored,
                            struct store_listed **out)
{
    uint64_t keys[GROUP];
    uint32_t left = 0;
    for (uint32_t i = 0; stored && i < count; i++)
        keys[i] = filters_prefetch_reaction(hot->filters, users[i].id, lookup->kind, lookup->item);
    for (uint32_t i = 0; i < count; i++) {
        users[i].time_s = QUERY_NOT_SET;
        if (!stored || filters_may_have_key(hot->filters, keys[i]))
            out[left++] = &users[i];
    }
    return left;
}

/* Returns how many users are QUERY_UNKNOWN. */
static uint32_t look_at_group(struct hot_memory *hot, const struct query_lookup *lookup,
                              struct store_listed *group, uint32_t count, bool stored)
{
    struct cleared_key key = {.item = lookup->item, .kind = lookup->kind};
    struct store_listed *users[GROUP];
    uint64_t hashes[GROUP];
    const struct table_bucket *buckets[GROUP];
    uint32_t next[GROUP];
    uint32_t unknown = 0;
    count = ask_filters(hot, lookup, group, count, stored, users);
    for (uint32_t i = 0; i < count; i++) {
        hashes[i] = user_hash_of(hot, users[i]->id);
        buckets[i] = table_prefetch(&user_shard_of(hot, hashes[i])->table, hashes[i]);
    }
    for (uint32_t i = 0; i < count; i++)
        next[i] = user_prefetch(user_shard_of(hot, hashes[i]), buckets[i], hashes[i]);
    for (uint32_t i = 0; i < count; i++)
        user_prefetch_on(user_shard_of(hot, hashes[i]), next[i], hashes[i]);
    for (uint32_t i = 0; i < count; i++) {
        key.user = users[i]->id;
        users[i]->time_s = memory_look_up_one(hot, hashes[i], &key);
        unknown += users[i]->time_s == QUERY_UNKNOWN;
    }
    return unknown;
}

uint32_t memory_look_up(struct query_tier *tier, const struct query_lookup *lookup)
{
    struct hot_memory *hot = memory_tier_of(tier)->hot;
    bool stored =
        hot->filters != NULL && catch_up_is_done(hot, catch_up_item_position(hot, lookup->item));
    uint32_t unknown = 0;
    for (uint32_t from = 0; from < lookup->count && (unknown == 0 || tier->may_wait);
         from += GROUP) {
        uint32_t left = lookup->count - from;
        unknown +=
            look_at_group(hot, lookup, lookup->users + from, left < GROUP ? left : GROUP, stored);
    }
    return unknown;
}

/* If memory has the state of the reaction, memory is right; otherwise the store's answer is cached. */
static uint32_t settle_one(struct hot_memory *hot, const struct store_reaction *read)
{
    uint64_t hash = user_hash_of(hot, read->user);
    struct user_shard *shard = user_shard_of(hot, hash);
    struct cleared_key key = {.user = read->user, .item = read->item, .kind = read->kind};
    pthread_mutex_lock(&shard->lock);
    uint32_t time_s = look_locked(hot, shard, hash, &key);
    if (time_s == QUERY_UNKNOWN) {
        time_s = read->time_s;
        if (time_s != QUERY_NOT_SET)
            hot_memory_warm(hot, shard, hash, read->user, read->kind, read->item, time_s);
        else
            user_absent_add(shard, &key);
    }
    pthread_mutex_unlock(&shard->lock);
    return time_s;
}

void memory_settle(struct query_tier *tier, struct store_reaction *read, size_t count)
{
    struct hot_memory *hot = memory_tier_of(tier)->hot;
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        found += read[i].time_s != QUERY_NOT_SET;
        read[i].time_s = settle_one(hot, &read[i]);
    }
    loads_count_found(&hot->loads, found, count);
}

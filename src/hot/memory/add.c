/*
 * Adding to a counter. Only the item's shard is locked. A token is remembered in the same step as
 * the addition it belongs to; the limit on tokens holds over all shards together, so before one is
 * refused, all shards are looked through for tokens that have expired (at most once a second).
 */
#include "base/assert.h"
#include "hot/memory/hot_memory_priv.h"

#define EXPIRE_MOST 64   /* tokens let go of by one addition */
#define SWEEP_MOST  4096 /* and in one shard by looking through all */

static void expire(struct hot_memory *hot, struct item_shard *shard, uint32_t time_s, uint64_t most)
{
    uint64_t count = tokens_expire(&shard->tokens, time_s, hot->token_ttl_s, most);
    if (count != 0)
        atomic_fetch_sub_explicit(&hot->token_count, count, memory_order_relaxed);
}

static enum status token_reserve(struct hot_memory *hot, struct item_shard *shard,
                                 const uint64_t token[2], uint32_t *cell)
{
    uint64_t before = atomic_fetch_add_explicit(&hot->token_count, 1, memory_order_relaxed);
    enum status status = STATUS_TOKENS_FULL;
    if (before < hot->token_max) {
        *cell = tokens_reserve(&shard->tokens, token);
        if (*cell != 0)
            return STATUS_OK;
        status = STATUS_NO_MEMORY;
    }
    atomic_fetch_sub_explicit(&hot->token_count, 1, memory_order_relaxed);
    return status;
}

static void add_record(struct hot_memory *hot, const struct hot_request *request)
{
    if (hot->journal == NULL)
        return;
    struct event event = {
        .type = EVENT_ADD,
        .name = request->name,
        .time_s = request->time_s,
        .has_token = request->has_token,
        .item = request->items[0],
        .delta = request->delta,
        .token = {request->token[0], request->token[1]},
    };
    journal_append(hot->journal, &event);
}

static enum status add_change(struct hot_memory *hot, struct item_shard *shard,
                              struct hot_request *request, uint64_t hash)
{
    struct item_slot slot;
    uint32_t cell = 0;
    enum status status =
        item_reserve(shard, hash, request->items[0], request->name, request->delta, &slot);
    if (status != STATUS_OK)
        return status;
    if (request->has_token) {
        status = token_reserve(hot, shard, request->token, &cell);
        if (status != STATUS_OK) {
            item_release(shard, hash, &slot);
            return status;
        }
        tokens_add(&shard->tokens, cell, request->token);
    }
    request->value = item_add(&slot, request->name, request->delta, request->time_s);
    add_record(hot, request);
    return STATUS_OK;
}

static enum status add_decide(struct hot_memory *hot, struct item_shard *shard,
                              struct hot_request *request, uint64_t hash)
{
    bool again = false;
    if (request->has_token) {
        expire(hot, shard, request->time_s, EXPIRE_MOST);
        again = tokens_has(&shard->tokens, request->token, hot->token_ttl_s);
    }
    if (!again && request->delta != 0)
        return add_change(hot, shard, request, hash);
    struct item_row *row = item_find(shard, hash, request->items[0]);
    request->value = item_value(row, request->name);
    if (row != NULL)
        row->time_s = request->time_s;
    return STATUS_OK;
}

/* False if that was done already within this second. */
static bool sweep(struct hot_memory *hot, uint32_t time_s)
{
    if (atomic_exchange_explicit(&hot->token_sweep_s, time_s, memory_order_relaxed) == time_s)
        return false;
    for (uint32_t i = 0; i < LIMIT_SHARDS; i++) {
        struct item_shard *shard = &hot->items[i];
        pthread_mutex_lock(&shard->lock);
        expire(hot, shard, time_s, SWEEP_MOST);
        pthread_mutex_unlock(&shard->lock);
    }
    return true;
}

static void add_locked(struct hot_memory *hot, struct hot_request *request, uint64_t hash)
{
    struct item_shard *shard = item_shard_of(hot, hash);
    pthread_mutex_lock(&shard->lock);
    request->status = add_decide(hot, shard, request, hash);
    pthread_mutex_unlock(&shard->lock);
}

void hot_memory_add(struct hot_memory *hot, struct hot_request *request, struct hot_trail trail)
{
    add_locked(hot, request, trail.item);
    if (request->status == STATUS_TOKENS_FULL && sweep(hot, request->time_s))
        add_locked(hot, request, trail.item);
}

/* A recorded token counts even past the limit: it is the limit that was changed. */
static enum status token_restore(struct hot_memory *hot, struct item_shard *shard,
                                 const struct event *event)
{
    expire(hot, shard, event->time_s, EXPIRE_MOST);
    uint32_t cell = tokens_reserve(&shard->tokens, event->token);
    if (cell == 0)
        return STATUS_NO_MEMORY;
    atomic_fetch_add_explicit(&hot->token_count, 1, memory_order_relaxed);
    tokens_add(&shard->tokens, cell, event->token);
    return STATUS_OK;
}

enum status hot_memory_apply_add(struct hot_memory *hot, const struct event *event,
                                 struct hot_trail trail, uint32_t now_s)
{
    struct item_shard *shard = item_shard_of(hot, trail.item);
    struct item_slot slot;
    pthread_mutex_lock(&shard->lock);
    enum status status =
        item_reserve(shard, trail.item, event->item, event->name, event->delta, &slot);
    if (status == STATUS_COUNTER_OVERFLOW)
        status = STATUS_DAMAGED;
    if (status == STATUS_OK) {
        if (event->has_token && (uint64_t)event->time_s + hot->token_ttl_s >= now_s)
            status = token_restore(hot, shard, event);
        if (status == STATUS_OK)
            item_add(&slot, event->name, event->delta, event->time_s);
        else
            item_release(shard, trail.item, &slot);
    }
    pthread_mutex_unlock(&shard->lock);
    return status;
}

/*
 * Adding to a counter. Only the item's shard is locked. A token is remembered in the same step as
 * its addition. The limit on tokens is for all shards together, so before a token is refused, expired
 * tokens are removed in all shards (at most once a second).
 *
 * Tokens expire by recorded times alone (hot_memory_time), in memory and in the store. So a start finds
 * the same tokens that memory had, and no more than there was memory for. For this, a token that memory
 * has removed as expired must never become valid again; therefore no event gets an earlier time than
 * the time at which tokens were last removed.
 */
#include "base/assert.h"
#include "filter/filters.h"
#include "hot/memory/hot_memory_priv.h"

#define EXPIRE_MOST     64   /* tokens that one addition removes */
#define EXPIRE_ALL_MOST 4096 /* tokens that are removed in one shard when all shards are visited */
#define FOUND_FRACTION  4    /* a start accepts 1/4 more tokens than there may be */

/*
 * A start may find a few more tokens than there is memory for: those that the earlier run removed just
 * before it ended. If there are many more, the earlier run had more memory. Without a store there is no
 * bound, because tokens cannot take memory that the tier needs for eviction.
 */
void hot_memory_bound_tokens(struct hot_memory *hot, uint64_t most, uint64_t bytes)
{
    uint64_t room = bytes / TOKEN_BYTES;
    hot->token_max = bytes != 0 && room < most ? room : most;
    hot->token_found_max =
        bytes != 0 && hot->store != NULL ? room + room / FOUND_FRACTION : UINT64_MAX;
}

/* The time that a decision at this time would get. */
static uint32_t time_of(const struct hot_memory *hot, uint32_t time_s)
{
    uint32_t floor_s = atomic_load_explicit(&hot->floor_s, memory_order_relaxed);
    return time_s > floor_s ? time_s : floor_s;
}

static void expire(struct hot_memory *hot, struct item_shard *shard, uint32_t time_s, uint64_t most)
{
    uint32_t now_s = time_of(hot, time_s);
    uint64_t count = tokens_expire(&shard->tokens, now_s, hot->token_ttl_s, most);
    if (count == 0)
        return;
    hot_memory_time(hot, now_s);
    atomic_fetch_sub_explicit(&hot->token_count, count, memory_order_relaxed);
}

uint64_t hot_memory_token_value(struct hot_memory *hot, struct item_shard *shard,
                                const uint64_t token[2], uint32_t time_s)
{
    expire(hot, shard, time_s, EXPIRE_MOST);
    return tokens_value(&shard->tokens, token, time_of(hot, time_s), hot->token_ttl_s);
}

enum status hot_memory_token_reserve(struct hot_memory *hot, struct item_shard *shard,
                                     const uint64_t token[2], uint64_t value, uint32_t *cell)
{
    uint64_t before = atomic_fetch_add_explicit(&hot->token_count, 1, memory_order_relaxed);
    enum status status = STATUS_TOKENS_FULL;
    if (before < hot->token_max) {
        *cell = tokens_reserve(&shard->tokens, token, value);
        if (*cell != 0)
            return STATUS_OK;
        status = STATUS_NO_MEMORY;
    }
    atomic_fetch_sub_explicit(&hot->token_count, 1, memory_order_relaxed);
    return status;
}

void hot_memory_token_release(struct hot_memory *hot, struct item_shard *shard, uint64_t value,
                              uint32_t cell)
{
    tokens_release(&shard->tokens, cell, value);
    atomic_fetch_sub_explicit(&hot->token_count, 1, memory_order_relaxed);
}

/* Records the event and returns its stamp. */
static uint32_t add_record(struct hot_memory *hot, const struct hot_request *request,
                           uint32_t time_s)
{
    if (hot->journal == NULL)
        return hot->replay_stamp;
    struct event event = {
        .type = EVENT_ADD,
        .name = request->name,
        .time_s = time_s,
        .has_token = request->change.has_token,
        .item = request->items[0],
        .delta = request->change.delta,
        .token = {request->change.token[0], request->change.token[1]},
    };
    return stamp_of(journal_append(hot->journal, &event));
}

static enum status add_change(struct hot_memory *hot, struct item_shard *shard,
                              struct hot_request *request, uint64_t hash, uint32_t row)
{
    uint32_t cell = 0;
    enum status status =
        item_reserve(shard, hash, request->items[0], request->name, request->change.delta, 0, &row);
    if (status != STATUS_OK)
        return status;
    uint32_t time_s = hot_memory_time(hot, request->time_s);
    if (request->change.has_token) {
        status = hot_memory_token_reserve(hot, shard, request->change.token, 0, &cell);
        if (status != STATUS_OK)
            return status;
        tokens_add(&shard->tokens, cell, request->change.token, time_s, 0);
    }
    request->change.value = item_add(shard, item_at(shard, row), request->name,
                                     request->change.delta, add_record(hot, request, time_s));
    return STATUS_OK;
}

/* BLOCKED: the counter's value is not in memory. */
static enum status add_decide(struct hot_memory *hot, struct item_shard *shard,
                              struct hot_request *request, uint64_t hash)
{
    uint32_t cell = item_cell(shard, hash, request->items[0]);
    struct item_row *row = item_at(shard, cell);
    if (request->change.has_token)
        expire(hot, shard, request->time_s,
               EXPIRE_MOST); /* first, because the addition may have to wait */
    if (row == NULL ? hot->filters != NULL &&
                          filter_said(&shard->denied,
                                      filters_may_have_item(hot->filters, request->items[0]))
                    : (row->flags & ITEM_PARTIAL) != 0)
        return STATUS_BLOCKED;
    bool again =
        request->change.has_token && tokens_has(&shard->tokens, request->change.token,
                                                time_of(hot, request->time_s), hot->token_ttl_s);
    if (!again && request->change.delta != 0)
        return add_change(hot, shard, request, hash, cell);
    request->change.value = item_value(row, request->name);
    if (row != NULL)
        item_touch(row);
    return STATUS_OK;
}

void hot_memory_expire_tokens(struct hot_memory *hot, uint32_t now_s)
{
    for (uint32_t i = 0; i < LIMIT_SHARDS; i++) {
        struct item_shard *shard = &hot->items[i];
        pthread_mutex_lock(&shard->lock);
        expire(hot, shard, now_s, EXPIRE_ALL_MOST);
        pthread_mutex_unlock(&shard->lock);
    }
}

bool hot_memory_expire_all(struct hot_memory *hot, uint32_t time_s)
{
    time_s = time_of(hot, time_s);
    if (atomic_exchange_explicit(&hot->token_expired_s, time_s, memory_order_relaxed) == time_s)
        return false;
    hot_memory_expire_tokens(hot, time_s);
    return true;
}

static void add_locked(struct hot_memory *hot, struct hot_request *request, uint64_t hash)
{
    struct item_shard *shard = item_shard_of(hot, hash);
    pthread_mutex_lock(&shard->lock);
    request->status = add_decide(hot, shard, request, hash);
    pthread_mutex_unlock(&shard->lock);
}

enum hot_need hot_memory_add(struct hot_memory *hot, struct hot_request *request,
                             struct hot_trail trail)
{
    add_locked(hot, request, trail.item);
    if (request->status == STATUS_TOKENS_FULL && hot_memory_expire_all(hot, request->time_s))
        add_locked(hot, request, trail.item);
    if (request->status == STATUS_BLOCKED)
        return NEED_ITEM;
    hot_note_room(hot, request->status, request->status == STATUS_OK);
    return request->status == STATUS_NO_MEMORY && hot->store != NULL ? NEED_MEMORY : NEED_NOTHING;
}

/* A cell for a recorded token, which is kept even above token_max: the option may have been changed. */
static uint32_t token_found(struct hot_memory *hot, struct item_shard *shard,
                            const uint64_t token[2], uint64_t value)
{
    if (atomic_load_explicit(&hot->token_count, memory_order_relaxed) >= hot->token_found_max)
        return 0;
    uint32_t cell = tokens_reserve(&shard->tokens, token, value);
    if (cell != 0)
        atomic_fetch_add_explicit(&hot->token_count, 1, memory_order_relaxed);
    return cell;
}

enum status hot_memory_token_replay(struct hot_memory *hot, struct item_shard *shard,
                                    const uint64_t token[2], uint32_t time_s, uint64_t value)
{
    expire(hot, shard, time_s, EXPIRE_MOST);
    uint32_t cell = token_found(hot, shard, token, value);
    if (cell == 0)
        return STATUS_NO_MEMORY;
    tokens_add(&shard->tokens, cell, token, time_s, value);
    return STATUS_OK;
}

enum status hot_memory_restore_token(struct hot *base, struct item item, const uint64_t token[2],
                                     uint32_t time_s, uint64_t value)
{
    struct hot_memory *hot = hot_memory_of(base);
    struct item_shard *shard = item_shard_of(hot, item_hash_of(hot, item));
    pthread_mutex_lock(&shard->lock);
    uint32_t cell = token_found(hot, shard, token, value);
    if (cell != 0)
        tokens_add(&shard->tokens, cell, token, time_s, value);
    pthread_mutex_unlock(&shard->lock);
    return cell != 0 ? STATUS_OK : STATUS_NO_MEMORY;
}

enum status hot_memory_apply_add(struct hot_memory *hot, const struct event *event,
                                 struct hot_trail trail, uint32_t now_s)
{
    struct item_shard *shard = item_shard_of(hot, trail.item);
    hot_memory_time(hot, event->time_s);
    pthread_mutex_lock(&shard->lock);
    uint32_t cell = item_cell(shard, trail.item, event->item);
    uint8_t flags = 0;
    if (cell == 0 && hot->filters != NULL && filters_may_have_item(hot->filters, event->item))
        flags = ITEM_PARTIAL;
    enum status status =
        item_reserve(shard, trail.item, event->item, event->name, event->delta, flags, &cell);
    if (status == STATUS_COUNTER_OVERFLOW)
        status = STATUS_DAMAGED;
    if (status == STATUS_OK && event->has_token &&
        (uint64_t)event->time_s + hot->token_ttl_s >= now_s)
        status = hot_memory_token_replay(hot, shard, event->token, event->time_s, 0);
    if (status == STATUS_OK)
        item_add(shard, item_at(shard, cell), event->name, event->delta, hot->replay_stamp);
    pthread_mutex_unlock(&shard->lock);
    return status;
}

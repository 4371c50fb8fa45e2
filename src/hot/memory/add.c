/*
 * Adding to a counter. Only the item's shard is locked. A token is remembered in the same step as
 * the addition it belongs to; the limit on tokens holds over all shards together, so before one is
 * refused, all shards are looked through for tokens that have expired (at most once a second).
 *
 * Tokens age by recorded times alone (hot_memory_time), in memory as in the store: so a start finds
 * what memory had, and no more of them than it had room for. For that, what memory forgets at some time
 * must not be within its time again: nothing is recorded before that time any more.
 */
#include "base/assert.h"
#include "filter/filters.h"
#include "hot/memory/hot_memory_priv.h"

#define EXPIRE_MOST 64   /* tokens let go of by one addition */
#define SWEEP_MOST  4096 /* and in one shard by looking through all */
#define FOUND_PART  4    /* so many parts more than there may be, a start may find */

/*
 * A start may find some more than there is memory for: those that an earlier one forgot just before it
 * ended. Many more are of a server that had more memory. Without a store there is nothing that more of
 * them could crowd out for good.
 */
void hot_memory_bound_tokens(struct hot_memory *hot, uint64_t most, uint64_t bytes)
{
    uint64_t room = bytes / TOKEN_BYTES;
    hot->token_max = bytes != 0 && room < most ? room : most;
    hot->token_found_max = bytes != 0 && hot->store != NULL ? room + room / FOUND_PART : UINT64_MAX;
}

/* What would be recorded at this time. */
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

/* The event's stamp. */
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
        status = token_reserve(hot, shard, request->change.token, &cell);
        if (status != STATUS_OK)
            return status;
        tokens_add(&shard->tokens, cell, request->change.token, time_s);
    }
    request->change.value = item_add(shard, item_at(shard, row), request->name,
                                     request->change.delta, add_record(hot, request, time_s));
    return STATUS_OK;
}

/* BLOCKED: the counter's value is not known here. */
static enum status add_decide(struct hot_memory *hot, struct item_shard *shard,
                              struct hot_request *request, uint64_t hash)
{
    uint32_t cell = item_cell(shard, hash, request->items[0]);
    struct item_row *row = item_at(shard, cell);
    if (request->change.has_token)
        expire(hot, shard, request->time_s, EXPIRE_MOST); /* at first: it may have to wait */
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
        expire(hot, shard, now_s, SWEEP_MOST);
        pthread_mutex_unlock(&shard->lock);
    }
}

/* False if that was done already within this second. */
static bool sweep(struct hot_memory *hot, uint32_t time_s)
{
    if (atomic_exchange_explicit(&hot->token_sweep_s, time_s, memory_order_relaxed) == time_s)
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
    if (request->status == STATUS_TOKENS_FULL && sweep(hot, time_of(hot, request->time_s)))
        add_locked(hot, request, trail.item);
    if (request->status == STATUS_BLOCKED)
        return NEED_ITEM;
    hot_note_room(hot, request->status, request->status == STATUS_OK);
    return request->status == STATUS_NO_MEMORY && hot->store != NULL ? NEED_MEMORY : NEED_NOTHING;
}

/* A cell for a recorded token, which counts even past the limit: it is the limit that was changed. */
static uint32_t token_found(struct hot_memory *hot, struct item_shard *shard,
                            const uint64_t token[2])
{
    if (atomic_load_explicit(&hot->token_count, memory_order_relaxed) >= hot->token_found_max)
        return 0;
    uint32_t cell = tokens_reserve(&shard->tokens, token);
    if (cell != 0)
        atomic_fetch_add_explicit(&hot->token_count, 1, memory_order_relaxed);
    return cell;
}

static enum status token_replay(struct hot_memory *hot, struct item_shard *shard,
                                const uint64_t token[2], uint32_t time_s)
{
    expire(hot, shard, time_s, EXPIRE_MOST);
    uint32_t cell = token_found(hot, shard, token);
    if (cell == 0)
        return STATUS_NO_MEMORY;
    tokens_add(&shard->tokens, cell, token, time_s);
    return STATUS_OK;
}

enum status hot_memory_restore_token(struct hot *base, struct item item, const uint64_t token[2],
                                     uint32_t time_s)
{
    struct hot_memory *hot = hot_memory_of(base);
    struct item_shard *shard = item_shard_of(hot, item_hash_of(hot, item));
    pthread_mutex_lock(&shard->lock);
    uint32_t cell = token_found(hot, shard, token);
    if (cell != 0)
        tokens_add(&shard->tokens, cell, token, time_s);
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
        status = token_replay(hot, shard, event->token, event->time_s);
    if (status == STATUS_OK)
        item_add(shard, item_at(shard, cell), event->name, event->delta, hot->replay_stamp);
    pthread_mutex_unlock(&shard->lock);
    return status;
}

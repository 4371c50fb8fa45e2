/*
 * Opening, running batches, stats. Before a batch runs, three passes bring what it will touch
 * closer: the buckets of its users and items; the rows those point to, or the rest of a full bucket;
 * the newest chunk of each user's first shelf, or the rows in such a rest. A random like is
 * otherwise four or five cache misses, one after the other; overlapped over a batch they cost a
 * third.
 *
 * Prefetching takes no lock. It reads only what is never unmapped while the tier is open, in words that
 * are written whole. What it reads may be outdated, or not be a row any more: an address made from
 * that costs a cache line and nothing else.
 */
#include "hot/memory/hot_memory_priv.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/names.h"
#include "filter/filters.h"
#include "hot/memory/queries.h"

static bool needs_user(enum hot_action action)
{
    return action != HOT_ADD && action != HOT_COUNTS && action != HOT_LIST_REACTORS &&
           action != HOT_DROP && action != HOT_TOP && action != HOT_NAMES;
}

static bool changes_item(enum hot_action action)
{
    return action == HOT_SET || action == HOT_CLEAR || action == HOT_ADD;
}

/* Which sides of a request or event have a trail. */
enum {
    TRAIL_USER = 1,
    TRAIL_ITEM = 2,
};

/* How far a trail has been followed: the buckets, then what table_prefetch_next found in them. */
struct trail_ahead {
    const struct table_bucket *user_bucket; /* NULL: that side has no trail */
    const struct table_bucket *item_bucket;
    uint32_t user;
    uint32_t item;
};

static void trails_prefetch(struct hot_memory *hot, const struct hot_trail *trails,
                            const uint8_t *sides, size_t count)
{
    struct trail_ahead ahead[LIMIT_BATCH];
    for (size_t i = 0; i < count; i++) {
        struct hot_trail trail = trails[i];
        ahead[i] = (struct trail_ahead){0};
        if (sides[i] & TRAIL_USER)
            ahead[i].user_bucket =
                table_prefetch(&user_shard_of(hot, trail.user)->table, trail.user);
        if (sides[i] & TRAIL_ITEM)
            ahead[i].item_bucket =
                table_prefetch(&item_shard_of(hot, trail.item)->table, trail.item);
    }
    for (size_t i = 0; i < count; i++) {
        struct hot_trail trail = trails[i];
        ahead[i].user =
            user_prefetch(user_shard_of(hot, trail.user), ahead[i].user_bucket, trail.user);
        ahead[i].item = table_prefetch_next(&item_shard_of(hot, trail.item)->table,
                                            ahead[i].item_bucket, trail.item, ITEM_ROW_SHORT);
    }
    for (size_t i = 0; i < count; i++) {
        struct hot_trail trail = trails[i];
        user_prefetch_on(user_shard_of(hot, trail.user), ahead[i].user, trail.user);
        table_prefetch_rest(&item_shard_of(hot, trail.item)->table, ahead[i].item, trail.item,
                            ITEM_ROW_SHORT);
    }
}

/* False: it needs the store, or memory that only the keeper can free; nothing has changed. */
static bool run_one(struct hot_memory *hot, struct hot_request *request, struct hot_trail trail,
                    struct hot_scratch *scratch)
{
    switch (request->action) {
    case HOT_SET:
        return hot_memory_set(hot, request, trail, NULL) == NEED_NOTHING;
    case HOT_CLEAR:
        return hot_memory_clear(hot, request, trail, NULL) == NEED_NOTHING;
    case HOT_ADD:
        return hot_memory_add(hot, request, trail) == NEED_NOTHING;
    case HOT_ASK:
        return hot_memory_ask(hot, request, trail, LOAD_NOBODY);
    case HOT_COUNTS:
        return hot_memory_counts(hot, request, scratch, LOAD_NOBODY);
    case HOT_FEED:
        return hot_memory_feed(hot, request, trail, scratch, LOAD_NOBODY);
    case HOT_TOP:
        return hot_memory_top(hot, request, scratch, LOAD_NOBODY);
    case HOT_NAMES:
        return true;
    default:
        return hot_memory_query(hot, request, trail, scratch, LOAD_NOBODY);
    }
}

static struct hot_trail trail_of(const struct hot_memory *hot, const struct hot_request *request,
                                 uint8_t *sides)
{
    struct hot_trail trail = {0};
    *sides = (needs_user(request->action) ? TRAIL_USER : 0) |
             (changes_item(request->action) ? TRAIL_ITEM : 0);
    if (*sides & TRAIL_USER)
        trail.user = user_hash_of(hot, request->user);
    if (*sides & TRAIL_ITEM)
        trail.item = item_hash_of(hot, request->items[0]);
    return trail;
}

/* A user's shelf seldom has all, so the filters are asked of nearly every reaction to be set. */
static void filters_ahead(const struct hot_memory *hot, const struct hot_request *requests,
                          size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (requests[i].action == HOT_SET)
            filters_prefetch_reaction(hot->filters, requests[i].user, requests[i].name,
                                      requests[i].items[0]);
}

/* Returns how many were run. */
static size_t run_batch(struct hot_memory *hot, struct hot_request *requests, size_t count,
                        struct hot_scratch *scratch)
{
    struct hot_trail trails[LIMIT_BATCH];
    uint8_t sides[LIMIT_BATCH];
    for (size_t i = 0; i < count; i++)
        trails[i] = trail_of(hot, &requests[i], &sides[i]);
    if (count > 1 && hot->filters != NULL)
        filters_ahead(hot, requests, count);
    if (count > 1)
        trails_prefetch(hot, trails, sides, count);
    for (size_t i = 0; i < count; i++)
        if (!run_one(hot, &requests[i], trails[i], scratch))
            return i;
    return count;
}

static size_t hot_memory_run(struct hot *base, struct hot_request *requests, size_t count,
                             struct hot_scratch *scratch)
{
    struct hot_memory *hot = hot_memory_of(base);
    size_t done = 0;
    while (done < count) {
        size_t some = count - done < LIMIT_BATCH ? count - done : LIMIT_BATCH;
        size_t ran = run_batch(hot, requests + done, some, scratch);
        done += ran;
        if (ran < some)
            break;
    }
    return done;
}

static enum hot_need change_once(struct hot_memory *hot, struct hot_request *request,
                                 struct hot_trail trail, const struct hot_reads *reads)
{
    return request->action == HOT_SET     ? hot_memory_set(hot, request, trail, reads)
           : request->action == HOT_CLEAR ? hot_memory_clear(hot, request, trail, reads)
                                          : hot_memory_add(hot, request, trail);
}

/*
 * Reads what it takes to decide, and decides. With `share`, if another worker is reading any of that,
 * it waits for that one instead, and still needs to know: memory mostly does by then.
 */
static enum hot_need change_reading(struct hot_memory *hot, unsigned worker,
                                    struct hot_request *request, struct hot_trail trail, bool share)
{
    struct hot_reads reads;
    uint64_t claims[1 + LIMIT_EXCLUSIVE];
    bool mine[1 + LIMIT_EXCLUSIVE];
    enum hot_need need = NEED_NOTHING;
    hot_memory_keys(hot, request, &reads);
    for (uint32_t i = 0; i < reads.count; i++)
        claims[i] = claim_of(hot, trail.user, reads.keys[i].item, reads.keys[i].kind);
    load_begin(&hot->loads, worker);
    bool alone =
        !share || load_claim(&hot->loads, worker, claims, reads.count, mine) == reads.count;
    if (alone)
        request->status = load_reactions(hot, worker, reads.keys, reads.count);
    if (alone && request->status == STATUS_OK)
        need = change_once(hot, request, trail, &reads);
    load_end(&hot->loads, worker);
    if (share) /* after the change: those who wait find it in memory */
        load_claim_end(&hot->loads, worker, claims, reads.count, mine);
    return alone ? need : NEED_REACTIONS;
}

/* Tries, gets what that needs, and tries again. */
static void change_blocking(struct hot_memory *hot, unsigned worker, struct hot_request *request,
                            struct hot_trail trail)
{
    bool read = false;
    bool share = true;
    for (unsigned tries = 0;;) {
        request->status = STATUS_OK;
        enum hot_need need = read ? change_reading(hot, worker, request, trail, share)
                                  : change_once(hot, request, trail, NULL);
        share = share && !(read && need == NEED_REACTIONS); /* nobody is waited for twice */
        read = need == NEED_REACTIONS && !read;
        if (need == NEED_ITEM) {
            request->status = load_items(hot, worker, request->items, 1);
            if (request->status == STATUS_NO_MEMORY)
                need = NEED_MEMORY;
            else if (request->status != STATUS_OK)
                return;
        }
        if (need == NEED_NOTHING || (need == NEED_MEMORY && !keeper_wait(hot, tries++)))
            return;
    }
}

static bool reads_items(enum hot_action action)
{
    return changes_item(action) || action == HOT_COUNTS || action == HOT_FEED;
}

/*
 * Reads the items of all requests in one go: one at a time costs the store many times as much. What
 * fails here is met again, and told, by the request that needs it.
 */
static void load_ahead(struct hot_memory *hot, unsigned worker, const struct hot_request *requests,
                       size_t count)
{
    struct item items[LOAD_KEYS];
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        size_t some = reads_items(requests[i].action) ? requests[i].item_count : 0;
        if (some > LOAD_KEYS - used)
            break;
        for (size_t j = 0; j < some; j++)
            items[used++] = requests[i].items[j];
    }
    if (used > 0)
        load_items(hot, worker, items, used);
}

static void hot_memory_run_blocking(struct hot *base, unsigned worker, struct hot_request *requests,
                                    size_t count, struct hot_scratch *scratch)
{
    struct hot_memory *hot = hot_memory_of(base);
    if (count > 1 && hot->store != NULL)
        load_ahead(hot, worker, requests, count);
    for (size_t i = 0; i < count; i++) {
        struct hot_request *request = &requests[i];
        uint8_t sides;
        struct hot_trail trail = trail_of(hot, request, &sides);
        if (changes_item(request->action))
            change_blocking(hot, worker, request, trail);
        else if (request->action == HOT_ASK)
            hot_memory_ask(hot, request, trail, worker);
        else if (request->action == HOT_COUNTS)
            hot_memory_counts(hot, request, scratch, worker);
        else if (request->action == HOT_FEED)
            hot_memory_feed(hot, request, trail, scratch, worker);
        else if (request->action == HOT_TOP)
            hot_memory_top(hot, request, scratch, worker);
        else if (request->action != HOT_NAMES)
            hot_memory_query(hot, request, trail, scratch, worker);
    }
}

static enum status apply_one(struct hot_memory *hot, const struct event *event,
                             struct hot_trail trail, uint32_t now_s)
{
    switch (event->type) {
    case EVENT_SET:
        return hot_memory_apply_set(hot, event, trail);
    case EVENT_CLEAR:
        return hot_memory_apply_clear(hot, event, trail);
    case EVENT_ADD:
        return hot_memory_apply_add(hot, event, trail, now_s);
    default:
        return STATUS_DAMAGED;
    }
}

static enum status apply_batch(struct hot_memory *hot, const struct event *events, size_t count,
                               uint32_t now_s)
{
    struct hot_trail trails[LIMIT_BATCH];
    uint8_t sides[LIMIT_BATCH];
    for (size_t i = 0; i < count; i++) {
        sides[i] = events[i].type == EVENT_ADD ? TRAIL_ITEM : TRAIL_USER | TRAIL_ITEM;
        trails[i].user = user_hash_of(hot, events[i].user);
        trails[i].item = item_hash_of(hot, events[i].item);
    }
    trails_prefetch(hot, trails, sides, count);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        status = apply_one(hot, &events[i], trails[i], now_s);
    return status;
}

enum status hot_memory_apply(struct hot *base, const struct event *events, size_t count,
                             uint64_t position, uint32_t now_s)
{
    struct hot_memory *hot = hot_memory_of(base);
    ASSERT(hot->journal == NULL);
    hot->replay_stamp = stamp_of(position);
    enum status status = STATUS_OK;
    while (count != 0 && status == STATUS_OK) {
        size_t some = count < LIMIT_BATCH ? count : LIMIT_BATCH;
        status = apply_batch(hot, events, some, now_s);
        events += some;
        count -= some;
    }
    return status;
}

static enum status hot_memory_admit(struct hot *base)
{
    struct hot_memory *hot = hot_memory_of(base);
    bool may = slab_pool_has_page(hot->pool) ||
               (hot->store != NULL ? keeper_is_patient(&hot->keeper) : !atomic_load(&hot->refused));
    return may ? STATUS_OK : STATUS_NO_MEMORY;
}

static void hot_memory_stats(struct hot *base, struct hot_stats *out)
{
    struct hot_memory *hot = hot_memory_of(base);
    *out = (struct hot_stats){0};
    for (uint32_t i = 0; i < LIMIT_SHARDS; i++) {
        struct user_shard *users = &hot->users[i];
        pthread_mutex_lock(&users->lock);
        out->users += users->table.rows;
        out->shelves += users->shelves;
        out->reactions += users->reactions;
        out->cleared += users->cleared.table.rows;
        out->filter_no += users->denied;
        pthread_mutex_unlock(&users->lock);
        struct item_shard *items = &hot->items[i];
        pthread_mutex_lock(&items->lock);
        out->items += items->table.rows;
        out->tokens += items->tokens.table.rows;
        out->filter_no += items->denied;
        pthread_mutex_unlock(&items->lock);
    }
    out->item_loads = atomic_load_explicit(&hot->loads.stats.items, memory_order_relaxed);
    out->reaction_loads = atomic_load_explicit(&hot->loads.stats.reactions, memory_order_relaxed);
    out->shared_loads = atomic_load_explicit(&hot->loads.stats.shared, memory_order_relaxed);
    out->filter_hit = atomic_load_explicit(&hot->loads.stats.hits, memory_order_relaxed);
    out->filter_miss = atomic_load_explicit(&hot->loads.stats.misses, memory_order_relaxed);
    const struct keeper *keeper = &hot->keeper;
    out->evicted_users = atomic_load_explicit(&keeper->stats.evicted_users, memory_order_relaxed);
    out->evicted_items = atomic_load_explicit(&keeper->stats.evicted_items, memory_order_relaxed);
    out->expired_items = atomic_load_explicit(&keeper->stats.expired_items, memory_order_relaxed);
    out->emptied_pages = atomic_load_explicit(&keeper->stats.pages, memory_order_relaxed);
    boards_stats(hot, out);
}

static void hot_memory_close(struct hot *base)
{
    struct hot_memory *hot = hot_memory_of(base);
    hot_memory_stop(base);
    keeper_destroy(&hot->keeper);
    removal_progress_destroy(&hot->removals);
    loads_destroy(&hot->loads, hot->store);
    for (uint32_t i = 0; i < LIMIT_SHARDS; i++) {
        user_shard_destroy(&hot->users[i]);
        item_shard_destroy(&hot->items[i]);
    }
    boards_filler_destroy(hot);
    boards_destroy(&hot->boards);
    slab_pool_free(hot->pool);
    memory_release(hot->budget, sizeof(*hot));
    hot->magic = 0;
    free(hot);
}

static const struct hot_ops hot_memory_ops = {
    .name = "memory",
    .run = hot_memory_run,
    .run_blocking = hot_memory_run_blocking,
    .admit = hot_memory_admit,
    .stats = hot_memory_stats,
    .close = hot_memory_close,
};

static uint64_t stored_position(struct hot_memory *hot)
{
    struct store_stats stats;
    store_stats(hot->admin, &stats);
    return stats.position;
}

/*
 * Every shard is put in a state that can be destroyed, whether or not there was memory. What a store
 * has is on no board yet.
 */
static bool shards_init(struct hot_memory *hot)
{
    bool ready = true;
    struct boards *boards = hot->without_boards ? NULL : &hot->boards;
    bool counting = boards != NULL && hot->store != NULL && stored_position(hot) != 0;
    for (uint32_t i = 0; i < LIMIT_SHARDS; i++) {
        ready &= user_shard_init(&hot->users[i], hot->pool, hot->seed);
        ready &= item_shard_init(&hot->items[i], hot->pool);
        board_shard_init(&hot->items[i].boards, boards, counting, false);
    }
    return ready;
}

static struct hot_memory *hot_memory_alloc(struct memory_budget *budget)
{
    struct hot_memory *hot = NULL;
    if (!memory_charge(budget, sizeof(*hot)))
        return NULL;
    if (posix_memalign((void **)&hot, 64, sizeof(*hot)) == 0) {
        memset(hot, 0, sizeof(*hot));
        hot->pool = slab_pool_new(budget);
        if (hot->pool != NULL)
            return hot;
        free(hot);
    }
    memory_release(budget, sizeof(*hot));
    return NULL;
}

/*
 * Of each shard two pages stay whatever is evicted: the one it fills, and that of its table. There must
 * be some more, to be emptied for whoever comes next.
 */
#define PAGES_STAYING (2 * LIMIT_SHARDS * 2)
#define PAGES_LEAST   (PAGES_STAYING + PAGES_STAYING / 4)

/* What has to move out of a page fits in another, or with gaps between cells in two. */
#define MOVE_PAGES 2

uint64_t hot_memory_least(uint64_t budget_bytes)
{
    return (uint64_t)PAGES_LEAST * SLAB_PAGE_BYTES + boards_share(budget_bytes);
}

static bool pool_keep(struct slab_pool *pool, bool least)
{
    uint64_t pages = least ? PAGES_LEAST - MOVE_PAGES : 0;
    return slab_pool_keep(pool, pages * SLAB_PAGE_BYTES, MOVE_PAGES);
}

struct hot *hot_memory_open(const struct hot_memory_options *options)
{
    ASSERT(options->shelf_max != 0 && (options->store != NULL) == (options->filters != NULL));
    ASSERT((options->store != NULL) == (options->admin != NULL));
    struct hot_memory *hot = hot_memory_alloc(options->budget);
    if (hot == NULL)
        return NULL;
    hot->hot.ops = &hot_memory_ops;
    hot->magic = HOT_MEMORY_MAGIC;
    hot->budget = options->budget;
    hot->shelf_max = options->shelf_max;
    hot->token_ttl_s = options->token_ttl_s;
    hot->seed = options->seed;
    hot->scan = scan_choose();
    hot->store = options->store;
    hot->admin = options->admin;
    hot_memory_bound_tokens(hot, options->token_max, options->token_bytes);
    hot->filters = options->filters;
    hot->shelf_age_s = options->shelf_age_s;
    hot->item_ttl_s = options->item_ttl_s;
    loads_init(&hot->loads);
    keeper_init(&hot->keeper);
    removal_progress_init(&hot->removals, hot->seed);
    hot->without_boards = options->without_boards;
    boards_init(&hot->boards, hot->budget, options->board_entries);
    hot->trend = options->trend;
    hot->trend_context = options->trend_context;
    hot->timeline = options->timeline;
    hot_memory_know_kind(&hot->hot, NAME_INDEX_LIKE);
    hot->exclusive = options->exclusive;
    slab_pool_make_ready(hot->pool, options->ready_bytes);
    bool kept = hot->store == NULL || pool_keep(hot->pool, options->keep_least);
    if (!shards_init(hot) || !kept) {
        hot_memory_close(&hot->hot);
        return NULL;
    }
    return &hot->hot;
}

void hot_memory_set_journal(struct hot *base, struct journal *journal)
{
    hot_memory_of(base)->journal = journal;
}

void hot_memory_set_reach(struct hot *base, hot_reach_fn *reach, void *context)
{
    hot_memory_of(base)->reach = reach;
    hot_memory_of(base)->reach_context = context;
}

const _Atomic uint32_t *hot_memory_newest(struct hot *base)
{
    return &hot_memory_of(base)->floor_s;
}

void hot_memory_raise_time(struct hot *base, uint32_t time_s)
{
    hot_memory_time(hot_memory_of(base), time_s);
}

bool hot_memory_start(struct hot *base)
{
    struct hot_memory *hot = hot_memory_of(base);
    ASSERT(hot->store != NULL);
    atomic_store(&hot->loads.applied, stored_position(hot));
    hot->loads.base = store_snapshot(hot->store);
    return hot->loads.base != NULL && keeper_start(hot) &&
           (hot->without_boards || boards_filler_start(hot));
}

void hot_memory_stop(struct hot *base)
{
    struct hot_memory *hot = hot_memory_of(base);
    boards_filler_stop(hot);
    keeper_stop(hot);
}

void hot_memory_projected(struct hot *base, uint64_t position)
{
    atomic_store(&hot_memory_of(base)->loads.applied, position);
}

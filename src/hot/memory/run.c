/*
 * Running requests: in batches on an I/O thread (hot_try), where nothing may wait, and on workers, which
 * may wait; and replaying events. Before a batch runs, three passes prefetch the memory that it will use:
 * the buckets of its users and items; the rows to which these point, or the overflow of a full bucket;
 * the newest chunk of each user's first shelf, or the rows in such an overflow. Without this, a random
 * like has four or five cache misses one after the other. Overlapped over a batch they cost a third.
 *
 * Prefetching takes no lock. It reads only memory that is never unmapped while the tier is open, in words
 * that are written atomically. What it reads may be outdated, or may not be a row any more: then a useless
 * cache line is fetched, and nothing else happens.
 */
#include "base/assert.h"
#include "filter/filters.h"
#include "hot/memory/hot_memory_priv.h"
#include "hot/memory/queries.h"

/* Says whether a request or event has a user, an item or both to prefetch. */
enum {
    TRAIL_USER = 1,
    TRAIL_ITEM = 2,
};

/* The state of prefetching: the buckets, then what table_prefetch_next found in them. */
struct trail_ahead {
    const struct table_bucket *user_bucket; /* NULL: there is no user */
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

static struct hot_trail trail_of(const struct hot_memory *hot, const struct hot_request *request,
                                 uint8_t *sides)
{
    struct hot_trail trail = {0};
    unsigned flags = hot_flags(request->action);
    *sides = (flags & HOT_HAS_USER ? TRAIL_USER : 0) | (flags & HOT_CHANGES_ITEM ? TRAIL_ITEM : 0);
    if (*sides & TRAIL_USER)
        trail.user = user_hash_of(hot, request->user);
    if (*sides & TRAIL_ITEM)
        trail.item = item_hash_of(hot, request->items[0]);
    return trail;
}

/* Shelves are seldom complete, so the filters are asked for nearly every reaction to be set. */
static void filters_ahead(const struct hot_memory *hot, const struct hot_request *requests,
                          size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (requests[i].action == HOT_SET)
            filters_prefetch_reaction(hot->filters, requests[i].user, requests[i].name,
                                      requests[i].items[0]);
}

static enum hot_need change_once(struct hot_memory *hot, struct hot_request *request,
                                 struct hot_trail trail, const struct hot_reads *reads)
{
    return request->action == HOT_SET     ? hot_memory_set(hot, request, trail, reads)
           : request->action == HOT_CLEAR ? hot_memory_clear(hot, request, trail, reads)
                                          : hot_memory_add(hot, request, trail);
}

/*
 * Reads from the store what the decision needs, and decides. With `share`, if another worker is reading
 * any of it, this waits for the other worker instead and returns that it still needs the reactions: the
 * next try mostly finds them in memory.
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
    if (share) /* after the change, so that waiting workers find it in memory */
        load_claim_end(&hot->loads, worker, claims, reads.count, mine);
    return alone ? need : NEED_REACTIONS;
}

/* Tries to decide, gets what the decision needs, and tries again. */
static void change_blocking(struct hot_memory *hot, unsigned worker, struct hot_request *request,
                            struct hot_trail trail)
{
    bool read = false;
    bool share = true;
    for (unsigned tries = 0;;) {
        request->status = STATUS_OK;
        enum hot_need need = read ? change_reading(hot, worker, request, trail, share)
                                  : change_once(hot, request, trail, NULL);
        share =
            share && !(read && need == NEED_REACTIONS); /* do not wait for other workers twice */
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

static bool run_change(struct hot_memory *hot, struct hot_request *request, struct hot_trail trail,
                       struct hot_scratch *scratch, unsigned worker)
{
    (void)scratch;
    if (worker == LOAD_NOBODY)
        return change_once(hot, request, trail, NULL) == NEED_NOTHING;
    change_blocking(hot, worker, request, trail);
    return true;
}

/* The caller reads the table of names itself. */
static bool run_names(struct hot_memory *hot, struct hot_request *request, struct hot_trail trail,
                      struct hot_scratch *scratch, unsigned worker)
{
    (void)hot, (void)request, (void)trail, (void)scratch, (void)worker;
    return true;
}

static hot_action_fn *const actions[HOT_QUEUE + 1] = {
    [HOT_SET] = run_change,
    [HOT_CLEAR] = run_change,
    [HOT_ADD] = run_change,
    [HOT_ASK] = hot_memory_ask,
    [HOT_COUNTS] = hot_memory_counts,
    [HOT_FEED] = hot_memory_feed,
    [HOT_LIST_REACTIONS] = hot_memory_query,
    [HOT_LIST_REACTORS] = hot_memory_query,
    [HOT_FRIENDS] = hot_memory_query,
    [HOT_FORGET] = hot_memory_query,
    [HOT_DROP] = hot_memory_query,
    [HOT_CHANGES] = hot_memory_query,
    [HOT_TOP] = hot_memory_top,
    [HOT_NAMES] = run_names,
    [HOT_COMMENT] = hot_memory_comment,
    [HOT_EDIT] = hot_memory_comment,
    [HOT_UNCOMMENT] = hot_memory_comment,
    [HOT_MODERATE] = hot_memory_comment,
    [HOT_PIN] = hot_memory_comment,
    [HOT_UNPIN] = hot_memory_comment,
    [HOT_PURGE] = hot_memory_comment,
    [HOT_SUBJECT_SET] = hot_memory_comment,
    [HOT_COMMENTS] = hot_memory_query,
    [HOT_CARDS] = hot_memory_query,
    [HOT_WRITTEN] = hot_memory_query,
    [HOT_INBOX] = hot_memory_query,
    [HOT_HISTORY] = hot_memory_query,
    [HOT_SUBJECT] = hot_memory_query,
    [HOT_COMMENT_NEWS] = hot_memory_query,
    [HOT_QUEUE] = hot_memory_query,
    [HOT_BAN] = hot_memory_ban,
    [HOT_SEEN] = hot_memory_seen,
};

/* Runs one request; false: an I/O thread cannot, and nothing has changed. */
static bool run_one(struct hot_memory *hot, struct hot_request *request, struct hot_trail trail,
                    struct hot_scratch *scratch, unsigned worker)
{
    if (hot->store == NULL && (hot_flags(request->action) & HOT_NEEDS_STORE) != 0) {
        request->status = STATUS_NO_STORE;
        return true;
    }
    if (actions[request->action] == NULL) {
        request->status = STATUS_UNKNOWN_COMMAND;
        return true;
    }
    return actions[request->action](hot, request, trail, scratch, worker);
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
        if (!run_one(hot, &requests[i], trails[i], scratch, LOAD_NOBODY))
            return i;
    return count;
}

size_t hot_memory_try(struct hot *base, struct hot_request *requests, size_t count,
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

/*
 * Loads the items of all requests together, because one at a time would cost the store many times as
 * much. If this fails, the request that needs an item meets the error again and reports it.
 */
static void load_ahead(struct hot_memory *hot, unsigned worker, const struct hot_request *requests,
                       size_t count)
{
    struct item items[LOAD_KEYS];
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        bool reads = (hot_flags(requests[i].action) & HOT_READS_ITEMS) != 0;
        size_t some = reads ? requests[i].item_count : 0;
        if (some > LOAD_KEYS - used)
            break;
        for (size_t j = 0; j < some; j++)
            items[used++] = requests[i].items[j];
    }
    if (used > 0)
        load_items(hot, worker, items, used);
}

void hot_memory_run_blocking(struct hot *base, unsigned worker, struct hot_request *requests,
                             size_t count, struct hot_scratch *scratch)
{
    struct hot_memory *hot = hot_memory_of(base);
    ASSERT(worker < LIMIT_WORKERS);
    if (count > 1 && hot->store != NULL)
        load_ahead(hot, worker, requests, count);
    for (size_t i = 0; i < count; i++) {
        uint8_t sides;
        struct hot_trail trail = trail_of(hot, &requests[i], &sides);
        bool ran = run_one(hot, &requests[i], trail, scratch, worker);
        ASSERT(ran);
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
    case EVENT_COMMENT:
        return hot_memory_apply_comment(hot, event, trail, now_s);
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
    hot->replay_position = position;
    enum status status = STATUS_OK;
    while (count != 0 && status == STATUS_OK) {
        size_t some = count < LIMIT_BATCH ? count : LIMIT_BATCH;
        status = apply_batch(hot, events, some, now_s);
        events += some;
        count -= some;
    }
    return status;
}

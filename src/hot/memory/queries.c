#include "hot/memory/queries.h"

#include "base/assert.h"
#include "hot/memory/catch_up.h"
#include "query/changes.h"
#include "query/comment_first.h"
#include "query/comments.h"
#include "query/friends.h"
#include "query/list.h"
#include "query/removal.h"

/* Until read_end, nothing that is changed after this call becomes clean, so none of it is evicted. */
static void memory_read_begin(struct query_tier *tier)
{
    struct memory_tier *memory = memory_tier_of(tier);
    load_begin(&memory->hot->loads, memory->worker);
}

static void memory_read_end(struct query_tier *tier, size_t rows)
{
    struct memory_tier *memory = memory_tier_of(tier);
    load_end(&memory->hot->loads, memory->worker);
    atomic_fetch_add_explicit(&memory->hot->loads.stats.reactions, rows, memory_order_relaxed);
}

static uint64_t memory_item_point(struct query_tier *tier, struct item item)
{
    return catch_up_item_position(memory_tier_of(tier)->hot, item);
}

/*
 * Under the user's lock no decision on this user is in progress: every one that was made is in the
 * journal, and every later one gets a time that is not before the newest recorded time.
 */
static uint64_t memory_user_point(struct query_tier *tier, struct id user, uint32_t *least_s)
{
    struct memory_tier *memory = memory_tier_of(tier);
    struct user_shard *shard = user_shard_of(memory->hot, memory->user_hash);
    (void)user; /* the tier was made for the request of this user, and has the hash */
    pthread_mutex_lock(&shard->lock);
    *least_s = atomic_load(&memory->hot->floor_s);
    uint64_t position = ((uint64_t)*user_changed(shard, memory->user_hash) + 1) << STAMP_SHIFT;
    pthread_mutex_unlock(&shard->lock);
    return position;
}

static enum status memory_reach(struct query_tier *tier, uint64_t point)
{
    return catch_up(memory_tier_of(tier)->hot, point);
}

static bool memory_is_kind(struct query_tier *tier, uint8_t name)
{
    struct hot_memory *hot = memory_tier_of(tier)->hot;
    return atomic_load(&hot->kinds[name >> 6]) >> (name & 63) & 1;
}

static enum status memory_admit(struct query_tier *tier, uint32_t writes)
{
    return admission_piece(&memory_tier_of(tier)->pieces, writes);
}

static void memory_run(struct query_tier *tier, struct hot_request *requests, size_t count,
                       struct hot_scratch *scratch)
{
    struct memory_tier *memory = memory_tier_of(tier);
    hot_memory_run_blocking(&memory->hot->hot, memory->worker, requests, count, scratch);
}

static bool memory_try_run(struct query_tier *tier, struct hot_request *requests, size_t count,
                           struct hot_scratch *scratch)
{
    return hot_memory_try(&memory_tier_of(tier)->hot->hot, requests, count, scratch) == count;
}

static enum status memory_news(struct query_tier *tier, struct item subject, uint64_t after,
                               uint32_t time_s, struct query_news *out)
{
    struct hot_memory *hot = memory_tier_of(tier)->hot;
    uint64_t hash = item_hash_of(hot, subject);
    struct item_shard *shard = item_shard_of(hot, hash);
    pthread_mutex_lock(&shard->lock);
    enum status status = comment_feeds_read(comment_feeds_of(hot, hash), hot->budget, subject, hash,
                                            journal_appended(hot->journal), after, time_s, out);
    pthread_mutex_unlock(&shard->lock);
    return status;
}

static const struct query_tier_functions functions = {
    .newest = memory_newest,
    .merge = memory_merge,
    .look_up = memory_look_up,
    .look_up_grid = memory_look_up_grid,
    .settle = memory_settle,
    .read_begin = memory_read_begin,
    .read_end = memory_read_end,
    .item_point = memory_item_point,
    .user_point = memory_user_point,
    .reach = memory_reach,
    .not_stored = memory_not_stored,
    .is_kind = memory_is_kind,
    .admit = memory_admit,
    .run = memory_run,
    .try_run = memory_try_run,
    .subject = memory_subject,
    .head = memory_head,
    .changed = memory_changed,
    .comments = memory_comments,
    .news = memory_news,
    .comments_point = memory_comments_point,
    .any_comment_point = memory_any_comment_point,
    .forget_comment = memory_forget_comment,
    .remove_comment = memory_remove_comment,
    .forget_user = memory_forget_user,
    .drop_comments = memory_drop_comments,
};

static void run_removal(struct query_tier *tier, struct hot_request *request,
                        struct hot_scratch *scratch)
{
    struct memory_tier *memory = memory_tier_of(tier);
    struct hot_memory *hot = memory->hot;
    memory->pieces = admission_pieces_begin(&hot->admission, &hot->pacers[memory->worker]);
    if (request->action == HOT_FORGET)
        query_forget(tier, request, scratch);
    else
        query_drop(tier, request, scratch);
}

static struct memory_tier tier_of(struct hot_memory *hot, struct hot_trail trail, unsigned worker)
{
    return (struct memory_tier){.tier.functions = &functions,
                                .tier.store = hot->store,
                                .tier.progress = &hot->removals,
                                .tier.may_wait = worker != LOAD_NOBODY,
                                .tier.comment_type = comment_type_of(hot),
                                .tier.dislike = atomic_load(&hot->policy->dislike),
                                .tier.report = atomic_load(&hot->policy->report),
                                .tier.report_at = hot->policy->report_at,
                                .tier.policy = hot->policy,
                                .hot = hot,
                                .worker = worker,
                                .user_hash = trail.user};
}

enum status hot_memory_feed_friends(struct hot_memory *hot, struct hot_request *request,
                                    struct hot_trail trail, struct hot_scratch *scratch,
                                    unsigned worker)
{
    struct memory_tier memory = tier_of(hot, trail, worker);
    return query_feed_friends(&memory.tier, request, scratch);
}

enum status hot_memory_was_open(struct hot_memory *hot, unsigned worker, struct id user,
                                bool *was_open)
{
    struct hot_trail trail = {.user = user_hash_of(hot, user)};
    struct memory_tier memory = tier_of(hot, trail, worker);
    return query_was_open(&memory.tier, user, was_open);
}

bool hot_memory_query(struct hot_memory *hot, struct hot_request *request, struct hot_trail trail,
                      struct hot_scratch *scratch, unsigned worker)
{
    struct memory_tier memory = tier_of(hot, trail, worker);
    switch (request->action) {
    case HOT_LIST_REACTIONS:
        query_list_reactions(&memory.tier, request, scratch);
        break;
    case HOT_LIST_REACTORS:
        query_list_reactors(&memory.tier, request, scratch);
        break;
    case HOT_FRIENDS:
        query_friends(&memory.tier, request, scratch);
        break;
    case HOT_CHANGES:
        query_changes(&memory.tier, request, scratch);
        break;
    case HOT_COMMENTS:
    case HOT_CARDS:
    case HOT_WRITTEN:
    case HOT_INBOX:
    case HOT_HISTORY:
    case HOT_SUBJECT:
    case HOT_COMMENT_NEWS:
    case HOT_QUEUE:
        query_comments(&memory.tier, request, scratch);
        break;
    default:
        ASSERT(request->action == HOT_FORGET || request->action == HOT_DROP);
        if (!memory.tier.may_wait)
            return false;
        run_removal(&memory.tier, request, scratch);
        return true;
    }
    return request->status != STATUS_BLOCKED;
}

/* Opening and closing the tier, statistics, and the functions of the port for admission and release. */
#include "hot/memory/hot_memory_priv.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/names.h"
#include "filter/filters.h"

/* Called by a worker of the pool to run a submission. */
static void run_requests(void *context, unsigned worker, struct hot_request *requests, size_t count,
                         struct hot_scratch *scratch)
{
    hot_memory_run_blocking(context, worker, requests, count, scratch);
}

static void run_submission(void *context, struct pool_worker *worker,
                           struct hot_submission *submission)
{
    struct hot_memory *hot = hot_memory_of(context);
    admission_run(&hot->admission, &hot->pacers[worker->number], worker->number, submission,
                  &worker->scratch, run_requests, context);
}

int hot_memory_start_workers(struct hot *base, unsigned count)
{
    struct hot_memory *hot = hot_memory_of(base);
    ASSERT(hot->workers.workers == NULL);
    return pool_start(&hot->workers, count, hot->timeline, run_submission, base);
}

static bool hot_memory_submit(struct hot *base, struct hot_submission *submission)
{
    return pool_submit(&hot_memory_of(base)->workers, submission);
}

static enum status hot_memory_admit(struct hot *base, const struct hot_pacer *pacer,
                                    uint64_t now_ns)
{
    return admission_admit(&hot_memory_of(base)->admission, pacer, now_ns);
}

static uint64_t hot_memory_wait_ns(struct hot *base, const struct hot_pacer *pacer, uint64_t now_ns)
{
    return admission_wait_ns(&hot_memory_of(base)->admission, pacer, now_ns);
}

static void hot_memory_spend(struct hot *base, struct hot_pacer *pacer, uint32_t writes,
                             uint64_t now_ns)
{
    admission_spend(&hot_memory_of(base)->admission, pacer, writes, now_ns);
}

static uint64_t hot_memory_point(struct hot *base)
{
    return journal_appended(hot_memory_of(base)->journal);
}

static uint64_t hot_memory_released(struct hot *base)
{
    return journal_released(hot_memory_of(base)->journal);
}

static enum status hot_memory_state(struct hot *base)
{
    return journal_state(hot_memory_of(base)->journal);
}

static void hot_memory_kick(struct hot *base)
{
    journal_kick(hot_memory_of(base)->journal);
}

static void hot_memory_listen(struct hot *base, hot_listen_fn *fn, void *context)
{
    admission_listen(&hot_memory_of(base)->admission, fn, context);
}

static const char *hot_memory_sentence(struct hot *base, enum status status)
{
    return admission_sentence(&hot_memory_of(base)->admission, status);
}

static enum status hot_memory_room(struct hot *base)
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
    out->waiting = pool_waiting(&hot->workers);
    out->lag_slow = hot->admission.lag_slow;
    out->lag_max = hot->admission.lag_max;
}

static void hot_memory_refuse_writes(struct hot *base)
{
    atomic_store(&hot_memory_of(base)->admission.stopping, true);
}

/* The threads use the journal, so it must still be open. Also allowed if they never started. */
static void hot_memory_stop(struct hot *base)
{
    struct hot_memory *hot = hot_memory_of(base);
    hot_memory_refuse_writes(base);
    pool_stop(&hot->workers);
    boards_filler_stop(hot);
    keeper_stop(hot);
}

/* What is kept for comments besides the comments themselves. */
static bool comments_open(struct hot_memory *hot, const struct hot_memory_options *options)
{
    static const struct comment_policy no_policy = {
        .dislike = POLICY_NO_NAME,
        .report = POLICY_NO_NAME,
        .type = POLICY_NO_TYPE,
        .report_at = 1,
        .orders = {[0 ... LIMIT_TYPES - 1] = UINT8_MAX}};
    hot->policy = options->comments != NULL ? options->comments : &no_policy;
    bans_init(&hot->bans, hot->budget, hot->seed, 0);
    for (unsigned i = 0; i < SEEN_LOCKS; i++)
        pthread_mutex_init(&hot->seen_locks[i], NULL);
    bool stored = hot->store != NULL;
    uint32_t repeat_s = stored ? hot->policy->repeat_s : 0;
    bool begun = !stored || comments_begin(hot, options);
    hot->heads = stored ? heads_new(hot->budget, options->head_bytes, hot->seed) : NULL;
    return repeats_init(&hot->repeats, hot->budget, hot->seed, repeat_s, 0) && begun &&
           (hot->heads != NULL || !stored);
}

static void comments_close(struct hot_memory *hot)
{
    comments_end(hot);
    bans_destroy(&hot->bans);
    repeats_destroy(&hot->repeats);
    heads_free(hot->heads);
    for (unsigned i = 0; i < SEEN_LOCKS; i++)
        pthread_mutex_destroy(&hot->seen_locks[i]);
}

static void hot_memory_close(struct hot *base)
{
    struct hot_memory *hot = hot_memory_of(base);
    hot_memory_stop(base);
    keeper_destroy(&hot->keeper);
    removal_progress_destroy(&hot->removals);
    comments_close(hot);
    loads_destroy(&hot->loads, hot->store);
    for (uint32_t i = 0; i < LIMIT_SHARDS; i++) {
        user_shard_destroy(&hot->users[i]);
        item_shard_destroy(&hot->items[i]);
        comment_feeds_destroy(&hot->feeds[i], hot->budget);
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
    .try = hot_memory_try,
    .submit = hot_memory_submit,
    .admit = hot_memory_admit,
    .wait_ns = hot_memory_wait_ns,
    .spend = hot_memory_spend,
    .room = hot_memory_room,
    .point = hot_memory_point,
    .released = hot_memory_released,
    .state = hot_memory_state,
    .kick = hot_memory_kick,
    .listen = hot_memory_listen,
    .sentence = hot_memory_sentence,
    .collect = hot_memory_stats,
    .refuse_writes = hot_memory_refuse_writes,
    .stop = hot_memory_stop,
    .close = hot_memory_close,
};

static uint64_t stored_position(struct hot_memory *hot)
{
    struct store_stats stats;
    store_stats(hot->admin, &stats);
    return stats.position;
}

/*
 * Initialises every shard, so that it can be destroyed even if there was no memory. If there is a store,
 * its items are on no board yet.
 */
static bool shards_init(struct hot_memory *hot)
{
    bool ready = true;
    struct boards *boards = hot->without_boards ? NULL : &hot->boards;
    bool counting = boards != NULL && hot->store != NULL && stored_position(hot) != 0;
    for (uint32_t i = 0; i < LIMIT_SHARDS; i++) {
        ready &= user_shard_init(&hot->users[i], hot->pool, hot->seed);
        ready &= item_shard_init(&hot->items[i], hot->pool);
        hot->items[i].comments.budget = &hot->comments.kept;
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
 * Each shard keeps two pages, whatever is evicted: the page that it fills, and the page of its table.
 * There must be some more pages, which can be emptied for the next request that needs memory.
 */
#define PAGES_STAYING (2 * LIMIT_SHARDS * 2)
#define PAGES_LEAST   (PAGES_STAYING + PAGES_STAYING / 4)

/* The data of a page that is emptied fits into one other page, or into two if there are gaps. */
#define RELOCATE_PAGES 2

uint64_t hot_memory_least(uint64_t budget_bytes)
{
    return (uint64_t)PAGES_LEAST * SLAB_PAGE_BYTES + boards_share(budget_bytes);
}

static bool pool_keep(struct slab_pool *pool, bool least)
{
    uint64_t pages = least ? PAGES_LEAST - RELOCATE_PAGES : 0;
    return slab_pool_keep(pool, pages * SLAB_PAGE_BYTES, RELOCATE_PAGES);
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
    hot->boards.wide_type = options->comments != NULL ? &options->comments->type : NULL;
    hot->trend = options->trend;
    hot->trend_context = options->trend_context;
    hot->timeline = options->timeline;
    admission_init(&hot->admission, options->timeline);
    hot_memory_know_kind(&hot->hot, NAME_INDEX_LIKE);
    hot->exclusive = options->exclusive;
    slab_pool_make_ready(hot->pool, options->ready_bytes);
    bool kept = hot->store == NULL || pool_keep(hot->pool, options->keep_least);
    bool opened = comments_open(hot, options);
    if (!shards_init(hot) || !kept || !opened) {
        hot_memory_close(&hot->hot);
        return NULL;
    }
    return &hot->hot;
}

void hot_memory_set_journal(struct hot *base, struct journal *journal)
{
    hot_memory_of(base)->journal = journal;
    hot_memory_of(base)->admission.journal = journal;
    if (comment_type_of(hot_memory_of(base)) != POLICY_NO_TYPE)
        hot_memory_note_erased(hot_memory_of(base), journal_appended(journal));
}

void hot_memory_bound_lag(struct hot *base, uint64_t slow_bytes, uint64_t max_bytes)
{
    ASSERT(slow_bytes <= max_bytes);
    hot_memory_of(base)->admission.lag_slow = slow_bytes;
    hot_memory_of(base)->admission.lag_max = max_bytes;
}

void hot_memory_set_reach(struct hot *base, hot_reach_fn *reach, void *context)
{
    ASSERT(hot_memory_of(base)->workers.workers == NULL);
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
    hot_memory_projected(base, stored_position(hot));
    hot->loads.base = store_snapshot(hot->store);
    return hot->loads.base != NULL && keeper_start(hot) &&
           (hot->without_boards || boards_filler_start(hot));
}

void hot_memory_projected(struct hot *base, uint64_t position)
{
    struct hot_memory *hot = hot_memory_of(base);
    atomic_store(&hot->loads.applied, position);
    admission_projected(&hot->admission, position);
}

uint64_t hot_memory_erased(struct hot *base)
{
    return atomic_load(&hot_memory_of(base)->erased_end);
}

void hot_memory_discard_heads(struct hot *base, const struct item *parents, size_t count)
{
    struct heads *heads = hot_memory_of(base)->heads;
    if (heads != NULL)
        heads_discard(heads, parents, count);
}

void hot_memory_store_failed(struct hot *base, const char *why)
{
    admission_store_failed(&hot_memory_of(base)->admission, why);
}

enum status hot_memory_logged_state(struct hot *base)
{
    return hot_memory_of(base)->admission.logged;
}

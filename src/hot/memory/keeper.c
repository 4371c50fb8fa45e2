#include "hot/memory/keeper.h"

#include <time.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/log.h"
#include "filter/filters.h"
#include "hot/memory/keeper_priv.h"

#define ROUND_MS        100
#define WAIT_TRIES      20
#define FREE_FRACTION   32 /* 1/32 of the limit is kept free */
#define FREE_MIN        MIB(1)
#define FILTER_GROWTH   4 /* a filter's next segment is 4 times its last one */
#define FILTER_FRACTION 4 /* at most 1/4 of the limit is kept free for this segment */
#define EXPIRE_CLEARED  4096
#define TOKENS_MS       1000 /* between two removals of expired tokens */
#define AGE_ROUNDS      2    /* rounds of ageing within --item-ttl */
#define TRIM_ROUNDS     16
#define CUT_MS          30000 /* between two checks for shelves that are too long */
#define WALK_MS_MIN     500   /* between two walks over all shards, whatever the options say */

void keeper_init(struct keeper *keeper)
{
    pthread_mutex_init(&keeper->lock, NULL);
    clock_condition_init(&keeper->asked);
    clock_condition_init(&keeper->turned);
    keeper->patience = WAIT_TRIES;
}

void keeper_destroy(struct keeper *keeper)
{
    pthread_cond_destroy(&keeper->turned);
    pthread_cond_destroy(&keeper->asked);
    pthread_mutex_destroy(&keeper->lock);
}

/* How many bytes must be freed, so that the filters can grow and further writes find memory. */
static uint64_t shortage(struct hot_memory *hot)
{
    struct memory_budget *budget = hot->budget;
    struct filter_stats live = {0};
    struct filter_stats known = {0};
    filters_stats(hot->filters, &live, &known);
    uint64_t limit = budget->limit - budget->reserve;
    uint64_t left = memory_left(budget);
    uint64_t growth = FILTER_GROWTH * (live.bytes > known.bytes ? live.bytes : known.bytes);
    if (growth > limit / FILTER_FRACTION)
        growth = limit / FILTER_FRACTION;
    uint64_t room = filters_room(hot->filters);
    if (growth > room)
        growth = room;
    if (left < growth && slab_pool_shrink(hot->pool, growth - left) > 0)
        left =
            memory_left(budget); /* read again: connections may use more than the limit for data */
    uint64_t wanted =
        growth + (limit / FREE_FRACTION > FREE_MIN ? limit / FREE_FRACTION : FREE_MIN);
    uint64_t free = left + slab_pool_free_pages(hot->pool) * SLAB_PAGE_BYTES;
    return free < wanted ? wanted - free : 0;
}

/*
 * Empties pages of one shard after the other, until there is enough or each was tried. Heads of comments go first:
 * they are only copies of what the store has.
 */
static void relieve(struct hot_memory *hot, uint32_t now_s)
{
    uint64_t bytes = shortage(hot);
    if (bytes > 0 && hot->heads != NULL)
        heads_shrink(hot->heads, bytes);
    for (uint32_t i = 0; i < KEEPER_SHARDS && shortage(hot) > 0; i++) {
        struct walk walk = walk_of(hot, hot->keeper.shard, now_s);
        hot->keeper.shard = (hot->keeper.shard + 1) % KEEPER_SHARDS;
        keeper_empty_pages(&walk);
    }
}

/* True if every_ms have passed; then it notes the time. The first call only notes the time. */
static bool is_due(uint64_t *last_ms, uint64_t now_ms, uint64_t every_ms)
{
    if (*last_ms == 0 || now_ms < *last_ms)
        *last_ms = now_ms;
    if (now_ms - *last_ms < (every_ms > WALK_MS_MIN ? every_ms : WALK_MS_MIN))
        return false;
    *last_ms = now_ms;
    return true;
}

static void expire_cleared(struct hot_memory *hot)
{
    for (uint32_t i = 0; i < LIMIT_SHARDS; i++) {
        struct user_shard *users = &hot->users[i];
        pthread_mutex_lock(&users->lock);
        cleared_expire(&users->cleared, loads_clean(&hot->loads), EXPIRE_CLEARED);
        pthread_mutex_unlock(&users->lock);
    }
}

/* Partial rows of one step. */
struct partial {
    struct item items[LOAD_KEYS];
    size_t count;
    size_t left; /* further rows, for which `items` had no room */
};

static void partial_item(void *context, struct slab *slab, uint32_t cell)
{
    struct partial *partial = context;
    const struct item_row *row = slab_at(slab, cell);
    if (!(row->flags & ITEM_PARTIAL))
        return;
    if (partial->count < LOAD_KEYS)
        partial->items[partial->count++] = item_of(row);
    else
        partial->left++;
}

/*
 * Completes the partial rows of a shard as far as possible, and returns how many there were. The next
 * round finds out whether this succeeded, because another worker may have tried it too, and failed.
 */
static size_t complete_shard(struct hot_memory *hot, struct item_shard *shard)
{
    struct partial partial;
    uint32_t cursor = 0;
    size_t seen = 0;
    do {
        partial.count = partial.left = 0;
        pthread_mutex_lock(&shard->lock);
        cursor = table_visit_some(&shard->table, cursor, LOAD_KEYS / TABLE_SLOTS, partial_item,
                                  &partial);
        pthread_mutex_unlock(&shard->lock);
        seen += partial.count + partial.left;
        if (partial.count > 0)
            load_items(hot, LOAD_KEEPER, partial.items, partial.count);
    } while (cursor != 0);
    return seen;
}

static void complete(struct hot_memory *hot)
{
    size_t seen = 0;
    if (hot->loads.base == NULL) /* without the lock: only this thread writes it */
        return;
    for (uint32_t i = 0; i < LIMIT_SHARDS; i++)
        seen += complete_shard(hot, &hot->items[i]);
    if (seen > 0)
        return;
    pthread_rwlock_wrlock(&hot->loads.base_lock);
    store_release(hot->store, hot->loads.base);
    hot->loads.base = NULL;
    pthread_rwlock_unlock(&hot->loads.base_lock);
}

void keeper_round(struct hot_memory *hot, uint64_t now_ms)
{
    struct keeper *keeper = &hot->keeper;
    uint32_t now_s = (uint32_t)(now_ms / 1000);
    complete(hot);
    expire_cleared(hot);
    if (is_due(&keeper->expired_ms, now_ms, TOKENS_MS))
        hot_memory_expire_tokens(hot, now_s);
    if (hot->comments.genes != NULL)
        keeper_keep_comments(hot);
    relieve(hot, now_s);
    if (is_due(&keeper->aged_ms, now_ms, hot->item_ttl_s * 1000ULL / AGE_ROUNDS))
        keeper_age_items(hot, now_s);
    bool trim = is_due(&keeper->trimmed_ms, now_ms, hot->shelf_age_s * 1000ULL / TRIM_ROUNDS);
    bool cut = is_due(&keeper->cut_ms, now_ms, CUT_MS);
    if (trim || cut)
        keeper_trim_users(hot, now_s, trim);
}

static void *keeper_run(void *argument)
{
    struct hot_memory *hot = argument;
    struct keeper *keeper = &hot->keeper;
    pthread_setname_np(pthread_self(), "keeper");
    pthread_mutex_lock(&keeper->lock);
    while (!keeper->stopping) {
        keeper->wanted = false;
        pthread_mutex_unlock(&keeper->lock);
        uint64_t before = atomic_load(&keeper->stats.pages);
        keeper_round(hot, hot->timeline != NULL ? timeline_now_ms(hot->timeline) : clock_wall_ms());
        uint64_t found =
            shortage(hot) == 0 ? WAIT_TRIES : atomic_load(&keeper->stats.pages) - before;
        pthread_mutex_lock(&keeper->lock);
        keeper->patience =
            found < WAIT_TRIES - keeper->patience ? keeper->patience + (uint32_t)found : WAIT_TRIES;
        keeper->rounds++;
        pthread_cond_broadcast(&keeper->turned);
        struct timespec until = clock_after_ms(ROUND_MS);
        if (!keeper->stopping && !keeper->wanted)
            pthread_cond_timedwait(&keeper->asked, &keeper->lock, &until);
    }
    pthread_mutex_unlock(&keeper->lock);
    return NULL;
}

bool keeper_start(struct hot_memory *hot)
{
    ASSERT(!hot->keeper.running);
    hot->keeper.running = pthread_create(&hot->keeper.thread, NULL, keeper_run, hot) == 0;
    return hot->keeper.running;
}

void keeper_stop(struct hot_memory *hot)
{
    struct keeper *keeper = &hot->keeper;
    if (!keeper->running)
        return;
    pthread_mutex_lock(&keeper->lock);
    keeper->stopping = true;
    pthread_cond_broadcast(&keeper->asked);
    pthread_cond_broadcast(&keeper->turned);
    pthread_mutex_unlock(&keeper->lock);
    pthread_join(keeper->thread, NULL);
    keeper->running = false;
}

/* Called under the lock. */
static bool has_patience(const struct keeper *keeper)
{
    return keeper->patience > 0 && keeper->running && !keeper->stopping;
}

bool keeper_is_patient(struct keeper *keeper)
{
    pthread_mutex_lock(&keeper->lock);
    bool patient = has_patience(keeper);
    pthread_mutex_unlock(&keeper->lock);
    return patient;
}

/* A round may be in progress, so this waits for one that begins after the call. */
bool keeper_wait(struct hot_memory *hot, unsigned tries)
{
    struct keeper *keeper = &hot->keeper;
    if (tries >= WAIT_TRIES)
        return false;
    pthread_mutex_lock(&keeper->lock);
    uint64_t until_round = keeper->rounds + 2;
    struct timespec until = clock_after_ms(ROUND_MS);
    int result = 0;
    bool patient = has_patience(keeper);
    keeper->patience -= patient;
    while (patient && !keeper->stopping && keeper->rounds < until_round && result == 0) {
        keeper->wanted = true;
        pthread_cond_signal(&keeper->asked);
        result = pthread_cond_timedwait(&keeper->turned, &keeper->lock, &until);
    }
    bool again = patient && !keeper->stopping;
    pthread_mutex_unlock(&keeper->lock);
    return again;
}

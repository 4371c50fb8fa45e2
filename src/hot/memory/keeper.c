/*
 * Why pages and not entries: cells of all sizes share a page, and what one size frees no other can
 * use. A cache that has filled up with one sort of rows would stay that way for ever.
 *
 * Why moving is limited: if all that lies in the chosen pages was used lately and so moved, nothing
 * would be won. Half of it may move for that reason; what is not clean always does.
 */
#include "hot/memory/keeper.h"

#include <time.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/log.h"
#include "filter/filters.h"
#include "hot/memory/hot_memory_priv.h"

#define ROUND_MS       100
#define STEP_BUCKETS   64   /* of a table walked under one lock */
#define SIFT_CELLS     4096 /* free cells looked at under one lock */
#define RETIRE_PART    4    /* of a shard's pages are emptied at a time */
#define WAIT_TRIES     20
#define FREE_PART      32 /* of the limit is kept free */
#define FREE_MIN       MIB(1)
#define FILTER_GROWTH  4 /* a filter's next segment is so many times its last */
#define FILTER_PART    4 /* of the limit, at most, is kept free for that */
#define EXPIRE_CLEARED 4096
#define TOKENS_MS      1000 /* those whose time is over go */
#define ENTRY_BYTES    16   /* of a shelf, about */
#define AGE_PARTS      2    /* rounds of ageing in a time to live */
#define TRIM_PARTS     16
#define CUT_MS         30000 /* between looks for shelves that are too long */
#define WALK_MS_MIN    500   /* between walks over everything, whatever the options say */
#define SHARDS         (2 * LIMIT_SHARDS)

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

static void count(_Atomic uint64_t *counter, uint64_t by)
{
    atomic_fetch_add_explicit(counter, by, memory_order_relaxed);
}

/* One walk through one shard. */
struct walk {
    struct hot_memory *hot;
    struct user_shard *users; /* one of the two */
    struct item_shard *items;
    uint32_t clean;
    uint32_t now_s;
    uint64_t may_move; /* bytes that may move although they could go */
    uint32_t pages;    /* that are being emptied */
    uint32_t cursor;   /* how far the table has been walked for that */
    bool emptied;      /* they were */
};

static bool user_is_clean(const struct walk *walk, const struct user_row *row)
{
    for (const struct shelf *shelf = &row->first; shelf != NULL;
         shelf = user_next_shelf(walk->users, shelf))
        if (shelf->flags & SHELF_USED && shelf_stamp(&walk->users->slab, shelf) >= walk->clean)
            return false;
    return true;
}

static bool user_is_retiring(const struct walk *walk, const struct user_row *row, uint32_t cell)
{
    const struct slab *slab = &walk->users->slab;
    if (slab_is_retiring(slab, cell))
        return true;
    for (const struct shelf *shelf = &row->first; shelf != NULL;
         shelf = user_next_shelf(walk->users, shelf))
        if (shelf_is_retiring(slab, shelf) ||
            (shelf->next != 0 && slab_is_retiring(slab, shelf->next)))
            return true;
    return false;
}

/* May something that was used lately move instead of going? */
static bool walk_spare(struct walk *walk, uint64_t bytes)
{
    if (walk->may_move < bytes)
        return false;
    walk->may_move -= bytes;
    return true;
}

static void retire_user(void *context, struct slab *slab, uint32_t cell)
{
    struct walk *walk = context;
    struct user_row *row = slab_at(slab, cell);
    bool idle = row->first.flags & SHELF_AGE;
    if (!idle)
        row->first.flags |= SHELF_AGE_ONE;
    if (!user_is_retiring(walk, row, cell))
        return;
    uint64_t hash = user_hash_of(walk->hot, user_of(row));
    bool clean = user_is_clean(walk, row);
    if ((!clean || (!idle && walk_spare(walk, row->first.count * ENTRY_BYTES))) &&
        user_relocate(walk->users, hash, &cell)) {
        count(&walk->hot->keeper.stats.moved, 1);
    } else if (clean) {
        user_evict(walk->users, hash, cell);
        count(&walk->hot->keeper.stats.evicted_users, 1);
    }
}

static void retire_item(void *context, struct slab *slab, uint32_t cell)
{
    struct walk *walk = context;
    struct item_row *row = slab_at(slab, cell);
    bool idle = row->flags & ITEM_AGE;
    if (!idle)
        row->flags |= ITEM_AGE_ONE;
    if (!slab_is_retiring(slab, cell))
        return;
    uint64_t hash = item_hash_of(walk->hot, item_of(row));
    bool clean = row->stamp < walk->clean && !(row->flags & ITEM_PARTIAL); /* boards wait for it */
    if ((!clean || (!idle && walk_spare(walk, ITEM_ROW_USUAL))) &&
        item_relocate(walk->items, hash, cell)) {
        count(&walk->hot->keeper.stats.moved, 1);
    } else if (clean) {
        item_evict(walk->items, hash, cell);
        count(&walk->hot->keeper.stats.evicted_items, 1);
    }
}

/* A shard of either side, as far as emptying pages goes. */
struct side {
    pthread_mutex_t *lock;
    struct slab *slab;
    struct table *table;
    table_visit_some_fn *visit;
};

static struct side side_of(struct walk *walk)
{
    if (walk->users != NULL)
        return (struct side){&walk->users->lock, &walk->users->slab, &walk->users->table,
                             retire_user};
    return (struct side){&walk->items->lock, &walk->items->slab, &walk->items->table, retire_item};
}

static void leave(void *context, struct slab *slab, uint32_t cell)
{
    (void)context;
    (void)slab;
    (void)cell;
}

/* What else has cells in the shard's pages; walking a table moves its own. */
static void relocate_rest(struct walk *walk)
{
    struct table *table;
    if (walk->users != NULL) {
        cleared_relocate(&walk->users->cleared);
        table = &walk->users->cleared.table;
    } else {
        tokens_relocate(&walk->items->tokens);
        table = &walk->items->tokens.table;
    }
    for (uint32_t cursor = 0;
         (cursor = table_visit_some(table, cursor, STEP_BUCKETS, leave, NULL)) != 0;)
        continue;
}

/* One step of emptying pages, under the shard's lock; true: there is more to do. */
typedef bool retire_step(struct walk *walk, struct side *side);

static bool step_sift(struct walk *walk, struct side *side)
{
    (void)walk;
    return !slab_retire_sift(side->slab, SIFT_CELLS);
}

static bool step_visit(struct walk *walk, struct side *side)
{
    walk->clean = loads_clean(&walk->hot->loads);
    walk->cursor = table_visit_some(side->table, walk->cursor, STEP_BUCKETS, side->visit, walk);
    return walk->cursor != 0;
}

/* How many pages that won: those that what was moved is in now do not count. */
static bool step_end(struct walk *walk, struct side *side)
{
    relocate_rest(walk);
    walk->emptied = slab_retire_left(side->slab) == 0;
    if (walk->emptied)
        slab_retire_end(side->slab);
    else
        slab_retire_cancel(side->slab);
    uint32_t taken = side->slab->taken;
    if (walk->emptied && walk->pages > taken)
        count(&walk->hot->keeper.stats.pages, walk->pages - taken);
    return false;
}

/* Empties this many of a shard's pages, or fewer if it has not as many; false: there was no room for it. */
static bool retire_pages(struct walk *walk, struct side *side, uint32_t pages, bool moving)
{
    static retire_step *const steps[] = {step_sift, step_visit, step_end};
    pthread_mutex_lock(side->lock);
    side->slab->moving = moving;
    walk->pages = slab_retire_begin(side->slab, pages);
    side->slab->moving = false;
    pthread_mutex_unlock(side->lock);
    if (walk->pages == 0)
        return true;
    walk->cursor = 0;
    walk->may_move = moving ? 0 : (uint64_t)walk->pages * SLAB_PAGE_BYTES / 2;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        bool more = true;
        while (more) {
            pthread_mutex_lock(side->lock);
            side->slab->moving = moving;
            more = steps[i](walk, side);
            side->slab->moving = false;
            pthread_mutex_unlock(side->lock);
        }
    }
    return walk->emptied;
}

/* Is there so much room in between that a page less would do? */
static bool has_idle_page(struct side *side)
{
    pthread_mutex_lock(side->lock);
    bool has = slab_idle_bytes(side->slab) >= SLAB_PAGE_BYTES;
    pthread_mutex_unlock(side->lock);
    return has;
}

/*
 * Empties some of a shard's pages. Where memory is spent there may be no room for what cannot go, though
 * it be a few cells: then one page alone is emptied, with pages that are kept for nothing else. It gives
 * at least as much as it takes, so that there is always a next time.
 */
static void shard_retire(struct walk *walk)
{
    struct side side = side_of(walk);
    pthread_mutex_lock(side.lock);
    uint32_t pages = side.slab->page_count / RETIRE_PART + 1;
    pthread_mutex_unlock(side.lock);
    if (!retire_pages(walk, &side, pages, false) && has_idle_page(&side))
        (void)retire_pages(walk, &side, 1, true);
}

/* How much more must be freed: for the filters to grow, and for whatever comes. */
static uint64_t shortage(struct hot_memory *hot)
{
    struct memory_budget *budget = hot->budget;
    struct filter_stats live = {0};
    struct filter_stats known = {0};
    filters_stats(hot->filters, &live, &known);
    uint64_t limit = budget->limit - budget->reserve;
    uint64_t left = memory_left(budget);
    uint64_t growth = FILTER_GROWTH * (live.bytes > known.bytes ? live.bytes : known.bytes);
    if (growth > limit / FILTER_PART)
        growth = limit / FILTER_PART;
    uint64_t room = filters_room(hot->filters);
    if (growth > room)
        growth = room;
    if (left < growth && slab_pool_shrink(hot->pool, growth - left) > 0)
        left = memory_left(
            budget); /* not always as much more: connections may go past what data may */
    uint64_t wanted = growth + (limit / FREE_PART > FREE_MIN ? limit / FREE_PART : FREE_MIN);
    uint64_t free = left + slab_pool_free_pages(hot->pool) * SLAB_PAGE_BYTES;
    return free < wanted ? wanted - free : 0;
}

static struct walk walk_of(struct hot_memory *hot, uint32_t shard, uint32_t now_s)
{
    return (struct walk){
        .hot = hot,
        .users = shard % 2 == 0 ? &hot->users[shard / 2] : NULL,
        .items = shard % 2 == 0 ? NULL : &hot->items[shard / 2],
        .now_s = now_s,
        .clean = loads_clean(&hot->loads),
    };
}

/* Goes round the shards until there is enough, or each has been tried. */
static void relieve(struct hot_memory *hot, uint32_t now_s)
{
    for (uint32_t i = 0; i < SHARDS && shortage(hot) > 0; i++) {
        struct walk walk = walk_of(hot, hot->keeper.shard, now_s);
        hot->keeper.shard = (hot->keeper.shard + 1) % SHARDS;
        shard_retire(&walk);
    }
}

/* Ageing: what nobody has used since the round before last but one goes. */
static void age_item(void *context, struct slab *slab, uint32_t cell)
{
    struct walk *walk = context;
    struct item_row *row = slab_at(slab, cell);
    if ((row->flags & ITEM_AGE) != ITEM_AGE)
        row->flags += ITEM_AGE_ONE;
    if ((row->flags & ITEM_AGE) != ITEM_AGE || row->stamp >= walk->clean ||
        row->flags & ITEM_PARTIAL)
        return;
    item_evict(walk->items, item_hash_of(walk->hot, item_of(row)), cell);
    count(&walk->hot->keeper.stats.expired_items, 1);
}

/* The end of a shelf that is too old, or too long since it could not be cut when it grew. */
static void trim_shelf(struct walk *walk, struct user_row *row, struct shelf *shelf)
{
    const struct hot_memory *hot = walk->hot;
    uint32_t oldest_s = walk->now_s > hot->shelf_age_s ? walk->now_s - hot->shelf_age_s : 0;
    uint32_t gone = shelf_cut(&walk->users->slab, shelf, hot->shelf_max, oldest_s, walk->clean);
    walk->users->reactions -= gone;
    if (gone > 0)
        shelf->flags |= SHELF_INCOMPLETE;
    if (shelf->count > hot->shelf_max)
        walk->users->long_shelves = true; /* it is not clean yet */
    if (shelf->count == 0)
        user_retire_shelf(walk->users, row, shelf);
}

static void trim_user(void *context, struct slab *slab, uint32_t cell)
{
    struct walk *walk = context;
    struct user_row *row = slab_at(slab, cell);
    struct shelf *shelf = &row->first;
    do {
        struct shelf *next = user_next_shelf(walk->users, shelf);
        if (shelf->flags & SHELF_USED && !(shelf->flags & SHELF_WARM))
            trim_shelf(walk, row, shelf);
        shelf = next;
    } while (shelf != NULL);
    if (!(row->first.flags & SHELF_USED) && row->first.next == 0)
        user_evict(walk->users, user_hash_of(walk->hot, user_of(row)), cell);
}

/* A shard through and through, a step at a time. */
static void walk_shard(struct hot_memory *hot, uint32_t shard, uint32_t now_s,
                       table_visit_some_fn *visit)
{
    struct walk walk = walk_of(hot, shard, now_s);
    struct side side = side_of(&walk);
    uint32_t cursor = 0;
    do {
        pthread_mutex_lock(side.lock);
        walk.clean = loads_clean(&hot->loads);
        cursor = table_visit_some(side.table, cursor, STEP_BUCKETS, visit, &walk);
        pthread_mutex_unlock(side.lock);
    } while (cursor != 0);
}

static void age_items(struct hot_memory *hot, uint32_t now_s)
{
    for (uint32_t i = 0; i < LIMIT_SHARDS; i++)
        walk_shard(hot, 2 * i + 1, now_s, age_item);
}

/* In all shards, or only where a shelf is too long. */
static void trim_users(struct hot_memory *hot, uint32_t now_s, bool all)
{
    for (uint32_t i = 0; i < LIMIT_SHARDS; i++) {
        struct user_shard *users = &hot->users[i];
        pthread_mutex_lock(&users->lock);
        bool wanted = all || users->long_shelves;
        users->long_shelves = false;
        pthread_mutex_unlock(&users->lock);
        if (wanted)
            walk_shard(hot, 2 * i, now_s, trim_user);
    }
}

/* True, and noted, if so much time has passed; the first look only notes. */
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
    size_t left; /* that there was no room for here */
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
 * Completes the partial rows of a shard as far as can be; how many there were. Whether that went
 * well the next round tells, for another worker may have been at it, and failed.
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
    if (hot->loads.base == NULL) /* only we write it */
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
    relieve(hot, now_s);
    if (is_due(&keeper->aged_ms, now_ms, hot->item_ttl_s * 1000ULL / AGE_PARTS))
        age_items(hot, now_s);
    bool trim = is_due(&keeper->trimmed_ms, now_ms, hot->shelf_age_s * 1000ULL / TRIM_PARTS);
    bool cut = is_due(&keeper->cut_ms, now_ms, CUT_MS);
    if (trim || cut)
        trim_users(hot, now_s, trim);
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

/* Under the lock. */
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

/* A round may be halfway through: only one that begins after this counts. */
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

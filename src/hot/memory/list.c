/*
 * Why a shelf that lacks some can still answer: decisions on a user are made at times that never
 * fall, and only the oldest leave a shelf, so what is newer than the oldest entry of a shelf is all
 * there. Strictly newer: of those of the same second some may have left.
 *
 * Merging, a worker reads the store first and looks into memory afterwards, both while its load is
 * under way: what has changed since it began is then still in memory, so memory has the last word
 * on every reaction it knows of, set or cleared, and the store on all others. What was read is kept
 * whole until the end and looked at anew each time more is read: an entry that was on the shelf the
 * last time may have left it since.
 */
#include "hot/memory/list.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "filter/filters.h"

#define ALL_KNOWN  0          /* nothing is missing in memory */
#define NONE_KNOWN UINT32_MAX /* anything may be */

bool list_reserve(struct hot_scratch *scratch, size_t count)
{
    size_t needed = scratch->listed_used + count;
    if (needed <= scratch->listed_capacity)
        return true;
    size_t capacity = scratch->listed_capacity * 2 + LIMIT_LIST + 1;
    capacity = capacity < needed ? needed : capacity;
    if (capacity > UINT32_MAX)
        return false;
    struct store_listed *listed = realloc(scratch->listed, capacity * sizeof(*listed));
    if (listed == NULL)
        return false;
    scratch->listed = listed;
    scratch->listed_capacity = (uint32_t)capacity;
    return true;
}

static int compare(const void *a, const void *b)
{
    return store_listed_order(*(const struct store_listed *)a, *(const struct store_listed *)b);
}

void list_sort(struct hot_scratch *scratch, uint32_t first, uint32_t most)
{
    uint32_t count = scratch->listed_used - first;
    if (count == 0)
        return;
    struct store_listed *listed = scratch->listed + first;
    bool sorted = true;
    for (uint32_t i = 1; sorted && i < count; i++)
        sorted = store_listed_order(listed[i - 1], listed[i]) < 0;
    if (!sorted)
        qsort(listed, count, sizeof(*listed), compare);
    if (count > most)
        scratch->listed_used = first + most;
}

/* The user's side, under its lock. */
struct list_side {
    struct hot_memory *hot;
    struct user_shard *users;
    const struct list_wish *wish;
    struct user_row *row;
    const struct shelf *shelves[2]; /* narrow, wide; NULL: none */
};

static void side_lock(struct list_side *side, struct hot_memory *hot, const struct list_wish *wish)
{
    *side = (struct list_side){.hot = hot, .users = user_shard_of(hot, wish->hash), .wish = wish};
    pthread_mutex_lock(&side->users->lock);
    side->row = user_find(side->users, wish->hash, wish->user);
    for (uint32_t wide = 0; wide < 2 && side->row != NULL; wide++)
        side->shelves[wide] = user_shelf(side->users, side->row, wish->kind,
                                         (struct item){.id = {.hi = wide}, .type = wish->type}, 0);
    if (side->row != NULL)
        user_touch(side->row);
}

static void side_unlock(const struct list_side *side)
{
    pthread_mutex_unlock(&side->users->lock);
}

/* What is newer than this is in memory, as far as ids of one width go. */
static uint32_t known_since(const struct list_side *side, uint32_t wide)
{
    const struct list_wish *wish = side->wish;
    const struct shelf *shelf = side->shelves[wide];
    const struct shelf *other = side->shelves[!wide];
    if (side->hot->filters == NULL)
        return ALL_KNOWN;
    if (shelf != NULL && !(shelf->flags & SHELF_INCOMPLETE))
        return ALL_KNOWN;
    if (shelf != NULL)
        return shelf_oldest(&side->users->slab, shelf).time_s;
    if (other != NULL && other->flags & SHELF_SOLE)
        return ALL_KNOWN;
    return filters_may_have_shelf(side->hot->filters, wish->user, wish->kind, wish->type)
               ? NONE_KNOWN
               : ALL_KNOWN;
}

struct gathering {
    struct hot_scratch *scratch;
    const struct list_wish *wish;
    uint32_t count;  /* taken of this shelf */
    uint32_t last_s; /* time of the last that is wanted, once there are so many */
    bool failed;
};

/* Past those wanted, others of the same second may still come before them. */
static bool gather_one(void *context, struct shelf_entry entry)
{
    struct gathering *gathering = context;
    const struct list_wish *wish = gathering->wish;
    struct store_listed listed = {.time_s = entry.time_s, .id = entry.id};
    if (wish->after.time_s != 0 && store_listed_order(listed, wish->after) <= 0)
        return true;
    if (gathering->count >= wish->want && entry.time_s < gathering->last_s)
        return false;
    if (!list_reserve(gathering->scratch, 1)) {
        gathering->failed = true;
        return false;
    }
    gathering->scratch->listed[gathering->scratch->listed_used++] = listed;
    gathering->last_s = entry.time_s;
    gathering->count++;
    return true;
}

/* What the shelves have. False: no memory. */
static bool gather(const struct list_side *side, struct hot_scratch *scratch)
{
    bool failed = false;
    for (uint32_t wide = 0; wide < 2 && !failed; wide++) {
        struct gathering gathering = {.scratch = scratch, .wish = side->wish};
        if (side->shelves[wide] != NULL)
            shelf_walk(&side->users->slab, side->shelves[wide], gather_one, &gathering);
        failed = gathering.failed;
    }
    return !failed;
}

static enum status list_from_memory(struct hot_memory *hot, const struct list_wish *wish,
                                    struct hot_scratch *scratch)
{
    struct list_side side;
    uint32_t first = scratch->listed_used;
    bool gathered = true;
    side_lock(&side, hot, wish);
    uint32_t narrow = known_since(&side, 0), wide = known_since(&side, 1);
    uint32_t since = narrow > wide ? narrow : wide;
    bool hopeless =
        since != ALL_KNOWN &&
        (since == NONE_KNOWN || (wish->after.time_s != 0 && wish->after.time_s <= since));
    if (!hopeless)
        gathered = gather(&side, scratch);
    side_unlock(&side);
    if (!gathered)
        return STATUS_NO_MEMORY;
    if (wish->any_order && since == ALL_KNOWN)
        return STATUS_OK;
    list_sort(scratch, first, wish->want);
    uint32_t count = scratch->listed_used - first;
    if (since == ALL_KNOWN ||
        (count == wish->want && scratch->listed[scratch->listed_used - 1].time_s > since))
        return STATUS_OK;
    scratch->listed_used = first;
    return STATUS_BLOCKED;
}

/* What was read of the store so far. */
struct list_stored {
    struct store_listed *listed;
    size_t count;
    bool all; /* there is no more */
};

/* As much again as there is already. */
static enum status stored_read(struct hot_memory *hot, const struct list_wish *wish,
                               struct list_stored *stored)
{
    ASSERT(wish->want > 0);
    size_t some = stored->count < wish->want ? wish->want : stored->count;
    size_t got = 0;
    struct store_listed *listed = realloc(stored->listed, (stored->count + some) * sizeof(*listed));
    if (listed == NULL)
        return STATUS_NO_MEMORY;
    stored->listed = listed;
    struct store_listed after = stored->count == 0 ? wish->after : listed[stored->count - 1];
    enum status status = store_list_reactions(hot->store, wish->user, wish->kind, wish->type, after,
                                              listed + stored->count, some, &got);
    atomic_fetch_add_explicit(&hot->loads.stats.reactions, got, memory_order_relaxed);
    stored->count += got;
    stored->all = got < some;
    return status;
}

/* Adds what memory has nothing to say about. False: no memory. */
static bool stored_add(const struct list_side *side, const struct list_stored *stored,
                       struct hot_scratch *scratch)
{
    const struct list_wish *wish = side->wish;
    struct cleared_key key = {.user = wish->user, .kind = wish->kind, .item.type = wish->type};
    if (!list_reserve(scratch, stored->count))
        return false;
    for (size_t i = 0; i < stored->count; i++) {
        key.item.id = stored->listed[i].id;
        const struct shelf *shelf = side->shelves[id_is_wide(key.item.id)];
        if (shelf != NULL &&
            shelf_find(&side->users->slab, shelf, side->hot->scan, key.item.id).chunk != 0)
            continue;
        if (!cleared_has(&side->users->cleared, &key))
            scratch->listed[scratch->listed_used++] = stored->listed[i];
    }
    return true;
}

/* One look; OK if what was read of the store is enough, else BLOCKED. */
static enum status merge_once(struct hot_memory *hot, const struct list_wish *wish,
                              const struct list_stored *stored, struct hot_scratch *scratch)
{
    struct list_side side;
    uint32_t first = scratch->listed_used;
    side_lock(&side, hot, wish);
    bool added = gather(&side, scratch) && stored_add(&side, stored, scratch);
    side_unlock(&side);
    if (!added)
        return STATUS_NO_MEMORY;
    list_sort(scratch, first, wish->want);
    if (stored->all)
        return STATUS_OK;
    if (scratch->listed_used - first == wish->want &&
        store_listed_order(scratch->listed[scratch->listed_used - 1],
                           stored->listed[stored->count - 1]) <= 0)
        return STATUS_OK;
    scratch->listed_used = first;
    return STATUS_BLOCKED;
}

static enum status list_merged(struct hot_memory *hot, const struct list_wish *wish,
                               unsigned worker, struct hot_scratch *scratch)
{
    struct list_stored stored = {0};
    enum status status;
    load_begin(&hot->loads, worker);
    do {
        status = stored_read(hot, wish, &stored);
        if (status == STATUS_OK)
            status = merge_once(hot, wish, &stored, scratch);
    } while (status == STATUS_BLOCKED);
    load_end(&hot->loads, worker);
    free(stored.listed);
    return status;
}

enum status list_take(struct hot_memory *hot, const struct list_wish *wish, unsigned worker,
                      struct hot_scratch *scratch)
{
    enum status status = list_from_memory(hot, wish, scratch);
    return status == STATUS_BLOCKED && worker != LOAD_NOBODY
               ? list_merged(hot, wish, worker, scratch)
               : status;
}

/* One more than the limit was asked for: it tells whether there is more. */
static void page_end(struct hot_request *request, struct hot_scratch *scratch, uint32_t first)
{
    uint32_t count = scratch->listed_used - first;
    request->list.more = count > request->list.limit;
    request->list.first = first;
    request->list.count = request->list.more ? request->list.limit : count;
}

bool hot_memory_list_reactions(struct hot_memory *hot, struct hot_request *request,
                               struct hot_trail trail, struct hot_scratch *scratch, unsigned worker)
{
    struct list_wish wish = {
        .user = request->user,
        .hash = trail.user,
        .kind = request->name,
        .type = request->list.type,
        .want = request->list.limit + 1,
        .after = request->list.after,
    };
    uint32_t first = scratch->listed_used;
    request->status = list_take(hot, &wish, worker, scratch);
    if (request->status == STATUS_OK)
        page_end(request, scratch, first);
    else
        scratch->listed_used = first;
    return request->status != STATUS_BLOCKED;
}

/* Every change of the item moves its row. */
uint64_t list_item_position(struct hot_memory *hot, struct item item)
{
    uint64_t hash = item_hash_of(hot, item);
    struct item_shard *shard = item_shard_of(hot, hash);
    pthread_mutex_lock(&shard->lock);
    const struct item_row *row = item_find(shard, hash, item);
    uint64_t end = row == NULL ? 0 : ((uint64_t)row->stamp + 1) << STAMP_SHIFT;
    pthread_mutex_unlock(&shard->lock);
    return end;
}

/* Or the journal's end, where that is before it. */
static uint64_t within_journal(struct hot_memory *hot, uint64_t position)
{
    uint64_t appended = journal_appended(hot->journal);
    return position < appended ? position : appended;
}

bool list_store_has(struct hot_memory *hot, uint64_t position)
{
    return within_journal(hot, position) <= atomic_load(&hot->loads.applied);
}

enum status list_catch_up(struct hot_memory *hot, uint64_t position)
{
    if (list_store_has(hot, position))
        return STATUS_OK;
    position = within_journal(hot, position);
    journal_kick(hot->journal); /* it may be this very thread that appended it */
    return hot_memory_reach(hot, position, LIMIT_REACH_MS);
}

static enum status reactors_read(struct hot_memory *hot, const struct hot_request *request,
                                 struct hot_scratch *scratch)
{
    size_t count = 0;
    enum status status = list_catch_up(hot, list_item_position(hot, request->items[0]));
    if (status != STATUS_OK)
        return status;
    if (!list_reserve(scratch, request->list.limit + 1))
        return STATUS_NO_MEMORY;
    status = store_list_reactors(hot->store, request->items[0], request->name, request->list.after,
                                 scratch->listed + scratch->listed_used, request->list.limit + 1,
                                 &count);
    scratch->listed_used += (uint32_t)count;
    return status;
}

bool hot_memory_list_reactors(struct hot_memory *hot, struct hot_request *request,
                              struct hot_trail trail, struct hot_scratch *scratch, unsigned worker)
{
    uint32_t first = scratch->listed_used;
    (void)trail;
    if (worker == LOAD_NOBODY)
        return false;
    request->status = reactors_read(hot, request, scratch);
    if (request->status == STATUS_OK)
        page_end(request, scratch, first);
    else
        scratch->listed_used = first;
    return true;
}

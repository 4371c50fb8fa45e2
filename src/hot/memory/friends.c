/*
 * The list of those followed is read first, and the answer is made in its place: each entry's time
 * becomes that of the reaction, 0 if there is none.
 *
 * Every change of a reaction moves its item's row, so once the store has the item's last change, it
 * has all reactions on it, and the filters' "no" is final for whoever is asked about: nearly all of
 * them, and without a look at their rows. Those left are looked at in groups whose rows are brought
 * closer beforehand: a thousand of them are a thousand cache misses otherwise. Memory says yes or no
 * for most, the filters say no for most of the rest, and what is left a worker asks the store for,
 * many keys at a time.
 */
#include "hot/memory/friends.h"

#include "base/assert.h"
#include "filter/filters.h"
#include "hot/memory/list.h"

#define GROUP   32         /* users prefetched at a time */
#define NO      0          /* not there */
#define UNKNOWN UINT32_MAX /* only the store can tell */

struct friends {
    struct hot_memory *hot;
    const struct hot_request *request;
    struct store_listed *users; /* then: those who have it, and since when */
    uint32_t count;
    bool stored; /* the store had every reaction on the item when this began */
};

static uint32_t time_on_shelf(const struct hot_memory *hot, const struct user_shard *shard,
                              const struct shelf *shelf, struct id id)
{
    struct shelf_place place = {0};
    if (shelf != NULL)
        place = shelf_find(&shard->slab, shelf, hot->scan, id);
    return place.chunk == 0 ? NO : shelf_time(&shard->slab, place);
}

/* Under the user's lock. */
static uint32_t look_locked(const struct friends *friends, struct user_shard *shard, uint64_t hash,
                            struct id user)
{
    const struct hot_memory *hot = friends->hot;
    uint8_t kind = friends->request->name;
    struct item item = friends->request->items[0];
    struct user_row *row = user_find(shard, hash, user);
    const struct shelf *shelf = row == NULL ? NULL : user_shelf(shard, row, kind, item, 0);
    uint32_t time_s = time_on_shelf(hot, shard, shelf, item.id);
    if (time_s != NO || hot->filters == NULL ||
        (shelf != NULL && !(shelf->flags & SHELF_INCOMPLETE)))
        return time_s;
    if (row != NULL)
        time_s = time_on_shelf(hot, shard, user_shelf(shard, row, kind, item, SHELF_WARM), item.id);
    if (time_s != NO ||
        (shelf == NULL && !filters_may_have_shelf(hot->filters, user, kind, item.type)) ||
        !filters_may_have_reaction(hot->filters, user, kind, item))
        return time_s;
    struct cleared_key key = {.user = user, .item = item, .kind = kind};
    return cleared_has(&shard->cleared, &key) || user_absent_has(shard, &key) ? NO : UNKNOWN;
}

static uint32_t look(const struct friends *friends, uint64_t hash, struct id user)
{
    struct user_shard *shard = user_shard_of(friends->hot, hash);
    pthread_mutex_lock(&shard->lock);
    uint32_t time_s = look_locked(friends, shard, hash, user);
    pthread_mutex_unlock(&shard->lock);
    return time_s;
}

/* Places in `out` those of a group that it takes more than the filters to tell about. */
static uint32_t leave_out_absent(const struct friends *friends, struct store_listed *users,
                                 uint32_t count, struct store_listed **out)
{
    const struct filters *filters = friends->hot->filters;
    const struct hot_request *request = friends->request;
    uint64_t keys[GROUP];
    uint32_t left = 0;
    for (uint32_t i = 0; friends->stored && i < count; i++)
        keys[i] = filters_prefetch_reaction(filters, users[i].id, request->name, request->items[0]);
    for (uint32_t i = 0; i < count; i++) {
        users[i].time_s = NO;
        if (!friends->stored || filters_may_have_key(filters, keys[i]))
            out[left++] = &users[i];
    }
    return left;
}

/* Returns how many are unknown. */
static uint32_t look_at_group(const struct friends *friends, struct store_listed *group,
                              uint32_t count)
{
    struct hot_memory *hot = friends->hot;
    struct store_listed *users[GROUP];
    uint64_t hashes[GROUP];
    const struct table_bucket *buckets[GROUP];
    uint32_t next[GROUP];
    uint32_t unknown = 0;
    count = leave_out_absent(friends, group, count, users);
    for (uint32_t i = 0; i < count; i++) {
        hashes[i] = user_hash_of(hot, users[i]->id);
        buckets[i] = table_prefetch(&user_shard_of(hot, hashes[i])->table, hashes[i]);
    }
    for (uint32_t i = 0; i < count; i++)
        next[i] = user_prefetch(user_shard_of(hot, hashes[i]), buckets[i], hashes[i]);
    for (uint32_t i = 0; i < count; i++)
        user_prefetch_on(user_shard_of(hot, hashes[i]), next[i], hashes[i]);
    for (uint32_t i = 0; i < count; i++) {
        users[i]->time_s = look(friends, hashes[i], users[i]->id);
        unknown += users[i]->time_s == UNKNOWN;
    }
    return unknown;
}

/* OK; BLOCKED: some are unknown, and we may not wait. */
static enum status look_at_all(const struct friends *friends, bool may_wait)
{
    for (uint32_t from = 0; from < friends->count; from += GROUP) {
        uint32_t left = friends->count - from;
        if (look_at_group(friends, friends->users + from, left < GROUP ? left : GROUP) > 0 &&
            !may_wait)
            return STATUS_BLOCKED;
    }
    return STATUS_OK;
}

/* The answer has come; what memory has learnt since comes first. */
static uint32_t settle(const struct friends *friends, const struct store_reaction *read)
{
    struct hot_memory *hot = friends->hot;
    uint64_t hash = user_hash_of(hot, read->user);
    struct user_shard *shard = user_shard_of(hot, hash);
    struct cleared_key key = {.user = read->user, .item = read->item, .kind = read->kind};
    pthread_mutex_lock(&shard->lock);
    uint32_t time_s = look_locked(friends, shard, hash, read->user);
    if (time_s == UNKNOWN) {
        time_s = read->time_s;
        if (time_s != NO)
            hot_memory_warm(hot, shard, hash, read->user, read->kind, read->item, time_s);
        else
            user_absent_add(shard, &key);
    }
    pthread_mutex_unlock(&shard->lock);
    return time_s;
}

static enum status ask_store(const struct friends *friends, unsigned worker)
{
    struct store_reaction keys[LOAD_KEYS];
    uint32_t places[LOAD_KEYS];
    for (uint32_t at = 0; at < friends->count;) {
        size_t count = 0;
        for (; at < friends->count && count < LOAD_KEYS; at++) {
            if (friends->users[at].time_s != UNKNOWN)
                continue;
            places[count] = at;
            keys[count++] = (struct store_reaction){.user = friends->users[at].id,
                                                    .item = friends->request->items[0],
                                                    .kind = friends->request->name};
        }
        if (count == 0)
            break;
        enum status status = load_reactions(friends->hot, worker, keys, count);
        if (status != STATUS_OK)
            return status;
        for (size_t i = 0; i < count; i++)
            friends->users[places[i]].time_s = settle(friends, &keys[i]);
    }
    return STATUS_OK;
}

static enum status find_friends(const struct friends *friends, unsigned worker)
{
    if (worker == LOAD_NOBODY)
        return look_at_all(friends, false);
    load_begin(&friends->hot->loads, worker);
    enum status status = look_at_all(friends, true);
    if (status == STATUS_OK)
        status = ask_store(friends, worker);
    load_end(&friends->hot->loads, worker);
    return status;
}

/* Those who have it stay. */
static uint32_t leave_friends(struct friends *friends)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < friends->count; i++)
        if (friends->users[i].time_s != NO)
            friends->users[left++] = friends->users[i];
    return left;
}

static enum status friends_read(struct hot_memory *hot, const struct hot_request *request,
                                struct hot_trail trail, struct hot_scratch *scratch,
                                unsigned worker)
{
    struct list_wish wish = {
        .user = request->user,
        .hash = trail.user,
        .kind = request->list.follow,
        .type = request->list.type,
        .want = LIMIT_FOLLOWEES + 1,
        .any_order = true,
    };
    uint32_t first = scratch->listed_used;
    enum status status = list_take(hot, &wish, worker, scratch);
    if (status != STATUS_OK)
        return status;
    struct friends friends = {.hot = hot,
                              .request = request,
                              .users = scratch->listed + first,
                              .count = scratch->listed_used - first,
                              .stored =
                                  hot->filters != NULL &&
                                  list_store_has(hot, list_item_position(hot, request->items[0]))};
    if (friends.count > LIMIT_FOLLOWEES)
        return STATUS_TOO_MANY_FOLLOWEES;
    status = find_friends(&friends, worker);
    if (status == STATUS_OK) {
        scratch->listed_used = first + leave_friends(&friends);
        list_sort(scratch, first, request->list.limit);
    }
    return status;
}

bool hot_memory_friends(struct hot_memory *hot, struct hot_request *request, struct hot_trail trail,
                        struct hot_scratch *scratch, unsigned worker)
{
    uint32_t first = scratch->listed_used;
    request->status = friends_read(hot, request, trail, scratch, worker);
    if (request->status != STATUS_OK)
        scratch->listed_used = first;
    request->list.more = false;
    request->list.first = first;
    request->list.count = scratch->listed_used - first;
    return request->status != STATUS_BLOCKED;
}

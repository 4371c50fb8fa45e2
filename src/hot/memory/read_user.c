/*
 * Reading the reactions of a user on the items of a request: from the shelves and, by a worker, also from
 * the store. A worker puts reactions that it finds in the store on the user's warm shelf, and notes
 * others as absent.
 */
#include <stdlib.h>

#include "hot/memory/read.h"

/* Locks the user's shard and looks the user up. */
static void lookup_lock(struct lookup *lookup)
{
    pthread_mutex_lock(&lookup->users->lock);
    lookup->row = user_find(lookup->users, lookup->user_hash, lookup->request->user);
}

static void lookup_unlock(struct lookup *lookup)
{
    pthread_mutex_unlock(&lookup->users->lock);
}

/*
 * Adds a kind that is set now. Kinds of its group that were found before may have been cleared since, when
 * this one was set; then there is a note for them, and they are removed from the answer. Kinds without
 * such a note are set as well, if the group was declared only after they were set.
 */
static void answer_add(struct lookup *lookup, uint32_t item, uint8_t kind)
{
    const struct exclusive *exclusive = lookup->hot->exclusive;
    const struct hot_request *request = lookup->request;
    struct kind_set *kinds = &request->read.answers[item].kinds;
    uint8_t number = exclusive == NULL ? 0 : exclusive->group_of[kind];
    const struct exclusive_group *group = number == 0 ? NULL : &exclusive->groups[number - 1];
    struct cleared_key key = {.user = request->user, .item = request->items[item]};
    for (uint32_t i = 0; group != NULL && i < group->count; i++) {
        key.kind = group->kinds[i];
        if (cleared_has(&lookup->users->cleared, &key))
            kind_set_remove(kinds, key.kind);
    }
    kind_set_add(kinds, kind);
}

/* Uses an answer of the store, unless memory has a newer state. */
static void settle(struct lookup *lookup, const struct store_reaction *read, uint32_t item)
{
    struct hot_memory *hot = lookup->hot;
    struct cleared_key key = {.user = read->user, .item = read->item, .kind = read->kind};
    struct shelf *shelf = lookup->row == NULL
                              ? NULL
                              : user_shelf(lookup->users, lookup->row, read->kind, read->item, 0);
    bool on_shelf = shelf != NULL &&
                    shelf_find(&lookup->users->slab, shelf, hot->scan, read->item.id).chunk != 0;
    bool is_set = on_shelf || (read->time_s != 0 && !cleared_has(&lookup->users->cleared, &key));
    if (is_set)
        answer_add(lookup, item, read->kind);
    if (is_set && !on_shelf) {
        hot_memory_warm(hot, lookup->users, lookup->user_hash, read->user, read->kind, read->item,
                        read->time_s);
        lookup->row = user_find(lookup->users, lookup->user_hash, read->user);
    } else if (!is_set) {
        user_absent_add(lookup->users, &key);
    }
}

/* Reads up to LOAD_KEYS of them; with `share`, skips those that another worker is reading. */
static enum status ask_some(struct lookup *lookup, unsigned worker, const struct unknown *unknown,
                            size_t count, bool share)
{
    struct store_reaction keys[LOAD_KEYS];
    uint32_t items[LOAD_KEYS];
    uint64_t hashes[LOAD_KEYS];
    bool mine[LOAD_KEYS];
    const struct hot_request *request = lookup->request;
    struct loads *loads = &lookup->hot->loads;
    for (size_t i = 0; i < count; i++) {
        struct item item = request->items[unknown[i].item];
        hashes[i] = claim_of(lookup->hot, lookup->user_hash, item, unknown[i].kind);
        mine[i] = true;
    }
    if (share && load_claim(loads, worker, hashes, count, mine) < count)
        lookup->shared = true;
    size_t asked = 0;
    for (size_t i = 0; i < count; i++) {
        if (!mine[i])
            continue;
        items[asked] = unknown[i].item;
        keys[asked++] = (struct store_reaction){.user = request->user,
                                                .item = request->items[unknown[i].item],
                                                .kind = unknown[i].kind};
    }
    enum status status = asked == 0 ? STATUS_OK : load_reactions(lookup->hot, worker, keys, asked);
    if (status == STATUS_OK) {
        lookup_lock(lookup);
        for (size_t i = 0; i < asked; i++)
            settle(lookup, &keys[i], items[i]);
        lookup_unlock(lookup);
    }
    if (share)
        load_claim_end(loads, worker, hashes, count, mine);
    return status;
}

static enum status ask_store(struct lookup *lookup, unsigned worker, bool share)
{
    enum status status = STATUS_OK;
    for (size_t at = 0; at < lookup->unknown_count && status == STATUS_OK; at += LOAD_KEYS) {
        size_t left = lookup->unknown_count - at;
        status = ask_some(lookup, worker, lookup->unknown + at, left < LOAD_KEYS ? left : LOAD_KEYS,
                          share);
    }
    return status;
}

static enum status look(struct lookup *lookup, bool may_wait)
{
    /* cppcheck-suppress ctuuninitvar; read_user() set it, but for the tables of item_probe_build() */
    for (uint32_t i = 0; i < lookup->request->item_count; i++)
        lookup->request->read.answers[i] = (struct hot_answer){0};
    lookup_lock(lookup);
    lookup->shelf_count = 0;
    if (lookup->row != NULL)
        lookup_walk_shelves(lookup);
    enum status status = lookup_find_unknown(lookup, may_wait);
    lookup_unlock(lookup);
    return status;
}

/*
 * For workers. After the first pass, memory has what other workers were reading, and a second pass uses
 * it. If no other worker was reading anything, there is no second pass: it would read again whatever
 * found no room on the warm shelf.
 */
static enum status look_and_wait(struct lookup *lookup, unsigned worker)
{
    load_begin(&lookup->hot->loads, worker);
    enum status status = look(lookup, true);
    if (status == STATUS_OK && lookup->unknown_count > 0)
        status = ask_store(lookup, worker, true);
    if (status == STATUS_OK && lookup->shared) {
        status = look(lookup, true);
        if (status == STATUS_OK && lookup->unknown_count > 0)
            status = ask_store(lookup, worker, false);
    }
    load_end(&lookup->hot->loads, worker);
    free(lookup->unknown);
    return status;
}

enum status read_user(struct hot_memory *hot, struct hot_request *request, struct hot_trail trail,
                      int kind, unsigned worker)
{
    struct lookup lookup;
    lookup.hot = hot;
    lookup.users = user_shard_of(hot, trail.user);
    lookup.request = request;
    lookup.user_hash = trail.user;
    lookup.kind = kind;
    lookup.unknown = NULL;
    lookup.unknown_capacity = 0;
    lookup.shared = false;
    return worker == LOAD_NOBODY ? look(&lookup, false) : look_and_wait(&lookup, worker);
}

void hot_memory_warm(struct hot_memory *hot, struct user_shard *shard, uint64_t hash,
                     struct id user, uint8_t kind, struct item item, uint32_t time_s)
{
    struct user_room room;
    struct user_row *row = user_find(shard, hash, user);
    struct shelf *shelf = row == NULL ? NULL : user_shelf(shard, row, kind, item, SHELF_WARM);
    if (shelf != NULL && shelf_find(&shard->slab, shelf, hot->scan, item.id).chunk != 0)
        return;
    if (row != NULL && shelf == NULL && user_has_many_shelves(shard, row))
        return;
    if (!user_reserve(shard, hash, row, user, kind, item, SHELF_WARM, &room))
        return;
    shelf = user_push(shard, hash, user, kind,
                      (struct shelf_entry){.id = item.id, .time_s = time_s}, item.type, 0, &room);
    if (shelf->count > WARM_MAX) {
        shelf_drop_oldest(&shard->slab, shelf);
        shard->reactions--;
    }
}

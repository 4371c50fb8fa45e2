/*
 * Reading: the user's side once for the whole request, then each item's row. For a few items each
 * shelf is scanned for each of them; for a page of them the page becomes a small probe table and
 * each shelf streams through it once, so that 200 items cost hardly more than 20.
 *
 * Whether a shelf is complete is asked for each kind and type. A user with many shelves has them
 * sorted for that first, in one walk, or a page of many types would walk over all of them each time.
 *
 * What no shelf has may be in the store: the filters say no for nearly all of it. For what is left a
 * worker asks the store, puts what it finds on the warm shelf, and remembers what is not there.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "filter/filters.h"
#include "hot/memory/hot_memory_priv.h"

#define SCAN_ITEMS  12 /* up to so many, scanning for each is faster */
#define PROBE_HEADS 4096
#define ITEM_GROUP  32 /* rows prefetched at a time */
#define AHEAD       16 /* items whose place in the filters is fetched before it is wanted */
#define KIND_ALL    (-1)
#define FEW_SHELVES 16 /* up to so many, walking over them each time is faster */

_Static_assert(PROBE_HEADS >= 4 * LIMIT_ITEMS, "probes mostly hit an empty head");

/* A reaction that only the store knows of. */
struct unknown {
    uint32_t item; /* index in the request */
    uint8_t kind;
};

/* The kinds that a user has shelves of for one type and width of ids, and which are incomplete. */
struct sort {
    struct kind_set there;
    struct kind_set incomplete;
};

/* Those of all items of a request. */
struct sorts {
    uint16_t place[LIMIT_TYPES][2]; /* 1 + index below, 0: there is no such item */
    struct sort sorts[];
};

struct lookup {
    struct hot_memory *hot;
    struct user_shard *users;
    struct user_row *row;
    struct hot_request *request;
    uint64_t user_hash;
    int kind;                  /* KIND_ALL, or the one asked for */
    const struct shelf *shelf; /* the one being looked through */
    uint32_t shelf_count;      /* how many there are, used or not */
    struct sorts *sorts;       /* NULL: those are few */
    struct unknown *unknown;   /* a worker's: what to ask the store */
    size_t unknown_count;
    size_t unknown_capacity;
    bool shared; /* some of that was left to other workers */
    uint64_t probe_factor;
    uint32_t probe_shift;
    uint16_t probe_heads[PROBE_HEADS]; /* 1 + index of an item, 0: none */
    uint16_t probe_next[LIMIT_ITEMS];
};

static bool shelf_is_for(const struct shelf *shelf, struct item item)
{
    return shelf->type == item.type && ((shelf->flags & SHELF_WIDE) != 0) == id_is_wide(item.id);
}

static uint32_t probe_slot(const struct lookup *lookup, uint64_t lo)
{
    return (uint32_t)(lo * lookup->probe_factor >> lookup->probe_shift);
}

static void probe_build(struct lookup *lookup)
{
    const struct hot_request *request = lookup->request;
    uint32_t bits = 6;
    while ((1U << bits) < request->item_count * 4)
        bits++;
    ASSERT(1U << bits <= PROBE_HEADS);
    lookup->probe_shift = 64 - bits;
    lookup->probe_factor = hash_mix(lookup->hot->seed, 0) | 1;
    memset(lookup->probe_heads, 0, sizeof(lookup->probe_heads[0]) << bits);
    for (uint32_t i = 0; i < request->item_count; i++) {
        uint16_t *head = &lookup->probe_heads[probe_slot(lookup, request->items[i].id.lo)];
        lookup->probe_next[i] = *head;
        *head = (uint16_t)(i + 1);
    }
}

static void probe_mark(struct lookup *lookup, uint32_t at, uint64_t lo, uint64_t hi)
{
    struct hot_request *request = lookup->request;
    for (; at != 0; at = lookup->probe_next[at - 1]) {
        struct item item = request->items[at - 1];
        if (item.id.lo == lo && item.id.hi == hi && item.type == lookup->shelf->type)
            kind_set_add(&request->answers[at - 1].kinds, lookup->shelf->kind);
    }
}

static void probe_visit(void *context, const uint64_t *lo, const uint64_t *hi,
                        const uint32_t *times, size_t count)
{
    (void)times;
    struct lookup *lookup = context;
    for (size_t i = 0; i < count; i++) {
        uint32_t at = lookup->probe_heads[probe_slot(lookup, lo[i])];
        if (__builtin_expect(at != 0, 0))
            probe_mark(lookup, at, lo[i], hi != NULL ? hi[i] : 0);
    }
}

static void shelf_scan_each(struct lookup *lookup)
{
    struct hot_request *request = lookup->request;
    for (uint32_t i = 0; i < request->item_count; i++) {
        if (!shelf_is_for(lookup->shelf, request->items[i]))
            continue;
        struct shelf_place place = shelf_find(&lookup->users->slab, lookup->shelf,
                                              lookup->hot->scan, request->items[i].id);
        if (place.chunk != 0)
            kind_set_add(&request->answers[i].kinds, lookup->shelf->kind);
    }
}

/* All of the user's shelves, or only those of one kind. */
static void look_through(struct lookup *lookup)
{
    bool probe = lookup->request->item_count > SCAN_ITEMS;
    if (probe)
        probe_build(lookup);
    for (struct shelf *shelf = &lookup->row->first; shelf != NULL;
         shelf = user_next_shelf(lookup->users, shelf)) {
        lookup->shelf_count++;
        if (!(shelf->flags & SHELF_USED) || (lookup->kind >= 0 && shelf->kind != lookup->kind))
            continue;
        lookup->shelf = shelf;
        if (probe)
            shelf_visit(&lookup->users->slab, shelf, probe_visit, lookup);
        else
            shelf_scan_each(lookup);
    }
    user_touch(lookup->row);
}

/* Which sorts of items the request has. False: one of them is of no type that there can be. */
static bool sorts_name(struct sorts *sorts, const struct hot_request *request)
{
    uint16_t count = 0;
    for (uint32_t i = 0; i < request->item_count; i++) {
        struct item item = request->items[i];
        if (item.type >= LIMIT_TYPES)
            return false;
        uint16_t *place = &sorts->place[item.type][id_is_wide(item.id)];
        if (*place == 0)
            *place = ++count;
    }
    return true;
}

/* One walk over the user's shelves. NULL: no memory, it goes without. */
static struct sorts *sorts_make(const struct lookup *lookup)
{
    const struct hot_request *request = lookup->request;
    struct sorts *sorts = calloc(1, sizeof(*sorts) + request->item_count * sizeof(sorts->sorts[0]));
    if (sorts == NULL || !sorts_name(sorts, request)) {
        free(sorts);
        return NULL;
    }
    for (const struct shelf *shelf = &lookup->row->first; shelf != NULL;
         shelf = user_next_shelf(lookup->users, shelf)) {
        if ((shelf->flags & (SHELF_USED | SHELF_WARM)) != SHELF_USED || shelf->type >= LIMIT_TYPES)
            continue;
        uint16_t place = sorts->place[shelf->type][(shelf->flags & SHELF_WIDE) != 0];
        if (place == 0)
            continue;
        kind_set_add(&sorts->sorts[place - 1].there, shelf->kind);
        if (shelf->flags & SHELF_INCOMPLETE)
            kind_set_add(&sorts->sorts[place - 1].incomplete, shelf->kind);
    }
    return sorts;
}

/* Is there a shelf for this? Then also whether it is all there. */
static bool find_shelf(const struct lookup *lookup, uint8_t kind, struct item item,
                       bool *incomplete)
{
    if (lookup->row == NULL)
        return false;
    if (lookup->sorts != NULL) {
        uint16_t place = lookup->sorts->place[item.type][id_is_wide(item.id)];
        const struct sort *sort = &lookup->sorts->sorts[place - 1];
        *incomplete = kind_set_has(&sort->incomplete, kind);
        return kind_set_has(&sort->there, kind);
    }
    const struct shelf *shelf = user_shelf(lookup->users, lookup->row, kind, item, 0);
    *incomplete = shelf != NULL && shelf->flags & SHELF_INCOMPLETE;
    return shelf != NULL;
}

/* May the store have reactions of this kind on items like this one that no shelf has? */
static bool is_incomplete(const struct lookup *lookup, uint8_t kind, struct item item)
{
    bool incomplete;
    if (find_shelf(lookup, kind, item, &incomplete))
        return incomplete;
    return filter_said(
        &lookup->users->denied,
        filters_may_have_shelf(lookup->hot->filters, lookup->request->user, kind, item.type));
}

/* Only the store can tell, for all that memory and the filters know. */
static bool is_unknown(const struct lookup *lookup, uint8_t kind, struct item item,
                       uint64_t filter_key)
{
    struct cleared_key key = {.user = lookup->request->user, .item = item, .kind = kind};
    return filter_said(&lookup->users->denied,
                       filters_may_have_key(lookup->hot->filters, filter_key)) &&
           !cleared_has(&lookup->users->cleared, &key) && !user_absent_has(lookup->users, &key);
}

static bool unknown_add(struct lookup *lookup, uint32_t item, uint8_t kind)
{
    if (lookup->unknown_count == lookup->unknown_capacity) {
        struct unknown *unknown =
            array_grow(lookup->unknown, &lookup->unknown_capacity, lookup->unknown_count + 1,
                       LIMIT_FEED_ITEMS, sizeof(*unknown));
        if (unknown == NULL)
            return false;
        lookup->unknown = unknown;
    }
    lookup->unknown[lookup->unknown_count++] = (struct unknown){.item = item, .kind = kind};
    return true;
}

/* A window over the items whose place in the filters is on its way, with their keys there. */
struct fetched {
    uint32_t end; /* the first item not fetched yet */
    uint64_t keys[AHEAD * 2];
};

/* From `at` on so many; returns the key of that one. */
static uint64_t fetch_filters(const struct lookup *lookup, uint8_t kind, uint32_t at,
                              struct fetched *fetched)
{
    const struct hot_request *request = lookup->request;
    uint32_t end = at + AHEAD < request->item_count ? at + AHEAD : request->item_count - 1;
    for (uint32_t i = fetched->end > at ? fetched->end : at; i <= end; i++)
        fetched->keys[i % (AHEAD * 2)] =
            filters_prefetch_reaction(lookup->hot->filters, request->user, kind, request->items[i]);
    fetched->end = end + 1;
    return fetched->keys[at % (AHEAD * 2)];
}

/* OK; BLOCKED: some of it takes the store, and we may not wait. */
static enum status find_unknown(struct lookup *lookup, uint8_t kind, bool may_wait)
{
    const struct hot_request *request = lookup->request;
    struct item last = {0};
    struct fetched fetched;
    bool incomplete = false;
    fetched.end = 0;
    for (uint32_t i = 0; i < request->item_count; i++) {
        struct item item = request->items[i];
        if (i == 0 || item.type != last.type || id_is_wide(item.id) != id_is_wide(last.id))
            incomplete = is_incomplete(lookup, kind, item);
        last = item;
        if (!incomplete)
            continue;
        uint64_t key = fetch_filters(lookup, kind, i, &fetched);
        if (kind_set_has(&request->answers[i].kinds, kind) || !is_unknown(lookup, kind, item, key))
            continue;
        if (!may_wait)
            return STATUS_BLOCKED;
        if (!unknown_add(lookup, i, kind))
            return STATUS_NO_MEMORY;
    }
    return STATUS_OK;
}

static enum status find_unknown_kinds(struct lookup *lookup, bool may_wait)
{
    enum status status = STATUS_OK;
    if (lookup->kind >= 0)
        return find_unknown(lookup, (uint8_t)lookup->kind, may_wait);
    for (uint32_t word = 0; word < 4; word++) {
        uint64_t bits = atomic_load_explicit(&lookup->hot->kinds[word], memory_order_relaxed);
        for (; bits != 0 && status == STATUS_OK; bits &= bits - 1)
            status = find_unknown(lookup, (uint8_t)(word * 64 + (uint32_t)__builtin_ctzll(bits)),
                                  may_wait);
    }
    return status;
}

static enum status find_all_unknown(struct lookup *lookup, bool may_wait)
{
    lookup->unknown_count = 0;
    if (lookup->hot->filters == NULL || lookup->request->memory_only)
        return STATUS_OK;
    bool many = lookup->shelf_count > FEW_SHELVES;
    lookup->sorts = many ? sorts_make(lookup) : NULL;
    enum status status = find_unknown_kinds(lookup, may_wait);
    if (many)
        free(lookup->sorts);
    return status;
}

/* The user's shard is locked and the user looked up. */
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
 * It is live now: what was found of its group before it was set is not, and was noted as cleared when
 * it was. The rest is as live as this, if the kinds were made exclusive later.
 */
static void answer_add(struct lookup *lookup, uint32_t item, uint8_t kind)
{
    const struct exclusive *exclusive = lookup->hot->exclusive;
    const struct hot_request *request = lookup->request;
    struct kind_set *kinds = &request->answers[item].kinds;
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

/* The answer has come; what memory has learnt since comes first. */
static void settle(struct lookup *lookup, const struct store_reaction *read, uint32_t item)
{
    struct hot_memory *hot = lookup->hot;
    struct cleared_key key = {.user = read->user, .item = read->item, .kind = read->kind};
    struct shelf *shelf = lookup->row == NULL
                              ? NULL
                              : user_shelf(lookup->users, lookup->row, read->kind, read->item, 0);
    bool on_shelf = shelf != NULL &&
                    shelf_find(&lookup->users->slab, shelf, hot->scan, read->item.id).chunk != 0;
    bool live = on_shelf || (read->time_s != 0 && !cleared_has(&lookup->users->cleared, &key));
    if (live)
        answer_add(lookup, item, read->kind);
    if (live && !on_shelf) {
        hot_memory_warm(hot, lookup->users, lookup->user_hash, read->user, read->kind, read->item,
                        read->time_s);
        lookup->row = user_find(lookup->users, lookup->user_hash, read->user);
    } else if (!live) {
        user_absent_add(lookup->users, &key);
    }
}

/* Asks for up to LOAD_KEYS of them; with `share`, those that another worker asks for are left. */
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
    /* cppcheck-suppress ctuuninitvar; read_user() set it, but for the tables of probe_build() */
    for (uint32_t i = 0; i < lookup->request->item_count; i++)
        lookup->request->answers[i] = (struct hot_answer){0};
    lookup_lock(lookup);
    lookup->shelf_count = 0;
    if (lookup->row != NULL)
        look_through(lookup);
    enum status status = find_all_unknown(lookup, may_wait);
    lookup_unlock(lookup);
    return status;
}

/*
 * As a worker: what others were asking for meanwhile is known after the first time round. Without
 * any such there is no second one: it would ask again for all that found no room on the warm shelf.
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

static enum status read_user(struct hot_memory *hot, struct hot_request *request,
                             struct hot_trail trail, int kind, unsigned worker)
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

static bool scratch_reserve(struct hot_scratch *scratch)
{
    if (scratch->capacity - scratch->used >= LIMIT_NAMES)
        return true;
    uint32_t capacity = scratch->capacity * 2 + LIMIT_NAMES;
    struct hot_counter *counters = realloc(scratch->counters, capacity * sizeof(*counters));
    if (counters == NULL)
        return false;
    scratch->counters = counters;
    scratch->capacity = capacity;
    return true;
}

/* OK, NO_MEMORY; BLOCKED: its counters are not, or not all, in memory. */
static enum status read_item(struct hot_memory *hot, struct item item, uint64_t hash,
                             struct hot_answer *answer, struct hot_scratch *scratch)
{
    if (!scratch_reserve(scratch))
        return STATUS_NO_MEMORY;
    enum status status = STATUS_OK;
    answer->first = scratch->used;
    answer->count = 0;
    struct item_shard *shard = item_shard_of(hot, hash);
    pthread_mutex_lock(&shard->lock);
    struct item_row *row = item_find(shard, hash, item);
    if (row == NULL ? hot->filters != NULL &&
                          filter_said(&shard->denied, filters_may_have_item(hot->filters, item))
                    : (row->flags & ITEM_PARTIAL) != 0) {
        status = STATUS_BLOCKED;
    } else if (row != NULL) {
        answer->count = item_read(row, scratch->counters + scratch->used);
        item_touch(row);
    }
    pthread_mutex_unlock(&shard->lock);
    scratch->used += answer->count;
    return status;
}

/* Items of a request whose rows are on their way here. */
struct group {
    uint32_t from;
    uint32_t count;
    uint64_t hashes[ITEM_GROUP];
    const struct table_bucket *buckets[ITEM_GROUP];
};

static void group_fetch_buckets(struct hot_memory *hot, const struct hot_request *request,
                                uint32_t from, struct group *group)
{
    uint32_t left = request->item_count - from;
    group->from = from;
    group->count = left < ITEM_GROUP ? left : ITEM_GROUP;
    for (uint32_t i = 0; i < group->count; i++) {
        uint64_t hash = group->hashes[i] = item_hash_of(hot, request->items[from + i]);
        group->buckets[i] = table_prefetch(&item_shard_of(hot, hash)->table, hash);
    }
}

static void group_fetch_rows(struct hot_memory *hot, const struct group *group)
{
    uint32_t next[ITEM_GROUP];
    for (uint32_t i = 0; i < group->count; i++)
        next[i] = table_prefetch_next(&item_shard_of(hot, group->hashes[i])->table,
                                      group->buckets[i], group->hashes[i], ITEM_ROW_USUAL);
    for (uint32_t i = 0; i < group->count; i++)
        table_prefetch_rest(&item_shard_of(hot, group->hashes[i])->table, next[i], group->hashes[i],
                            ITEM_ROW_USUAL);
}

static void group_fetch(struct hot_memory *hot, const struct hot_request *request, uint32_t from,
                        struct group *group)
{
    group_fetch_buckets(hot, request, from, group);
    group_fetch_rows(hot, group);
}

/* With the user: one way waits for memory while the other is walked. */
static void feed_fetch(struct hot_memory *hot, const struct hot_request *request,
                       struct hot_trail trail, struct group *group)
{
    struct user_shard *users = user_shard_of(hot, trail.user);
    const struct table_bucket *bucket = table_prefetch(&users->table, trail.user);
    group_fetch_buckets(hot, request, 0, group);
    uint32_t next = user_prefetch(users, bucket, trail.user);
    group_fetch_rows(hot, group);
    user_prefetch_on(users, next, trail.user);
}

/* The first group is fetched already. */
static enum status read_items(struct hot_memory *hot, struct hot_request *request,
                              struct group *group, struct hot_scratch *scratch)
{
    enum status status = STATUS_OK;
    for (uint32_t at = 0; at < request->item_count && status == STATUS_OK; at++) {
        if (at == group->from + group->count)
            group_fetch(hot, request, at, group);
        status = read_item(hot, request->items[at], group->hashes[at - group->from],
                           &request->answers[at], scratch);
    }
    return status;
}

/* Past the cache: counters of an item for whose row there is no room. */
static enum status read_item_through(struct hot_memory *hot, unsigned worker, struct item item,
                                     struct hot_answer *answer, struct hot_scratch *scratch)
{
    uint64_t hash = item_hash_of(hot, item);
    struct store_item read = {.item = item};
    struct store_values values = {0};
    load_begin(&hot->loads, worker);
    enum status status = store_read_items(hot->store, NULL, &read, 1, &values);
    if (status == STATUS_OK) {
        status = read_item(hot, item, hash, answer, scratch);
        struct item_shard *shard = item_shard_of(hot, hash);
        pthread_mutex_lock(&shard->lock);
        bool absent = item_find(shard, hash, item) == NULL;
        pthread_mutex_unlock(&shard->lock);
        if (status == STATUS_BLOCKED && absent) {
            for (uint32_t i = 0; i < read.count; i++)
                scratch->counters[scratch->used++] =
                    (struct hot_counter){.value = values.values[read.first + i].value,
                                         .name = values.values[read.first + i].name};
            answer->count = read.count;
            status = STATUS_OK;
        }
    }
    load_end(&hot->loads, worker);
    free(values.values);
    return status;
}

/* As a worker: loads what is missing, then reads; what went again meanwhile is read through. */
static enum status read_items_and_wait(struct hot_memory *hot, struct hot_request *request,
                                       struct hot_scratch *scratch, unsigned worker)
{
    enum status status = load_items(hot, worker, request->items, request->item_count);
    if (status != STATUS_OK && status != STATUS_NO_MEMORY)
        return status;
    status = STATUS_OK;
    for (uint32_t i = 0; i < request->item_count && status == STATUS_OK; i++) {
        struct hot_answer *answer = &request->answers[i];
        uint64_t hash = item_hash_of(hot, request->items[i]);
        status = read_item(hot, request->items[i], hash, answer, scratch);
        for (int tries = 0; status == STATUS_BLOCKED; tries++) {
            status = read_item_through(hot, worker, request->items[i], answer, scratch);
            if (status == STATUS_BLOCKED && !keeper_wait(hot, tries))
                status = STATUS_NO_MEMORY;
            if (status == STATUS_BLOCKED &&
                load_items(hot, worker, &request->items[i], 1) == STATUS_OK)
                status = read_item(hot, request->items[i], hash, answer, scratch);
        }
    }
    return status;
}

static bool read_all_items(struct hot_memory *hot, struct hot_request *request, struct group *group,
                           struct hot_scratch *scratch, unsigned worker)
{
    uint32_t used = scratch->used;
    request->status = read_items(hot, request, group, scratch);
    if (request->status != STATUS_BLOCKED)
        return true;
    scratch->used = used;
    if (worker == LOAD_NOBODY)
        return false;
    request->status = read_items_and_wait(hot, request, scratch, worker);
    return true;
}

bool hot_memory_ask(struct hot_memory *hot, struct hot_request *request, struct hot_trail trail,
                    unsigned worker)
{
    request->status = read_user(hot, request, trail, request->name, worker);
    return request->status != STATUS_BLOCKED;
}

bool hot_memory_counts(struct hot_memory *hot, struct hot_request *request,
                       struct hot_scratch *scratch, unsigned worker)
{
    for (uint32_t i = 0; i < request->item_count; i++)
        request->answers[i].kinds = (struct kind_set){0};
    struct group group;
    group_fetch(hot, request, 0, &group);
    return read_all_items(hot, request, &group, scratch, worker);
}

bool hot_memory_feed(struct hot_memory *hot, struct hot_request *request, struct hot_trail trail,
                     struct hot_scratch *scratch, unsigned worker)
{
    struct group group;
    feed_fetch(hot, request, trail, &group); /* it takes as long as looking through the shelves */
    request->status = read_user(hot, request, trail, KIND_ALL, worker);
    if (request->status == STATUS_BLOCKED)
        return false;
    return request->status != STATUS_OK || read_all_items(hot, request, &group, scratch, worker);
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

/*
 * Reading: the user's side once for the whole request, then each item's row. For a few items each
 * shelf is scanned for each of them; for a page of them the page becomes a small probe table and
 * each shelf streams through it once, so that 200 items cost hardly more than 20.
 */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "hot/memory/hot_memory_priv.h"

#define SCAN_ITEMS  12 /* up to so many, scanning for each is faster */
#define PROBE_HEADS 4096
#define STORE_KEYS  128 /* asked of the store at a time */
#define ITEM_GROUP  32  /* rows prefetched at a time */

_Static_assert(PROBE_HEADS >= 4 * LIMIT_ITEMS, "probes mostly hit an empty head");

struct lookup {
    struct hot_memory *hot;
    struct user_shard *users;
    struct hot_request *request;
    const struct shelf *shelf; /* the one being looked through */
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
static enum status look_through(struct lookup *lookup, struct user_row *row, int kind)
{
    bool probe = lookup->request->item_count > SCAN_ITEMS;
    if (probe)
        probe_build(lookup);
    for (struct shelf *shelf = &row->first; shelf != NULL;
         shelf = user_next_shelf(lookup->users, shelf)) {
        if (!(shelf->flags & SHELF_USED) || (kind >= 0 && shelf->kind != kind))
            continue;
        lookup->shelf = shelf;
        if (probe)
            shelf_visit(&lookup->users->slab, shelf, probe_visit, lookup);
        else
            shelf_scan_each(lookup);
    }
    return STATUS_OK;
}

static enum status read_user(struct hot_memory *hot, struct hot_request *request,
                             struct hot_trail trail, int kind)
{
    for (uint32_t i = 0; i < request->item_count; i++)
        request->answers[i] = (struct hot_answer){0};
    struct lookup lookup;
    lookup.hot = hot;
    lookup.users = user_shard_of(hot, trail.user);
    lookup.request = request;
    pthread_mutex_lock(&lookup.users->lock);
    struct user_row *row = user_find(lookup.users, trail.user, request->user, trail.guess);
    enum status status = row == NULL ? STATUS_OK : look_through(&lookup, row, kind);
    pthread_mutex_unlock(&lookup.users->lock);
    return status;
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

static bool read_item(struct hot_memory *hot, struct item item, uint64_t hash, uint32_t time_s,
                      struct hot_answer *answer, struct hot_scratch *scratch)
{
    if (!scratch_reserve(scratch))
        return false;
    answer->first = scratch->used;
    answer->count = 0;
    struct item_shard *shard = item_shard_of(hot, hash);
    pthread_mutex_lock(&shard->lock);
    struct item_row *row = item_find(shard, hash, item);
    if (row != NULL) {
        item_read(row, scratch->counters + scratch->used);
        answer->count = row->count;
        row->time_s = time_s;
    }
    pthread_mutex_unlock(&shard->lock);
    scratch->used += answer->count;
    return true;
}

static enum status read_group(struct hot_memory *hot, struct hot_request *request, uint32_t from,
                              uint32_t count, struct hot_scratch *scratch)
{
    uint64_t hashes[ITEM_GROUP];
    const struct table_bucket *buckets[ITEM_GROUP];
    const struct item *items = request->items + from;
    for (uint32_t i = 0; i < count; i++) {
        hashes[i] = item_hash_of(hot, items[i]);
        buckets[i] = table_prefetch(&item_shard_of(hot, hashes[i])->table, hashes[i]);
    }
    for (uint32_t i = 0; i < count; i++)
        item_prefetch(item_shard_of(hot, hashes[i]), buckets[i], hashes[i]);
    for (uint32_t i = 0; i < count; i++)
        if (!read_item(hot, items[i], hashes[i], request->time_s, &request->answers[from + i],
                       scratch))
            return STATUS_NO_MEMORY;
    return STATUS_OK;
}

static enum status read_items(struct hot_memory *hot, struct hot_request *request,
                              struct hot_scratch *scratch)
{
    enum status status = STATUS_OK;
    for (uint32_t from = 0; from < request->item_count && status == STATUS_OK; from += ITEM_GROUP) {
        uint32_t left = request->item_count - from;
        status = read_group(hot, request, from, left < ITEM_GROUP ? left : ITEM_GROUP, scratch);
    }
    return status;
}

void hot_memory_ask(struct hot_memory *hot, struct hot_request *request, struct hot_trail trail)
{
    request->status = read_user(hot, request, trail, request->name);
}

void hot_memory_counts(struct hot_memory *hot, struct hot_request *request,
                       struct hot_scratch *scratch)
{
    for (uint32_t i = 0; i < request->item_count; i++)
        request->answers[i].kinds = (struct kind_set){0};
    request->status = read_items(hot, request, scratch);
}

void hot_memory_feed(struct hot_memory *hot, struct hot_request *request, struct hot_trail trail,
                     struct hot_scratch *scratch)
{
    request->status = read_user(hot, request, trail, -1);
    if (request->status == STATUS_OK)
        request->status = read_items(hot, request, scratch);
}

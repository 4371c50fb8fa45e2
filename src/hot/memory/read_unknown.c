/*
 * A reaction that is on no shelf may be in the store. For nearly all of them a complete shelf, a filter, a
 * note that it was cleared, or a note that the store does not have it, says that it is not set. This file
 * finds the rest.
 *
 * Whether a shelf is complete is checked for each kind and type. For a user with many shelves an index of
 * the shelves is made first, in one walk; otherwise a request with many types would walk over all shelves
 * for each type.
 */
#include <stdlib.h>

#include "base/array.h"
#include "filter/filters.h"
#include "hot/memory/read.h"

#define AHEAD       16 /* items whose filter entries are prefetched before they are needed */
#define FEW_SHELVES 16 /* up to this number, walking over them each time is faster */

/* The kinds that a user has shelves of for one type and width of ids, and which are incomplete. */
struct shelf_kinds {
    struct kind_set there;
    struct kind_set incomplete;
};

/* The shelves for all items of a request, by type and width. */
struct shelf_index {
    uint16_t at[LIMIT_TYPES][2]; /* 1 + index in entries, 0: there is no such item */
    struct shelf_kinds entries[];
};

/* Makes an entry for each type and width of the items. False: the type of an item is out of range. */
static bool index_name(struct shelf_index *index, const struct hot_request *request)
{
    uint16_t count = 0;
    for (uint32_t i = 0; i < request->item_count; i++) {
        struct item item = request->items[i];
        if (item.type >= LIMIT_TYPES)
            return false;
        uint16_t *at = &index->at[item.type][id_is_wide(item.id)];
        if (*at == 0)
            *at = ++count;
    }
    return true;
}

/* Makes the index in one walk over the user's shelves. NULL: no memory; then no index is used. */
static struct shelf_index *index_make(const struct lookup *lookup)
{
    const struct hot_request *request = lookup->request;
    struct shelf_index *index =
        calloc(1, sizeof(*index) + request->item_count * sizeof(index->entries[0]));
    if (index == NULL || !index_name(index, request)) {
        free(index);
        return NULL;
    }
    for (const struct shelf *shelf = &lookup->row->first; shelf != NULL;
         shelf = user_next_shelf(lookup->users, shelf)) {
        if ((shelf->flags & (SHELF_USED | SHELF_WARM)) != SHELF_USED || shelf->type >= LIMIT_TYPES)
            continue;
        uint16_t at = index->at[shelf->type][(shelf->flags & SHELF_WIDE) != 0];
        if (at == 0)
            continue;
        kind_set_add(&index->entries[at - 1].there, shelf->kind);
        if (shelf->flags & SHELF_INCOMPLETE)
            kind_set_add(&index->entries[at - 1].incomplete, shelf->kind);
    }
    return index;
}

/* Is there a shelf for this kind and item? If so, also says whether it is complete. */
static bool find_shelf(const struct lookup *lookup, uint8_t kind, struct item item,
                       bool *incomplete)
{
    if (lookup->row == NULL)
        return false;
    if (lookup->index != NULL) {
        uint16_t at = lookup->index->at[item.type][id_is_wide(item.id)];
        const struct shelf_kinds *kinds = &lookup->index->entries[at - 1];
        *incomplete = kind_set_has(&kinds->incomplete, kind);
        return kind_set_has(&kinds->there, kind);
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

/* Is the store needed, because neither memory nor the filters have the answer? */
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

/* The items whose filter entries are being prefetched, with their filter keys. */
struct fetched {
    uint32_t end; /* the first item not fetched yet */
    uint64_t keys[AHEAD * 2];
};

/* Prefetches AHEAD items from `at` on; returns the filter key of item `at`. */
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

/* OK; BLOCKED: the store is needed, and the caller may not wait. */
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
        if (kind_set_has(&request->read.answers[i].kinds, kind) ||
            !is_unknown(lookup, kind, item, key))
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

enum status lookup_find_unknown(struct lookup *lookup, bool may_wait)
{
    lookup->unknown_count = 0;
    if (lookup->hot->filters == NULL || lookup->request->read.memory_only)
        return STATUS_OK;
    bool many = lookup->shelf_count > FEW_SHELVES;
    lookup->index = many ? index_make(lookup) : NULL;
    enum status status = find_unknown_kinds(lookup, may_wait);
    if (many)
        free(lookup->index);
    return status;
}

/*
 * Finds which of a request's items are on the shelves of a user. For a few items, each shelf is scanned
 * for each item. For many items, a small hash table of the items is built, and each entry of a shelf is
 * looked up there once, so that 200 items cost hardly more than 20.
 */
#include "hot/memory/read.h"

#define SCAN_ITEMS 12 /* up to this number of items, a scan for each is faster */

static bool shelf_is_for(const struct shelf *shelf, struct item item)
{
    return shelf->type == item.type && ((shelf->flags & SHELF_WIDE) != 0) == id_is_wide(item.id);
}

static void probe_add_kind(struct lookup *lookup, uint32_t at, uint64_t lo, uint64_t hi)
{
    struct hot_request *request = lookup->request;
    for (; at != 0; at = lookup->probe.next[at - 1]) {
        struct item item = request->items[at - 1];
        if (item.id.lo == lo && item.id.hi == hi && item.type == lookup->shelf->type)
            kind_set_add(&request->read.answers[at - 1].kinds, lookup->shelf->kind);
    }
}

static void probe_visit(void *context, const uint64_t *lo, const uint64_t *hi,
                        const uint32_t *times, size_t count)
{
    (void)times;
    struct lookup *lookup = context;
    for (size_t i = 0; i < count; i++) {
        uint32_t at = item_probe_head(&lookup->probe, lo[i]);
        if (__builtin_expect(at != 0, 0))
            probe_add_kind(lookup, at, lo[i], hi != NULL ? hi[i] : 0);
    }
}

static void shelf_scan_each(struct lookup *lookup)
{
    struct hot_request *request = lookup->request;
    for (uint32_t i = 0; i < request->item_count; i++) {
        if (!shelf_is_for(lookup->shelf, request->items[i]))
            continue;
        struct shelf_slot slot = shelf_find(&lookup->users->slab, lookup->shelf, lookup->hot->scan,
                                            request->items[i].id);
        if (slot.chunk != 0)
            kind_set_add(&request->read.answers[i].kinds, lookup->shelf->kind);
    }
}

void lookup_walk_shelves(struct lookup *lookup)
{
    bool probe = lookup->request->item_count > SCAN_ITEMS;
    if (probe)
        item_probe_build(&lookup->probe, lookup->request->items, lookup->request->item_count,
                         PROBE_USUAL, lookup->hot->seed);
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

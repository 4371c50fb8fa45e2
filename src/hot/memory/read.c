/* ASK, COUNTS and FEED. They return false if they need the store and the caller is an I/O thread. */
#include "hot/memory/read.h"
#include "hot/memory/queries.h"

bool hot_memory_ask(struct hot_memory *hot, struct hot_request *request, struct hot_trail trail,
                    struct hot_scratch *scratch, unsigned worker)
{
    (void)scratch;
    request->status = read_user(hot, request, trail, request->name, worker);
    return request->status != STATUS_BLOCKED;
}

bool hot_memory_counts(struct hot_memory *hot, struct hot_request *request, struct hot_trail trail,
                       struct hot_scratch *scratch, unsigned worker)
{
    (void)trail;
    for (uint32_t i = 0; i < request->item_count; i++)
        request->read.answers[i].kinds = (struct kind_set){0};
    struct item_group group;
    item_group_fetch(hot, request, 0, &group);
    return read_all_items(hot, request, &group, scratch, worker);
}

/*
 * Adds the friends to the answer. False: the request needs a worker. Counters that were appended before
 * are removed then.
 */
static bool read_friends(struct hot_memory *hot, struct hot_request *request,
                         struct hot_trail trail, struct hot_scratch *scratch, uint32_t used,
                         unsigned worker)
{
    if (request->status != STATUS_OK || request->read.friends == 0)
        return true;
    request->status = hot_memory_feed_friends(hot, request, trail, scratch, worker);
    if (request->status != STATUS_BLOCKED)
        return true;
    scratch->used = used;
    return false;
}

bool hot_memory_feed(struct hot_memory *hot, struct hot_request *request, struct hot_trail trail,
                     struct hot_scratch *scratch, unsigned worker)
{
    struct item_group group;
    uint32_t used = scratch->used;
    item_group_fetch_with_user(hot, request, trail,
                               &group); /* the items arrive while the shelves are searched */
    request->status = read_user(hot, request, trail, LOOKUP_ALL_KINDS, worker);
    if (request->status == STATUS_BLOCKED)
        return false;
    if (request->status != STATUS_OK)
        return true;
    return read_all_items(hot, request, &group, scratch, worker) &&
           read_friends(hot, request, trail, scratch, used, worker);
}

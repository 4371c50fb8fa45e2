/*
 * The list of followed users is read first, and the answer overwrites it in the same array: the time of
 * each entry becomes the time of that user's reaction. The tier has the answer for nearly all of these
 * users. The store is asked about the others, many keys at a time, and its answers are then corrected by
 * the tier (tier.h has the rule).
 */
#include "base/assert.h"
#include "query/friends_priv.h"
#include "query/list.h"

/* Asks the store about the users that are QUERY_UNKNOWN, and adds their number to *rows. */
static enum status read_unknown(struct query_tier *tier, const struct query_lookup *lookup,
                                size_t *rows)
{
    struct store_reaction keys[FRIENDS_READ_KEYS];
    uint32_t indices[FRIENDS_READ_KEYS];
    for (uint32_t at = 0; at < lookup->count;) {
        size_t count = 0;
        for (; at < lookup->count && count < FRIENDS_READ_KEYS; at++) {
            if (lookup->users[at].time_s != QUERY_UNKNOWN)
                continue;
            indices[count] = at;
            keys[count++] = (struct store_reaction){
                .user = lookup->users[at].id, .item = lookup->item, .kind = lookup->kind};
        }
        if (count == 0)
            break;
        *rows += count;
        enum status status = store_read_reactions(tier->store, keys, count);
        if (status != STATUS_OK)
            return status;
        tier->functions->settle(tier, keys, count);
        for (size_t i = 0; i < count; i++)
            lookup->users[indices[i]].time_s = keys[i].time_s;
    }
    return STATUS_OK;
}

enum status query_friends_look_up(struct query_tier *tier, const struct query_lookup *lookup)
{
    if (!tier->may_wait)
        return tier->functions->look_up(tier, lookup) == 0 ? STATUS_OK : STATUS_BLOCKED;
    size_t rows = 0;
    enum status status = STATUS_OK;
    tier->functions->read_begin(tier);
    if (tier->functions->look_up(tier, lookup) > 0) {
        ASSERT(tier->store != NULL);
        status = read_unknown(tier, lookup, &rows);
    }
    tier->functions->read_end(tier, rows);
    return status;
}

/*
 * Keeps the newest LIMIT_FRIENDS entries of scratch->listed[first …). A tier mostly gives them by time, and
 * then only those need to be ordered that have the same time as the last one that is kept.
 */
static void keep_newest(struct hot_scratch *scratch, uint32_t first)
{
    struct store_listed *listed = scratch->listed + first;
    uint32_t count = scratch->listed_used - first, equal = 0;
    bool by_time = true;
    if (count <= LIMIT_FRIENDS)
        return;
    uint32_t last_s = listed[LIMIT_FRIENDS - 1].time_s;
    for (uint32_t i = 1; by_time && i < count; i++)
        by_time = listed[i - 1].time_s >= listed[i].time_s;
    while (by_time && listed[equal].time_s > last_s)
        equal++;
    query_list_order(scratch, first + equal, LIMIT_FRIENDS - equal);
}

enum status query_followees(struct query_tier *tier, struct id user, struct query_follow follow,
                            struct hot_scratch *scratch)
{
    struct query_page followed = {
        .user = user,
        .kind = follow.kind,
        .type = follow.type,
        .limit = LIMIT_FRIENDS,
        .any_order = !follow.ordered,
    };
    uint32_t first = scratch->listed_used, complete_after_s;
    enum status status = follow.memory_only
                             ? tier->functions->newest(tier, &followed, scratch, &complete_after_s)
                             : query_list_read(tier, &followed, scratch);
    if (status == STATUS_OK)
        keep_newest(scratch, first);
    else
        scratch->listed_used = first;
    return status;
}

/* Keeps the users who have the reaction; returns how many. */
static uint32_t keep_set(struct store_listed *users, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (users[i].time_s != QUERY_NOT_SET)
            users[kept++] = users[i];
    return kept;
}

/* Appends the answer. One followed user more than is allowed is read, to find out if there are too many. */
static enum status read_friends(struct query_tier *tier, const struct hot_request *request,
                                struct hot_scratch *scratch)
{
    struct query_page followed = {
        .user = request->user,
        .kind = request->list.follow,
        .type = request->list.type,
        .limit = LIMIT_FOLLOWEES + 1,
        .any_order = true,
    };
    uint32_t first = scratch->listed_used;
    enum status status = query_list_read(tier, &followed, scratch);
    if (status != STATUS_OK)
        return status;
    struct query_lookup lookup = {.item = request->items[0],
                                  .kind = request->name,
                                  .users = scratch->listed + first,
                                  .count = scratch->listed_used - first};
    if (lookup.count > LIMIT_FOLLOWEES)
        return STATUS_TOO_MANY_FOLLOWEES;
    status = query_friends_look_up(tier, &lookup);
    if (status == STATUS_OK) {
        scratch->listed_used = first + keep_set(lookup.users, lookup.count);
        query_list_order(scratch, first, request->list.limit);
    }
    return status;
}

void query_friends(struct query_tier *tier, struct hot_request *request,
                   struct hot_scratch *scratch)
{
    uint32_t first = scratch->listed_used;
    ASSERT(request->action == HOT_FRIENDS && request->item_count == 1);
    request->status = request->list.second ? query_friends_second(tier, request, scratch)
                                           : read_friends(tier, request, scratch);
    if (request->status != STATUS_OK)
        scratch->listed_used = first;
    request->list.more = false;
    request->list.first = first;
    request->list.count = (scratch->listed_used - first) / hot_list_stride(request);
}

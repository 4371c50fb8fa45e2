/*
 * The friends of a FEED. The followees are read once, and then all of them are looked up for all items
 * together. The tier has the answer for nearly all of these reactions. The store is asked about the
 * others, many keys at a time, and its answers are then corrected by the tier (tier.h has the rule).
 *
 * Nothing here grows with the number of friends: they are counted, and only the newest ones are kept,
 * where the answer has them (hot_feed_friends).
 */
#include <stdlib.h>

#include "base/assert.h"
#include "hot/scratch.h"
#include "query/friends_priv.h"

/* The answer while it is made. */
struct naming {
    struct store_listed *entries; /* of all items, see hot_feed_friends */
    const struct store_listed *users;
    uint32_t most; /* named for each item */
};

static void name_friend(void *context, uint32_t item, uint32_t user, uint32_t time_s)
{
    const struct naming *naming = context;
    struct store_listed *entries = naming->entries + (size_t)item * (naming->most + 1);
    struct store_listed found = {.time_s = time_s, .id = naming->users[user].id};
    uint32_t named = entries[0].time_s < naming->most ? entries[0].time_s : naming->most;
    entries[0].time_s++;
    if (named == naming->most && store_listed_order(found, entries[named]) > 0)
        return;
    uint32_t at = named < naming->most ? named + 1 : named;
    for (; at > 1 && store_listed_order(found, entries[at - 1]) < 0; at--)
        entries[at] = entries[at - 1];
    entries[at] = found;
}

/* Asks the store about the unknown reactions of the grid, and adds their number to *rows. */
static enum status read_unknown(struct query_tier *tier, const struct query_grid *grid,
                                size_t *rows)
{
    struct store_reaction keys[FRIENDS_READ_KEYS];
    enum status status = STATUS_OK;
    for (size_t from = 0; from < grid->unknown_count && status == STATUS_OK;
         from += FRIENDS_READ_KEYS) {
        const struct query_cell *cells = grid->unknown + from;
        size_t left = grid->unknown_count - from;
        size_t count = left < FRIENDS_READ_KEYS ? left : FRIENDS_READ_KEYS;
        for (size_t i = 0; i < count; i++)
            keys[i] = (struct store_reaction){.user = grid->users[cells[i].user].id,
                                              .item = grid->items[cells[i].item],
                                              .kind = grid->kind};
        *rows += count;
        status = store_read_reactions(tier->store, keys, count);
        if (status != STATUS_OK)
            break;
        tier->functions->settle(tier, keys, count);
        for (size_t i = 0; i < count; i++)
            if (keys[i].time_s != QUERY_NOT_SET)
                grid->found(grid->context, cells[i].item, cells[i].user, keys[i].time_s);
    }
    return status;
}

static enum status look_up(struct query_tier *tier, struct query_grid *grid)
{
    if (!tier->may_wait)
        return tier->functions->look_up_grid(tier, grid);
    size_t rows = 0;
    tier->functions->read_begin(tier);
    enum status status = tier->functions->look_up_grid(tier, grid);
    if (status == STATUS_OK && grid->unknown_count > 0) {
        ASSERT(tier->store != NULL);
        status = read_unknown(tier, grid, &rows);
    }
    tier->functions->read_end(tier, rows);
    free(grid->unknown);
    return status;
}

static enum status find_friends(struct query_tier *tier, const struct hot_request *request,
                                struct hot_scratch *scratch, uint32_t first)
{
    uint32_t followees = scratch->listed_used;
    struct query_follow follow = {.type = request->read.follow_type,
                                  .kind = request->read.follow,
                                  .memory_only = request->read.memory_only};
    enum status status = query_followees(tier, request->user, follow, scratch);
    if (status != STATUS_OK || scratch->listed_used == followees)
        return status;
    struct naming naming = {.entries = scratch->listed + first,
                            .users = scratch->listed + followees,
                            .most = request->read.friends};
    struct query_grid grid = {.items = request->items,
                              .item_count = request->item_count,
                              .users = naming.users,
                              .user_count = scratch->listed_used - followees,
                              .kind = request->name,
                              .memory_only = request->read.memory_only,
                              .found = name_friend,
                              .context = &naming};
    return look_up(tier, &grid);
}

enum status query_feed_friends(struct query_tier *tier, struct hot_request *request,
                               struct hot_scratch *scratch)
{
    uint32_t stride = request->read.friends + 1U, first = scratch->listed_used;
    ASSERT(request->action == HOT_FEED && stride > 1 && request->item_count <= LIMIT_FEED_ITEMS);
    if (!hot_scratch_reserve_listed(scratch, (size_t)request->item_count * stride))
        return STATUS_NO_MEMORY;
    for (uint32_t i = 0; i < request->item_count; i++)
        scratch->listed[first + i * stride].time_s = 0;
    scratch->listed_used += request->item_count * stride;
    enum status status = find_friends(tier, request, scratch, first);
    scratch->listed_used = status == STATUS_OK ? first + request->item_count * stride : first;
    request->read.first_friends = first;
    return status;
}

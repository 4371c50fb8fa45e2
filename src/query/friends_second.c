/*
 * FRIENDS with DEPTH 2. The users whom followees follow can be a quarter of a million, so they are not
 * collected: they are looked up some thousands at a time, and of those who have the reaction only the
 * newest list.limit are kept. A user whom several followees follow is looked up several times. Each time
 * has the same result, so a user who was not kept the first time is not kept the second time either, and
 * only those that are kept have to be compared to list nobody twice.
 *
 * Users are looked up in the order of the answer's preference: first the followees themselves, then whom
 * the newest followee follows, and so on. The first of them who leads to a user is the one that is named.
 */
#include <string.h>

#include "base/assert.h"
#include "hot/scratch.h"
#include "query/friends_priv.h"

#define LOOK_UP_USERS 2048 /* looked up at a time */

struct kept {
    struct store_listed user;
    struct store_listed via; /* time 0: directly */
};

struct second {
    struct query_tier *tier;
    const struct hot_request *request;
    struct hot_scratch *scratch;
    uint32_t followees; /* scratch->listed[followees … followees + followee_count) */
    uint32_t followee_count;
    uint32_t candidates; /* from here on, users who are to be looked up; `type` says through whom */
    uint32_t kept_count;
    struct kept kept[LIMIT_LIST]; /* newest first */
};

/* `type` of a candidate is 1 + the index of the followee that it comes from; 0: it is a followee itself. */
_Static_assert(LIMIT_FRIENDS < UINT16_MAX, "a followee's index fits");

static void keep(struct second *second, struct store_listed found)
{
    uint32_t limit = second->request->list.limit, at = second->kept_count;
    uint16_t via = found.type;
    found.type = 0;
    if (at == limit && store_listed_order(found, second->kept[at - 1].user) > 0)
        return;
    for (uint32_t i = 0; i < second->kept_count; i++)
        if (id_equal(second->kept[i].user.id, found.id))
            return;
    at -= at == limit;
    second->kept_count = at + 1;
    for (; at > 0 && store_listed_order(found, second->kept[at - 1].user) < 0; at--)
        second->kept[at] = second->kept[at - 1];
    second->kept[at] = (struct kept){.user = found};
    if (via > 0)
        second->kept[at].via = second->scratch->listed[second->followees + via - 1];
}

/* Looks the candidates up, and removes them. */
static enum status look_up_candidates(struct second *second)
{
    struct hot_scratch *scratch = second->scratch;
    struct query_lookup lookup = {.item = second->request->items[0],
                                  .kind = second->request->name,
                                  .users = scratch->listed + second->candidates,
                                  .count = scratch->listed_used - second->candidates};
    scratch->listed_used = second->candidates;
    if (lookup.count == 0)
        return STATUS_OK;
    enum status status = query_friends_look_up(second->tier, &lookup);
    for (uint32_t i = 0; i < lookup.count && status == STATUS_OK; i++)
        if (lookup.users[i].time_s != QUERY_NOT_SET)
            keep(second, lookup.users[i]);
    return status;
}

/* Adds the users whom a followee follows, but not the user of the request. */
static enum status add_candidates(struct second *second, uint16_t followee)
{
    const struct hot_request *request = second->request;
    struct hot_scratch *scratch = second->scratch;
    struct query_follow follow = {.type = request->list.type, .kind = request->list.follow};
    uint32_t used = scratch->listed_used;
    enum status status = query_followees(
        second->tier, scratch->listed[second->followees + followee].id, follow, scratch);
    uint32_t end = scratch->listed_used;
    for (uint32_t i = used; i < end && status == STATUS_OK; i++) {
        scratch->listed[i].type = (uint16_t)(followee + 1);
        if (!id_equal(scratch->listed[i].id, request->user))
            scratch->listed[used++] = scratch->listed[i];
    }
    scratch->listed_used = used;
    return status;
}

static enum status add_followees(struct second *second)
{
    struct hot_scratch *scratch = second->scratch;
    if (second->followee_count == 0)
        return STATUS_OK; /* the array may not exist yet */
    if (!hot_scratch_reserve_listed(scratch, second->followee_count))
        return STATUS_NO_MEMORY;
    memcpy(scratch->listed + second->candidates, scratch->listed + second->followees,
           second->followee_count * sizeof(scratch->listed[0]));
    scratch->listed_used += second->followee_count;
    return STATUS_OK;
}

static enum status find_all(struct second *second)
{
    enum status status = add_followees(second);
    for (uint16_t i = 0; i < second->followee_count && status == STATUS_OK; i++) {
        if (second->scratch->listed_used - second->candidates >= LOOK_UP_USERS)
            status = look_up_candidates(second);
        if (status == STATUS_OK)
            status = add_candidates(second, i);
    }
    return status == STATUS_OK ? look_up_candidates(second) : status;
}

static enum status append_kept(const struct second *second)
{
    struct hot_scratch *scratch = second->scratch;
    if (!hot_scratch_reserve_listed(scratch, 2 * (size_t)second->kept_count))
        return STATUS_NO_MEMORY;
    for (uint32_t i = 0; i < second->kept_count; i++) {
        scratch->listed[scratch->listed_used++] = second->kept[i].user;
        scratch->listed[scratch->listed_used++] = second->kept[i].via;
    }
    return STATUS_OK;
}

enum status query_friends_second(struct query_tier *tier, const struct hot_request *request,
                                 struct hot_scratch *scratch)
{
    ASSERT(request->list.limit >= 1 && request->list.limit <= LIMIT_LIST);
    if (!tier->may_wait)
        return STATUS_BLOCKED;
    struct second second;
    second.tier = tier;
    second.request = request;
    second.scratch = scratch;
    second.followees = scratch->listed_used;
    second.kept_count = 0;
    struct query_follow follow = {
        .type = request->list.type, .kind = request->list.follow, .ordered = true};
    enum status status = query_followees(tier, request->user, follow, scratch);
    if (status != STATUS_OK)
        return status;
    second.candidates = scratch->listed_used;
    second.followee_count = scratch->listed_used - second.followees;
    status = find_all(&second);
    scratch->listed_used = second.followees;
    return status == STATUS_OK ? append_kept(&second) : status;
}

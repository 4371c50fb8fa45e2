/*
 * Only the store is read, after it has reached the user's last change. Why nothing is missed:
 *
 * A round notes `until` when it begins, in one step with the point of the user's last change: every
 * change up to that point is in the store before it is read, and every later change has a time of
 * `until` or later (user_point in tier.h). Take any reaction.
 *
 *   It does not change while the round's pages are read. If it last changed at `since` or later, its
 *   position in the order of the walk is fixed, and the walk passes it, so the page has its state.
 *   If it last changed before `since`, the client's copy has had it right since an earlier round.
 *
 *   It changes while the pages are read. Then the round may report its old state, its new state, or
 *   nothing; but that change has a time of `until` or later, so the next round, which begins there,
 *   reports it.
 *
 * A round reports states of moments after it began, never older ones: of the cleared reactions only
 * those that are not set again. So it does no harm if a reaction is reported twice, or although it did
 * not change; and after a round during which nothing changed, the client's copy is exact.
 *
 * `until` is no later than the newest event that the store has, because only recorded times bound
 * the times of decisions after a restart, when the clock may have been set back.
 */
#include "query/changes.h"

#include "base/assert.h"
#include "hot/scratch.h"

/* `until` of a round that began before anything was recorded; the next such round starts over. */
#define NO_EVENT_S 1

static enum status read_page(struct query_tier *tier, const struct hot_request *request,
                             struct hot_scratch *scratch, uint64_t point,
                             struct store_changed *changed)
{
    enum status status = tier->functions->reach(tier, point);
    if (status != STATUS_OK)
        return status;
    return store_list_changes(tier->store, request->user, request->changes.since_s,
                              request->changes.after, scratch->listed + scratch->listed_used,
                              request->changes.limit, changed);
}

/*
 * After a crash a cursor may be newer than the store, until the projector has applied the journal again.
 * The client has to start over only if the store has everything and still says START_OVER. The same
 * holds for a store that has no event yet: if there is any event, it is in the journal, and its time is
 * the beginning of the next round.
 */
static bool read_too_early(enum status status, const struct hot_request *request, bool begins,
                           const struct store_changed *changed)
{
    return status == STATUS_START_OVER ||
           (status == STATUS_OK && begins && changed->newest_s == 0 &&
            request->changes.until_s > NO_EVENT_S);
}

static enum status read_changes(struct query_tier *tier, struct hot_request *request,
                                struct hot_scratch *scratch)
{
    bool begins = request->changes.until_s == 0;
    struct store_changed changed;
    uint32_t least_s;
    uint64_t point = tier->functions->user_point(tier, request->user, &least_s);
    if (begins)
        request->changes.until_s = least_s == 0 ? NO_EVENT_S : least_s;
    if (!hot_scratch_reserve_listed(scratch, request->changes.limit))
        return STATUS_NO_MEMORY;
    enum status status = read_page(tier, request, scratch, point, &changed);
    if (read_too_early(status, request, begins, &changed))
        status = read_page(tier, request, scratch, QUERY_POINT_LATEST, &changed);
    if (status != STATUS_OK)
        return status;
    ASSERT(changed.count <= request->changes.limit);
    uint32_t newest_s = changed.newest_s == 0 ? NO_EVENT_S : changed.newest_s;
    if (begins && newest_s < request->changes.until_s)
        request->changes.until_s = newest_s;
    request->changes.first = scratch->listed_used;
    request->changes.count = (uint32_t)changed.count;
    request->changes.more = changed.more;
    request->changes.after = changed.last;
    scratch->listed_used += request->changes.count;
    return STATUS_OK;
}

void query_changes(struct query_tier *tier, struct hot_request *request,
                   struct hot_scratch *scratch)
{
    ASSERT(request->action == HOT_CHANGES && tier->store != NULL);
    request->status = tier->may_wait ? read_changes(tier, request, scratch) : STATUS_BLOCKED;
}

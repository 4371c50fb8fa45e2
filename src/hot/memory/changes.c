/*
 * Only the store is read, brought up to the user's last change before. Why nothing is missed:
 *
 * A round notes `until` when it begins, under the user's lock, so that no decision on this user is
 * under way: all that were made are in the journal, and the store is brought there; all that are
 * still to come have a time of `until` or later. Between those two, take any reaction.
 *
 *   It does not change while the round's pages are read. If it last changed at `since` or later, it
 *   has a place in the order of the walk that does not move, and the walk comes by: it is told as it
 *   is. If it last changed before, the copy has had it right since an earlier round.
 *
 *   It changes while they are read. Then it may be told as it was, as it is, or not at all; but that
 *   change has a time of `until` or later, so the next round, which begins there, tells it.
 *
 * What is told is the state at some moment after the round began, never an older one: of what was
 * cleared only that which is not live. So a reaction that is told twice, or though it did not
 * change, does no harm; and once a round went by in which nothing changed, the copy is exact.
 *
 * `until` is no later than the newest event that the store has, because only what is recorded bounds
 * the times of decisions after a restart, when the clock may have been set back.
 */
#include "hot/memory/changes.h"

#include "hot/memory/list.h"

/* Of a round that began before anything was decided; once something is, the next has to start over. */
#define NO_EVENT_S 1

/* The journal position to be reached; a round that begins gets its end. */
static uint64_t changes_begin(struct hot_memory *hot, struct hot_request *request,
                              struct hot_trail trail)
{
    struct user_shard *shard = user_shard_of(hot, trail.user);
    pthread_mutex_lock(&shard->lock);
    uint32_t floor_s = atomic_load(&hot->floor_s);
    uint64_t position = ((uint64_t)*user_changed(shard, trail.user) + 1) << STAMP_SHIFT;
    pthread_mutex_unlock(&shard->lock);
    if (request->changes.until_s == 0)
        request->changes.until_s = floor_s == 0 ? NO_EVENT_S : floor_s;
    return position;
}

static enum status changes_list(struct hot_memory *hot, const struct hot_request *request,
                                struct hot_scratch *scratch, uint64_t position,
                                struct store_changed *changed)
{
    enum status status = list_catch_up(hot, position);
    if (status != STATUS_OK)
        return status;
    return store_list_changes(hot->store, request->user, request->changes.since_s,
                              request->changes.after, scratch->listed + scratch->listed_used,
                              request->changes.limit, changed);
}

/*
 * After a crash the store may not have come again to what a cursor has seen of others' changes: only
 * if it is brought to the journal's end and still says so, it is true that one has to start over.
 * Likewise one that has no event yet: a time to go on from is in the journal, if anything is.
 */
static bool reads_too_early(enum status status, const struct hot_request *request, bool begins,
                            const struct store_changed *changed)
{
    return status == STATUS_START_OVER ||
           (status == STATUS_OK && begins && changed->newest_s == 0 &&
            request->changes.until_s > NO_EVENT_S);
}

static enum status changes_read(struct hot_memory *hot, struct hot_request *request,
                                struct hot_trail trail, struct hot_scratch *scratch)
{
    bool begins = request->changes.until_s == 0;
    struct store_changed changed;
    uint64_t position = changes_begin(hot, request, trail);
    if (!list_reserve(scratch, request->changes.limit))
        return STATUS_NO_MEMORY;
    enum status status = changes_list(hot, request, scratch, position, &changed);
    if (reads_too_early(status, request, begins, &changed))
        status = changes_list(hot, request, scratch, UINT64_MAX, &changed);
    if (status != STATUS_OK)
        return status;
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

bool hot_memory_changes(struct hot_memory *hot, struct hot_request *request, struct hot_trail trail,
                        struct hot_scratch *scratch, unsigned worker)
{
    if (worker == LOAD_NOBODY)
        return false;
    request->status = changes_read(hot, request, trail, scratch);
    return true;
}

/*
 * This file only looks for candidates among reactions and counters; removal_comments.h is about comments. Each one is decided as a client's request would be, and that
 * decision finds out whether there is anything to remove, changes the counter and records the event. So
 * nothing is removed twice, whatever else happens at the same time, and a call that is killed has
 * removed each reaction either completely or not at all. It remains to show that nothing is overlooked
 * when the answer is that everything was removed.
 *
 * FORGET first removes the reactions that the store may lack, until there are none, and then walks over the
 * store's rows of the user from the first to the last. A reaction that was set before this call, and
 * that the store does not lack at that moment, is in the store, so the walk finds it. The walk also
 * finds rows of reactions that are cleared already but not yet in the store; each costs a decision
 * that changes nothing. Everything is removed once a walk that began with the first row, in this call,
 * has reached the last row. A walk that was resumed (removal_progress.h) has not seen the rows
 * before its beginning, so another walk follows it. Before that, the store has to apply everything
 * decided so far; otherwise the second walk would find all rows that the first one has just removed.
 *
 * DROP reads the item's counters. The counters of kinds are the numbers of its reactions, so DROP has
 * finished when all counters are 0. Only the store can list who reacted. It has to reach the item's last change
 * before it is read from the first row on. If the end is reached and the counter is still not 0,
 * others have reacted meanwhile, and the walk begins again.
 */
#include "query/removal.h"

#include "base/assert.h"
#include "base/names.h"
#include "query/removal_comments.h"
#include "query/removal_progress.h"

#define FRUITLESS_MAX 3 /* walks of one DROP that find nobody, although a counter is not 0 */

struct removal {
    struct query_tier *tier;
    struct hot_request *request;
    struct hot_scratch *scratch;
    uint32_t removed;
    uint32_t examined;  /* candidates that were decided */
    uint32_t fruitless; /* walks of DROP that found nobody */
    bool whole;         /* the walk over the store began with the first row, in this call */
    bool done;
    struct removal_comments comments; /* comments come first */
    struct store_reaction position; /* the last row that the walk has finished; time 0: none yet */
    struct store_reaction next;     /* the new position, once the candidates are decided */
    uint32_t count;                 /* candidates */
    struct hot_request changes[LIMIT_BATCH];
    struct item items[LIMIT_BATCH];
};

/* How many more candidates this batch may have. */
static uint32_t room(const struct removal *removal)
{
    uint32_t left = removal->request->remove.limit - removal->removed - removal->count;
    return left < LIMIT_BATCH - removal->count ? left : LIMIT_BATCH - removal->count;
}

static struct hot_request *add_candidate(struct removal *removal, enum hot_action action,
                                         uint8_t name, struct item item)
{
    ASSERT(removal->count < LIMIT_BATCH);
    uint32_t at = removal->count++;
    removal->items[at] = item;
    removal->changes[at] = (struct hot_request){.action = action,
                                                .name = name,
                                                .items = &removal->items[at],
                                                .item_count = 1,
                                                .time_s = removal->request->time_s};
    return &removal->changes[at];
}

static void add_reaction(struct removal *removal, struct id user, uint8_t kind, struct item item)
{
    add_candidate(removal, HOT_CLEAR, kind, item)->user = user;
}

/* Decides the candidates. The walk advances only if all of them succeed. */
static enum status remove_candidates(struct removal *removal)
{
    struct query_tier *tier = removal->tier;
    enum status status = tier->functions->admit(tier, removal->count);
    if (status != STATUS_OK)
        return status;
    tier->functions->run(tier, removal->changes, removal->count, removal->scratch);
    for (uint32_t i = 0; i < removal->count; i++) {
        const struct hot_request *change = &removal->changes[i];
        if (change->status != STATUS_OK)
            status = change->status;
        else
            removal->removed += change->action == HOT_ADD || change->change.value != 0;
    }
    removal->examined += removal->count;
    removal->count = 0;
    if (status == STATUS_OK)
        removal->position = removal->next;
    return status;
}

static void find_not_stored(struct removal *removal)
{
    struct store_reaction found[LIMIT_BATCH];
    struct id user = removal->request->user;
    size_t count = removal->tier->functions->not_stored(removal->tier, user, found, room(removal));
    ASSERT(count <= room(removal));
    for (size_t i = 0; i < count; i++)
        add_reaction(removal, user, found[i].kind, found[i].item);
}

/* Continues the walk over the store's rows of a user. At the end it is complete, or begins again. */
static enum status find_stored(struct removal *removal)
{
    struct query_tier *tier = removal->tier;
    struct store_reaction found[LIMIT_BATCH];
    size_t count = 0;
    enum status status = store_list_user(tier->store, removal->request->user, &removal->position,
                                         found, room(removal), &count);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        add_reaction(removal, found[i].user, found[i].kind, found[i].item);
    if (count > 0) {
        removal->next = found[count - 1];
        return STATUS_OK;
    }
    removal->position.time_s = 0;
    removal->done = removal->whole;
    removal->whole = true;
    return removal->done ? STATUS_OK : tier->functions->reach(tier, QUERY_POINT_LATEST);
}

static enum status forget_batch(struct removal *removal)
{
    enum status status = STATUS_OK;
    removal->next = removal->position;
    find_not_stored(removal);
    if (removal->count == 0 && removal->tier->store == NULL)
        removal->done = true;
    else if (removal->count == 0)
        status = find_stored(removal);
    return status == STATUS_OK && removal->count > 0 ? remove_candidates(removal) : status;
}

/* Continues the walk over the store's list of users with a reaction of a kind on the item. */
static enum status find_reactors(struct removal *removal, uint8_t kind)
{
    struct query_tier *tier = removal->tier;
    struct item item = removal->request->items[0];
    struct store_listed found[LIMIT_BATCH];
    size_t count = 0;
    enum status status = STATUS_OK;
    if (removal->position.time_s == 0 || removal->position.kind != kind) {
        removal->position.time_s = 0;
        status = tier->functions->reach(tier, tier->functions->item_point(tier, item));
    }
    struct store_listed after = {.time_s = removal->position.time_s, .id = removal->position.user};
    if (status == STATUS_OK)
        status = store_list_reactors(tier->store, item, kind, after, found, room(removal), &count);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        add_reaction(removal, found[i].id, kind, item);
    if (count > 0) {
        removal->next = (struct store_reaction){.user = found[count - 1].id,
                                                .item = item,
                                                .kind = kind,
                                                .time_s = found[count - 1].time_s};
        return STATUS_OK;
    }
    removal->position.time_s = 0;
    return ++removal->fruitless < FRUITLESS_MAX ? STATUS_OK : STATUS_BLOCKED;
}

/*
 * Adds a candidate that sets a counter to 0. INT64_MIN takes two steps, because the range of a counter does
 * not include its negative.
 */
static void add_counter(struct removal *removal, const struct hot_counter *counter)
{
    int64_t delta = counter->value == INT64_MIN ? INT64_MAX : -counter->value;
    add_candidate(removal, HOT_ADD, counter->name, removal->request->items[0])->change.delta =
        delta;
}

/* Finds candidates: first the reactions, one kind after the other, then the other counters. */
static enum status find_by_counters(struct removal *removal, const struct hot_counter *counters,
                                    uint32_t count)
{
    struct query_tier *tier = removal->tier;
    for (uint32_t i = 0; i < count; i++)
        if (counters[i].value != 0 && tier->functions->is_kind(tier, counters[i].name))
            return find_reactors(removal, counters[i].name);
    for (uint32_t i = 0; i < count && room(removal) > 0; i++)
        if (counters[i].value != 0 && counters[i].name != NAME_INDEX_COMMENT)
            add_counter(removal, &counters[i]);
    removal->done = removal->count == 0;
    return STATUS_OK;
}

static enum status drop_batch(struct removal *removal)
{
    struct hot_answer answer = {0};
    struct hot_scratch *scratch = removal->scratch;
    uint32_t used = scratch->used;
    struct hot_request counts = {.action = HOT_COUNTS,
                                 .items = removal->request->items,
                                 .item_count = 1,
                                 .time_s = removal->request->time_s,
                                 .read.answers = &answer};
    removal->next = removal->position;
    removal->tier->functions->run(removal->tier, &counts, 1, scratch);
    enum status status = counts.status;
    if (status == STATUS_OK)
        status = find_by_counters(removal, scratch->counters + answer.first, answer.count);
    scratch->used = used;
    return status == STATUS_OK && removal->count > 0 ? remove_candidates(removal) : status;
}

static enum status comments_batch(struct removal *removal)
{
    return removal_comments_step(&removal->comments, removal->tier, removal->request, room(removal),
                                 &removal->removed, &removal->examined);
}

typedef enum status removal_batch_fn(struct removal *removal);

/* Removes the comments and reactions of the position's user (FORGET), or of its item (DROP). */
static void run_removal(struct removal *removal, removal_batch_fn *batch)
{
    struct hot_request *request = removal->request;
    struct removal_progress *progress = removal->tier->progress;
    enum status status = STATUS_OK;
    ASSERT(removal->tier->may_wait && progress != NULL && hot_request_removes(request));
    ASSERT(request->remove.limit > 0);
    removal_progress_load(progress, request->action, &removal->position);
    removal->whole = removal->position.time_s == 0;
    while (status == STATUS_OK && !removal->done && removal->removed < request->remove.limit &&
           removal->examined < LIMIT_REMOVAL)
        status = removal->comments.done ? batch(removal) : comments_batch(removal);
    ASSERT(!removal->done || removal->count == 0);
    if (removal->done)
        removal->position.time_s = 0;
    removal_progress_save(progress, request->action, &removal->position);
    request->remove.removed = removal->removed;
    request->remove.more = !removal->done;
    request->status = removal->removed > 0 || status == STATUS_BLOCKED ? STATUS_OK : status;
}

void query_forget(struct query_tier *tier, struct hot_request *request, struct hot_scratch *scratch)
{
    struct removal removal = {
        .tier = tier, .request = request, .scratch = scratch, .position.user = request->user};
    ASSERT(request->action == HOT_FORGET);
    run_removal(&removal, forget_batch);
}

void query_drop(struct query_tier *tier, struct hot_request *request, struct hot_scratch *scratch)
{
    struct removal removal = {
        .tier = tier, .request = request, .scratch = scratch, .position.item = request->items[0]};
    ASSERT(request->action == HOT_DROP && request->item_count == 1 && tier->store != NULL);
    run_removal(&removal, drop_batch);
}

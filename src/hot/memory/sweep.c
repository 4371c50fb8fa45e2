/*
 * What is looked up here are only candidates: each is put through the same decision as a request of
 * a client, which says whether there was anything to remove, moves the counter and records the
 * event. So nothing can be removed twice, whatever else goes on at the same time, and whoever is
 * killed in between has removed a number of reactions whole. What has to be shown is that nothing
 * is overlooked when the answer is that all is gone.
 *
 * FORGET takes what is on the user's shelves until there is nothing, then walks over what the store
 * has of the user, from the first row to the last. A reaction that was set before this call and is
 * not on a shelf at that moment is in the store (law 4), so the walk meets it. Rows of reactions
 * that are cleared already but not yet projected are met too, and cost a decision that changes
 * nothing. All is gone once a walk that began at the first row, in this call, has come to the last;
 * one that went on from a mark (sweep_mark.h) has not seen what came before it, and begins anew,
 * with the store brought up to the present first: else it would meet all that was just removed.
 *
 * DROP goes by the item's counters: those of kinds are the numbers of its reactions, so it is done
 * at the moment when all of them are 0. Who reacted only the store can list, and it is brought up to
 * the item's last change before it is read from the first row on; once that has come to its end and
 * the counter is still not 0, others have come meanwhile, and it begins anew.
 */
#include "hot/memory/sweep.h"

#include "base/assert.h"
#include "base/names.h"
#include "hot/memory/list.h"

#define IDLE_MOST 3 /* looks of one call that find nothing, though there is something */

struct sweep {
    struct hot_memory *hot;
    struct hot_request *request;
    struct hot_scratch *scratch;
    unsigned worker;
    struct admission_pieces pieces;
    uint32_t removed;
    uint32_t looked; /* at candidates */
    uint32_t idle;
    bool whole; /* the walk over the store began at the first row */
    bool done;
    struct store_reaction place; /* the walk has come to here; time 0: nowhere yet */
    struct store_reaction next;  /* and once the candidates are gone, to here */
    uint32_t count;              /* candidates */
    struct hot_request changes[LIMIT_BATCH];
    struct item items[LIMIT_BATCH];
};

/* How many candidates may be taken at a time. */
static uint32_t room(const struct sweep *sweep)
{
    uint32_t left = sweep->request->remove.limit - sweep->removed - sweep->count;
    return left < LIMIT_BATCH - sweep->count ? left : LIMIT_BATCH - sweep->count;
}

static struct hot_request *candidate(struct sweep *sweep, enum hot_action action, uint8_t name,
                                     struct item item)
{
    ASSERT(sweep->count < LIMIT_BATCH);
    uint32_t at = sweep->count++;
    sweep->items[at] = item;
    sweep->changes[at] = (struct hot_request){.action = action,
                                              .name = name,
                                              .items = &sweep->items[at],
                                              .item_count = 1,
                                              .time_s = sweep->request->time_s};
    return &sweep->changes[at];
}

static void candidate_reaction(struct sweep *sweep, struct id user, uint8_t kind, struct item item)
{
    candidate(sweep, HOT_CLEAR, kind, item)->user = user;
}

/* Runs what was gathered; the place moves only if all of it went well. */
static enum status remove_candidates(struct sweep *sweep)
{
    enum status status = admission_piece(&sweep->pieces, sweep->count);
    if (status != STATUS_OK)
        return status;
    hot_memory_run_blocking(&sweep->hot->hot, sweep->worker, sweep->changes, sweep->count,
                            sweep->scratch);
    for (uint32_t i = 0; i < sweep->count; i++) {
        const struct hot_request *change = &sweep->changes[i];
        if (change->status != STATUS_OK)
            status = change->status;
        else
            sweep->removed += change->action == HOT_ADD || change->change.value != 0;
    }
    sweep->looked += sweep->count;
    sweep->count = 0;
    if (status == STATUS_OK)
        sweep->place = sweep->next;
    return status;
}

struct shelf_taking {
    struct sweep *sweep;
    const struct shelf *shelf;
};

static bool take_entry(void *context, struct shelf_entry entry)
{
    const struct shelf_taking *taking = context;
    struct sweep *sweep = taking->sweep;
    if (room(sweep) == 0)
        return false;
    candidate_reaction(sweep, sweep->request->user, taking->shelf->kind,
                       (struct item){.id = entry.id, .type = taking->shelf->type});
    return true;
}

/* What is warm is in the store as well. */
static void take_from_shelves(struct sweep *sweep)
{
    struct hot_memory *hot = sweep->hot;
    uint64_t hash = user_hash_of(hot, sweep->request->user);
    struct user_shard *shard = user_shard_of(hot, hash);
    pthread_mutex_lock(&shard->lock);
    const struct user_row *row = user_find(shard, hash, sweep->request->user);
    const struct shelf *shelf = row == NULL ? NULL : &row->first;
    for (; shelf != NULL && room(sweep) > 0; shelf = user_next_shelf(shard, shelf)) {
        struct shelf_taking taking = {.sweep = sweep, .shelf = shelf};
        if ((shelf->flags & (SHELF_USED | SHELF_WARM)) == SHELF_USED)
            shelf_walk(&shard->slab, shelf, take_entry, &taking);
    }
    pthread_mutex_unlock(&shard->lock);
}

/* The walk goes on; at its end it is done, or begins anew. */
static enum status take_from_store(struct sweep *sweep)
{
    struct store_reaction found[LIMIT_BATCH];
    size_t count = 0;
    enum status status = store_list_user(sweep->hot->store, sweep->request->user, &sweep->place,
                                         found, room(sweep), &count);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        candidate_reaction(sweep, found[i].user, found[i].kind, found[i].item);
    if (count > 0) {
        sweep->next = found[count - 1];
        return STATUS_OK;
    }
    sweep->place.time_s = 0;
    sweep->done = sweep->whole;
    sweep->whole = true;
    return sweep->done ? STATUS_OK
                       : list_catch_up(sweep->hot, journal_appended(sweep->hot->journal));
}

static enum status forget_step(struct sweep *sweep)
{
    enum status status = STATUS_OK;
    sweep->next = sweep->place;
    take_from_shelves(sweep);
    if (sweep->count == 0 && sweep->hot->store == NULL)
        sweep->done = true;
    else if (sweep->count == 0)
        status = take_from_store(sweep);
    return status == STATUS_OK && sweep->count > 0 ? remove_candidates(sweep) : status;
}

/* The users that the store lists behind the place, of a kind that has some. */
static enum status take_reactors(struct sweep *sweep, uint8_t kind)
{
    struct item item = sweep->request->items[0];
    struct store_listed found[LIMIT_BATCH];
    size_t count = 0;
    enum status status = STATUS_OK;
    if (sweep->place.time_s == 0 || sweep->place.kind != kind) {
        sweep->place.time_s = 0;
        status = list_catch_up(sweep->hot, list_item_position(sweep->hot, item));
    }
    if (status == STATUS_OK)
        status = store_list_reactors(
            sweep->hot->store, item, kind,
            (struct store_listed){.time_s = sweep->place.time_s, .id = sweep->place.user}, found,
            room(sweep), &count);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        candidate_reaction(sweep, found[i].id, kind, item);
    if (count > 0) {
        sweep->next = (struct store_reaction){.user = found[count - 1].id,
                                              .item = item,
                                              .kind = kind,
                                              .time_s = found[count - 1].time_s};
        return STATUS_OK;
    }
    sweep->place.time_s = 0;
    return ++sweep->idle < IDLE_MOST ? STATUS_OK : STATUS_BLOCKED;
}

static bool is_kind(struct hot_memory *hot, uint8_t name)
{
    return atomic_load(&hot->kinds[name >> 6]) >> (name & 63) & 1;
}

/* Brings a counter to 0; the lowest number of all takes two steps, as its opposite is none. */
static void candidate_counter(struct sweep *sweep, const struct hot_counter *counter)
{
    int64_t delta = counter->value == INT64_MIN ? INT64_MAX : -counter->value;
    candidate(sweep, HOT_ADD, counter->name, sweep->request->items[0])->change.delta = delta;
}

/* First the reactions, one kind after the other, then what was added freely. */
static enum status take_by_counters(struct sweep *sweep, const struct hot_counter *counters,
                                    uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (counters[i].value != 0 && is_kind(sweep->hot, counters[i].name))
            return take_reactors(sweep, counters[i].name);
    for (uint32_t i = 0; i < count && room(sweep) > 0; i++)
        if (counters[i].value != 0 && counters[i].name != NAME_INDEX_COMMENT)
            candidate_counter(sweep, &counters[i]);
    sweep->done = sweep->count == 0;
    return STATUS_OK;
}

static enum status drop_step(struct sweep *sweep)
{
    struct hot_answer answer = {0};
    struct hot_scratch *scratch = sweep->scratch;
    uint32_t used = scratch->used;
    struct hot_request counts = {.action = HOT_COUNTS,
                                 .items = sweep->request->items,
                                 .item_count = 1,
                                 .time_s = sweep->request->time_s,
                                 .read.answers = &answer};
    sweep->next = sweep->place;
    hot_memory_counts(sweep->hot, &counts, (struct hot_trail){0}, scratch, sweep->worker);
    enum status status = counts.status;
    if (status == STATUS_OK)
        status = take_by_counters(sweep, scratch->counters + answer.first, answer.count);
    scratch->used = used;
    return status == STATUS_OK && sweep->count > 0 ? remove_candidates(sweep) : status;
}

typedef enum status sweep_step_fn(struct sweep *sweep);

static void run_sweep(struct sweep *sweep, uint64_t hash, sweep_step_fn *step)
{
    struct hot_request *request = sweep->request;
    enum status status = STATUS_OK;
    ASSERT(request->remove.limit > 0);
    sweep->pieces =
        admission_pieces_begin(&sweep->hot->admission, &sweep->hot->pacers[sweep->worker]);
    sweeps_recall(&sweep->hot->sweeps, request->action, hash, &sweep->place);
    sweep->whole = sweep->place.time_s == 0;
    while (status == STATUS_OK && !sweep->done && sweep->removed < request->remove.limit &&
           sweep->looked < LIMIT_SWEEP)
        status = step(sweep);
    if (sweep->done)
        sweep->place.time_s = 0;
    sweeps_keep(&sweep->hot->sweeps, request->action, hash, &sweep->place);
    request->remove.removed = sweep->removed;
    request->remove.more = !sweep->done;
    request->status = sweep->removed > 0 || status == STATUS_BLOCKED ? STATUS_OK : status;
}

bool hot_memory_forget(struct hot_memory *hot, struct hot_request *request, struct hot_trail trail,
                       struct hot_scratch *scratch, unsigned worker)
{
    if (worker == LOAD_NOBODY)
        return false;
    struct sweep sweep = {.hot = hot,
                          .request = request,
                          .scratch = scratch,
                          .worker = worker,
                          .place.user = request->user};
    run_sweep(&sweep, trail.user, forget_step);
    return true;
}

bool hot_memory_drop(struct hot_memory *hot, struct hot_request *request, struct hot_trail trail,
                     struct hot_scratch *scratch, unsigned worker)
{
    (void)trail;
    if (worker == LOAD_NOBODY)
        return false;
    struct sweep sweep = {.hot = hot,
                          .request = request,
                          .scratch = scratch,
                          .worker = worker,
                          .place.item = request->items[0]};
    run_sweep(&sweep, item_hash_of(hot, request->items[0]), drop_step);
    return true;
}

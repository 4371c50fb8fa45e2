/*
 * A filter that has grown is asked in each of its segments, and a reader pays for all of them. Their
 * entries cannot be brought together, for they do not tell their keys; the store can. So another
 * filter is made from what the store has, in one segment, and takes the place of the one in use. The
 * same is done where much of a large one is empty, or, in `known`, of what the store has no more.
 *
 * The thread that does this is the one that changes the store, so between two batches the store holds
 * still. Each call visits a few parts of it (store.h). From then on batches tell the new filter too
 * what they make and remove in those parts; what they do in the others it will find there. After the
 * last part it stands for the store as the old one does. Of `known`, from which nothing is removed, it
 * is told everything at once: what it is told twice it has once.
 *
 * Readers know nothing of it: they ask the filter in use. One may have begun to ask just before
 * another took its place; what it says then was true when it began (filter_retire).
 *
 * Nothing of a move is saved: a stop in the middle of one leaves the file of the filter in use, and the
 * next start begins anew. If there is no memory for it, the segments stay.
 *
 * What was replaced keeps a little memory and its addresses for good, so that must come to an end: after
 * so many moves (FILTERS_RESIZED) each filter is larger than the one before, as long as the process runs.
 */
#include "base/assert.h"
#include "filter/filter_priv.h"
#include "filter/filters_priv.h"

#define CALL_ROWS 8192 /* about: ten milliseconds */

#define REACTION_KEYS 2 /* of `known`, at most: its shelf, its item */
#define STALE_PART    4 /* one in so many parts of `known` is in the store: then it is made anew */

static bool is_moving(const struct filters *filters)
{
    return filters->next.live != NULL || filters->next.known != NULL;
}

static uint64_t bytes_of(const struct filter *filter)
{
    return filter == NULL ? 0 : atomic_load_explicit(&filter->bytes, memory_order_relaxed);
}

static void tell_stats(struct filters *filters)
{
    const struct filters_next *next = &filters->next;
    atomic_store_explicit(&filters->next_bytes, bytes_of(next->live) + bytes_of(next->known),
                          memory_order_relaxed);
    atomic_store_explicit(&filters->next_part, next->part, memory_order_relaxed);
}

void filters_next_drop(struct filters *filters)
{
    filter_free(filters->next.live);
    filter_free(filters->next.known);
    filters->next = (struct filters_next){0};
    tell_stats(filters);
}

void filters_next_made(struct filters *filters, const struct store_reaction *reaction)
{
    ASSERT(filters->next.part <= STORE_PARTITIONS);
    const struct filters_next *next = &filters->next;
    if (next->live != NULL && store_user_partition(reaction->user) < next->part)
        filter_add(next->live, reaction_key_of(filters->seed, reaction));
    if (next->known != NULL)
        known_add_reaction(next->known, filters->seed, reaction);
}

void filters_next_removed(struct filters *filters, const struct store_reaction *reaction)
{
    const struct filters_next *next = &filters->next;
    if (next->live != NULL && store_user_partition(reaction->user) < next->part)
        filter_remove(next->live, reaction_key_of(filters->seed, reaction));
}

void filters_next_item(struct filters *filters, struct item item)
{
    if (filters->next.known != NULL)
        known_add(filters->next.known, item_key(filters->seed, item));
}

void filters_known_made(struct filters *filters)
{
    uint64_t keys = atomic_load_explicit(&filters_known(filters)->keys, memory_order_relaxed);
    filters->known_kept = keys > 0 ? keys : 1;
}

void filters_known_lost(struct filters *filters)
{
    if (filters->known_kept > REACTION_KEYS)
        filters->known_kept -= REACTION_KEYS;
}

/* May what is made be no larger than what it is made for? */
static bool may_resize(const struct filters *filters)
{
    return filters->retired_count < FILTERS_RESIZED;
}

/*
 * What of `known` the store still has, about: it does not tell how many of its keys are dead. Of those it
 * was made with all that no removed reaction can have taken along; and as many as there are reactions
 * for. Too few if many items came that only have other counters: then what is made has to grow, and is
 * moved once more, when it is known how many there are.
 */
static uint64_t known_keys(const struct filters *filters, uint64_t reactions)
{
    uint64_t most = REACTION_KEYS * reactions;
    return most > filters->known_kept ? most : filters->known_kept;
}

/* Is most of it dead? */
static bool is_stale(const struct filters *filters, struct store_admin *admin)
{
    const struct filter *known = filters_known(filters);
    uint64_t part = atomic_load_explicit(&known->keys, memory_order_relaxed) / STALE_PART;
    if (filters->known_kept == 0 || filters->known_kept >= part || !filter_is_large(known))
        return false;
    struct store_stats stats;
    store_stats(admin, &stats);
    return known_keys(filters, stats.reactions) < part;
}

static bool wants_move_live(const struct filters *filters)
{
    const struct filter *live = filters_live(filters);
    return filter_is_scattered(live) || (may_resize(filters) && filter_is_loose(live));
}

static bool wants_move_known(const struct filters *filters, struct store_admin *admin)
{
    const struct filter *known = filters_known(filters);
    return filter_is_scattered(known) ||
           (may_resize(filters) && (filter_is_loose(known) || is_stale(filters, admin)));
}

/* How many there are. An open one has stopped counting. */
static struct filters_keys count_keys(const struct filters *filters, struct store_admin *admin)
{
    struct filter_stats live, known;
    struct store_stats stats;
    filters_stats(filters, &live, &known);
    store_stats(admin, &stats);
    uint64_t alive = known_keys(filters, stats.reactions);
    bool resize = may_resize(filters) && (known.open || alive < known.keys);
    return (struct filters_keys){.live = live.open ? stats.reactions : live.keys,
                                 .known = resize ? alive : known.keys};
}

/* OK, NO_MEMORY. */
static enum status move_begin(struct filters *filters, struct store_admin *admin)
{
    struct filters_next *next = &filters->next;
    struct filter *live = filters_live(filters), *known = filters_known(filters);
    ASSERT(!is_moving(filters) && next->part == 0);
    bool move_live = wants_move_live(filters), move_known = wants_move_known(filters, admin);
    bool larger = !may_resize(filters);
    next->keys = count_keys(filters, admin);
    if (move_live)
        next->live = filter_new_after(live, next->keys.live, larger);
    if (move_known)
        next->known = filter_new_after(known, next->keys.known, larger);
    if (move_live == (next->live != NULL) && move_known == (next->known != NULL))
        return STATUS_OK;
    filters_next_drop(filters);
    return STATUS_NO_MEMORY;
}

/* They were made for less than half of what there is by now. */
static bool is_outgrown(const struct filters *filters, struct store_admin *admin)
{
    ASSERT(is_moving(filters));
    const struct filters_next *next = &filters->next;
    struct filters_keys now = count_keys(filters, admin);
    return (next->live != NULL && now.live / 2 > next->keys.live) ||
           (next->known != NULL && now.known / 2 > next->keys.known);
}

static enum status move_reaction(void *context, const struct store_reaction *reaction)
{
    const struct filters *filters = context;
    if (filters->next.live != NULL)
        filter_add(filters->next.live, reaction_key_of(filters->seed, reaction));
    if (filters->next.known != NULL)
        known_add_reaction(filters->next.known, filters->seed, reaction);
    return STATUS_OK;
}

static enum status move_item(void *context, const struct store_count *count)
{
    filters_next_item(context, count->item);
    return STATUS_OK;
}

static bool is_open(const struct filter *filter)
{
    return filter != NULL && atomic_load_explicit(&filter->open, memory_order_relaxed);
}

/* So many parts have about this many rows, now: the store may grow while a move goes on. */
static uint32_t parts_of(struct store_admin *admin, uint32_t rows)
{
    struct store_stats stats;
    store_stats(admin, &stats);
    uint32_t parts = (uint32_t)((uint64_t)STORE_PARTITIONS * rows / (stats.reactions + rows));
    return parts > 0 ? parts : 1;
}

/* OK: the next few parts are in. */
static enum status move_parts(struct filters *filters, struct store_admin *admin, uint32_t rows)
{
    struct filters_next *next = &filters->next;
    uint32_t left = STORE_PARTITIONS - next->part, some = parts_of(admin, rows);
    ASSERT(is_moving(filters) && left > 0 && some > 0);
    uint32_t end = next->part + (some < left ? some : left);
    const struct store_visitor visitor = {.reaction = move_reaction,
                                          .count = next->known != NULL ? move_item : NULL,
                                          .context = filters,
                                          .partition_first = next->part,
                                          .partition_end = end};
    enum status status = store_visit(admin, &visitor);
    if (status == STATUS_OK && (is_open(next->live) || is_open(next->known)))
        status = STATUS_NO_MEMORY;
    ASSERT(end > next->part && end <= STORE_PARTITIONS);
    next->part = end;
    tell_stats(filters);
    return status;
}

static void take_place(struct filters *filters, struct filter *_Atomic *place, struct filter *next)
{
    struct filter *before = atomic_load_explicit(place, memory_order_relaxed);
    if (next == NULL)
        return;
    ASSERT(filters->retired_count < FILTERS_RETIRED);
    ASSERT(before != NULL && before != next);
    atomic_store(place, next);
    filter_retire(before);
    filters->retired[filters->retired_count++] = before;
}

static void move_end(struct filters *filters)
{
    ASSERT(is_moving(filters) && filters->next.part == STORE_PARTITIONS);
    take_place(filters, &filters->live, filters->next.live);
    take_place(filters, &filters->known, filters->next.known);
    if (filters->next.known != NULL)
        filters_known_made(filters);
    filters->next = (struct filters_next){0};
    tell_stats(filters);
    atomic_fetch_add_explicit(&filters->moves, 1, memory_order_relaxed);
}

enum status filters_move(struct filters *filters, struct store_admin *admin)
{
    return filters_move_rows(filters, admin, CALL_ROWS);
}

enum status filters_move_rows(struct filters *filters, struct store_admin *admin, uint32_t rows)
{
    ASSERT(rows > 0);
    enum status status = STATUS_OK;
    if (!is_moving(filters) && !wants_move_live(filters) && !wants_move_known(filters, admin))
        return STATUS_OK;
    if (is_moving(filters) && is_outgrown(filters, admin)) {
        filters_next_drop(filters);
        return STATUS_OK;
    }
    if (!is_moving(filters))
        status = move_begin(filters, admin);
    if (status == STATUS_OK)
        status = move_parts(filters, admin, rows);
    if (status != STATUS_OK)
        filters_next_drop(filters);
    else if (filters->next.part < STORE_PARTITIONS)
        status = STATUS_MORE;
    else
        move_end(filters);
    return status;
}

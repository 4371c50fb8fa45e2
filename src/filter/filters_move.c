/*
 * A filter that has grown has several segments, and a reader has to read all of them. Their entries
 * cannot be merged, because an entry does not have its whole key; but the store has the keys. So a
 * new filter with one segment is made from the contents of the store, and replaces the one in use.
 * The same is done if a large filter is mostly empty, or if most keys of `known` are not in the
 * store any more.
 *
 * The thread that does this is the one that changes the store, so the store does not change between
 * two batches. Each call visits a few partitions of the store (store.h). From then on batches also
 * add to the new filter what they create in those partitions, and remove what they delete; changes
 * in the other partitions are found there later. After the last partition the new filter represents
 * the store exactly as the old one does. Nothing is removed from `known`, so batches add everything
 * to it from the beginning: a key that is added twice is in it once.
 *
 * Readers are not affected: they ask the filter in use. A reader may have begun to ask just before
 * the filter is replaced; its answer was true when it began (filter_retire).
 *
 * Nothing of a rebuild is saved: if the server stops during one, the file has the filter in use,
 * and the next start begins again. If there is no memory for a rebuild, the segments stay.
 *
 * A replaced filter keeps a little memory and its addresses for ever, so the number of replacements
 * must be bounded: after FILTERS_RESIZED of them each new filter is larger than the one before, as
 * long as the process runs.
 */
#include "base/assert.h"
#include "filter/filter_priv.h"
#include "filter/filters_priv.h"

#define CALL_ROWS 8192 /* rows of one call: about ten milliseconds */

#define REACTION_KEYS 2 /* most keys of a reaction in `known`: its shelf and its item */
#define STALE_PART    4 /* rebuilt if the store has less than this fraction of `known` */

static bool is_moving(const struct filters *filters)
{
    return filters->next.live != NULL || filters->next.known != NULL;
}

static uint64_t bytes_of(const struct filter *filter)
{
    return filter == NULL ? 0 : atomic_load_explicit(&filter->bytes, memory_order_relaxed);
}

static void publish_stats(struct filters *filters)
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
    publish_stats(filters);
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

/* May a new filter be smaller than the old one or of the same size? */
static bool may_resize(const struct filters *filters)
{
    return filters->retired_count < FILTERS_RESIZED;
}

/*
 * An estimate of how many keys of `known` the store still has; the filter cannot tell which of its
 * keys are obsolete. It is the larger of two numbers: the keys with which it was made, minus those
 * that deleted reactions may have had; and the keys of all present reactions. The estimate is too
 * low if there are many new items that only have other counters: then the new filter has to grow,
 * and is replaced once more when their number is clear.
 */
static uint64_t known_keys(const struct filters *filters, uint64_t reactions)
{
    uint64_t most = REACTION_KEYS * reactions;
    return most > filters->known_kept ? most : filters->known_kept;
}

/* Are most keys of `known` obsolete? */
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

/* The number of keys. An open filter does not count them any more. */
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

/* OK or NO_MEMORY. */
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

/* The new filters were made for less than half of the present number of keys. */
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

/*
 * The number of partitions that have about this many rows at present: the store may grow during a
 * rebuild.
 */
static uint32_t parts_of(struct store_admin *admin, uint32_t rows)
{
    struct store_stats stats;
    store_stats(admin, &stats);
    uint32_t parts = (uint32_t)((uint64_t)STORE_PARTITIONS * rows / (stats.reactions + rows));
    return parts > 0 ? parts : 1;
}

/* Adds the next few partitions. OK: they are complete. */
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
    publish_stats(filters);
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
    publish_stats(filters);
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

/*
 * The order of the steps around a batch makes a "no" true for the store at every moment: a reaction
 * is added to the filter before the store has it, and removed after the store no longer has it. In
 * between, the filter answers "maybe" for something that does not exist, which only costs a lookup.
 *
 * The seed of the keys is chosen when the filters are first made: without it a client could choose
 * ids that all look alike.
 */
#include "filter/filters.h"

#include <stdlib.h>

#include "base/assert.h"
#include "filter/filter_priv.h"
#include "filter/filters_priv.h"

#define AHEAD         8         /* changes whose buckets are prefetched */
#define PROGRESS_ROWS (1 << 16) /* reactions between two calls of the progress function */

struct filters *filters_new_small(struct memory_budget *budget, uint64_t seed, uint64_t first_keys)
{
    struct filters *filters = calloc(1, sizeof *filters);
    if (filters == NULL)
        return NULL;
    filters->budget = budget;
    filters->seed = seed;
    atomic_init(&filters->live, filter_new(budget, first_keys));
    atomic_init(&filters->known, filter_new(budget, first_keys));
    if (filters_live(filters) == NULL || filters_known(filters) == NULL) {
        filters_free(filters);
        return NULL;
    }
    return filters;
}

struct filters *filters_new(struct memory_budget *budget, uint64_t seed)
{
    return filters_new_small(budget, seed, 0);
}

void filters_free(struct filters *filters)
{
    if (filters == NULL)
        return;
    filters_replace(filters, 0, NULL, NULL);
    free(filters);
}

void filters_replace(struct filters *filters, uint64_t seed, struct filter *live,
                     struct filter *known)
{
    /* Both exist, or neither when everything is freed. */
    ASSERT((live == NULL) == (known == NULL));
    filters_next_drop(filters);
    filter_free(filters_live(filters));
    filter_free(filters_known(filters));
    for (uint32_t i = 0; i < filters->retired_count; i++)
        filter_free(filters->retired[i]);
    filters->retired_count = 0;
    filters->known_kept = 0;
    filters->seed = seed;
    atomic_store_explicit(&filters->live, live, memory_order_release);
    atomic_store_explicit(&filters->known, known, memory_order_release);
}

bool filters_may_have_reaction(const struct filters *filters, struct id user, uint8_t kind,
                               struct item item)
{
    return filter_may_have(filters_live(filters), reaction_key(filters->seed, user, kind, item));
}

bool filters_may_have_shelf(const struct filters *filters, struct id user, uint8_t kind,
                            uint16_t type)
{
    return filter_may_have(filters_known(filters), shelf_key(filters->seed, user, kind, type));
}

bool filters_may_have_item(const struct filters *filters, struct item item)
{
    return filter_may_have(filters_known(filters), item_key(filters->seed, item));
}

uint64_t filters_prefetch_reaction(const struct filters *filters, struct id user, uint8_t kind,
                                   struct item item)
{
    uint64_t key = reaction_key(filters->seed, user, kind, item);
    filter_prefetch(filters_live(filters), key);
    return key;
}

bool filters_may_have_key(const struct filters *filters, uint64_t reaction_key)
{
    return filter_may_have(filters_live(filters), reaction_key);
}

void filters_prefetch_shelf(const struct filters *filters, struct id user, uint8_t kind,
                            uint16_t type)
{
    filter_prefetch(filters_known(filters), shelf_key(filters->seed, user, kind, type));
}

void filters_prefetch_item(const struct filters *filters, struct item item)
{
    filter_prefetch(filters_known(filters), item_key(filters->seed, item));
}

void filters_stats(const struct filters *filters, struct filter_stats *live,
                   struct filter_stats *known)
{
    filter_stats(filters_live(filters), live);
    filter_stats(filters_known(filters), known);
}

uint64_t filters_room(const struct filters *filters)
{
    struct memory_budget *share = filters->budget;
    uint64_t used = memory_used(share);
    if (share->within == NULL)
        return UINT64_MAX;
    return used < share->limit ? share->limit - used : 0;
}

void filters_move_stats(const struct filters *filters, struct filters_move_stats *out)
{
    *out = (struct filters_move_stats){
        .moves = atomic_load_explicit(&filters->moves, memory_order_relaxed),
        .bytes = atomic_load_explicit(&filters->next_bytes, memory_order_relaxed),
        .part = atomic_load_explicit(&filters->next_part, memory_order_relaxed),
    };
}

static bool is_made(const struct store_reaction *change)
{
    return change->time_s != 0 && !change->was_live;
}

static void prefetch_reaction(const struct filters *filters, const struct store_reaction *reaction)
{
    uint64_t seed = filters->seed;
    filter_prefetch(filters_live(filters), reaction_key_of(seed, reaction));
    filter_prefetch(filters_known(filters),
                    shelf_key(seed, reaction->user, reaction->kind, reaction->item.type));
    filter_prefetch(filters_known(filters), item_key(seed, reaction->item));
}

void filters_before(struct filters *filters, const struct store_changes *changes)
{
    ASSERT(filters_live(filters) != NULL && filters_known(filters) != NULL);
    uint64_t seed = filters->seed;
    for (size_t i = 0; i < changes->user.reaction_count; i++) {
        const struct store_reaction *change = &changes->user.reactions[i];
        if (i + AHEAD < changes->user.reaction_count)
            prefetch_reaction(filters, change + AHEAD);
        if (!is_made(change))
            continue;
        filter_add(filters_live(filters), reaction_key_of(seed, change));
        known_add_reaction(filters_known(filters), seed, change);
        filters_next_made(filters, change);
    }
    for (size_t i = 0; i < changes->item.count_count; i++) {
        if (i + AHEAD < changes->item.count_count)
            filter_prefetch(filters_known(filters),
                            item_key(seed, changes->item.counts[i + AHEAD].item));
        known_add(filters_known(filters), item_key(seed, changes->item.counts[i].item));
        filters_next_item(filters, changes->item.counts[i].item);
    }
}

void filters_after(struct filters *filters, const struct store_changes *changes)
{
    ASSERT(filters_live(filters) != NULL && filters_known(filters) != NULL);
    for (size_t i = 0; i < changes->user.reaction_count; i++) {
        const struct store_reaction *change = &changes->user.reactions[i];
        if (change->time_s != 0 || !change->was_live)
            continue;
        filter_remove(filters_live(filters), reaction_key_of(filters->seed, change));
        filters_next_removed(filters, change);
        filters_known_lost(filters);
    }
}

struct rebuild {
    uint64_t seed;
    struct filter *live;
    struct filter *known;
    uint64_t rows;
    uint64_t reactions;
    uint64_t reactions_expected;
    filters_progress_fn *progress; /* may be NULL */
    void *context;
};

static bool rebuild_tell(const struct rebuild *rebuild)
{
    uint64_t total = rebuild->reactions_expected;
    return rebuild->progress == NULL ||
           rebuild->progress(rebuild->context, rebuild->reactions,
                             total > rebuild->reactions ? total : rebuild->reactions);
}

static enum status rebuild_count_row(struct rebuild *rebuild)
{
    return ++rebuild->rows % PROGRESS_ROWS != 0 || rebuild_tell(rebuild) ? STATUS_OK
                                                                         : STATUS_STOPPING;
}

static enum status rebuild_reaction(void *context, const struct store_reaction *reaction)
{
    struct rebuild *rebuild = context;
    filter_add(rebuild->live, reaction_key_of(rebuild->seed, reaction));
    known_add_reaction(rebuild->known, rebuild->seed, reaction);
    rebuild->reactions++;
    return rebuild_count_row(rebuild);
}

static enum status rebuild_item(void *context, const struct store_count *count)
{
    struct rebuild *rebuild = context;
    known_add(rebuild->known, item_key(rebuild->seed, count->item));
    return rebuild_count_row(rebuild);
}

/*
 * Makes room for half as many more, if there is memory for that; otherwise the filter grows as
 * usual.
 */
static struct filter *filter_for(struct memory_budget *budget, uint64_t keys)
{
    struct filter *filter = keys < FILTER_FIRST_KEYS ? NULL : filter_new(budget, keys + keys / 2);
    return filter != NULL ? filter : filter_new(budget, 0);
}

enum status filters_rebuild(struct filters *filters, struct store_admin *admin,
                            filters_progress_fn *progress, void *context)
{
    struct store_stats stats;
    store_stats(admin, &stats);
    struct rebuild rebuild = {.seed = filters->seed,
                              .live = filter_for(filters->budget, stats.reactions),
                              .known = filter_new(filters->budget, 0),
                              .reactions_expected = stats.reactions,
                              .progress = progress,
                              .context = context};
    enum status status = STATUS_NO_MEMORY;
    if (rebuild.live != NULL && rebuild.known != NULL)
        status = store_visit(admin, &(struct store_visitor){.reaction = rebuild_reaction,
                                                            .count = rebuild_item,
                                                            .context = &rebuild});
    if (status != STATUS_OK) {
        filter_free(rebuild.live);
        filter_free(rebuild.known);
        return status;
    }
    rebuild.reactions_expected = rebuild.reactions;
    ASSERT(rebuild.rows >= rebuild.reactions);
    rebuild_tell(&rebuild);
    filters_replace(filters, rebuild.seed, rebuild.live, rebuild.known);
    filters_known_made(filters);
    return STATUS_OK;
}

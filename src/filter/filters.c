/*
 * The order of things around a batch is what keeps "no" true of the store at every moment: a
 * reaction enters the filter before the store has it and leaves after the store has it no more.
 * In between the filter says maybe of something that is not there, which costs a look and no more.
 *
 * Keys of three sorts are hashed apart (reactions, shelves, items), with a seed that is drawn when
 * the filters are first made: without it a client could choose ids that all look alike.
 */
#include "filter/filters.h"

#include <stdlib.h>

#include "base/hash.h"
#include "filter/filter_priv.h"
#include "filter/filters_priv.h"

#define SORT_REACTION 0x2545f4914f6cdd1dULL
#define SORT_SHELF    0x94d049bb133111ebULL
#define SORT_ITEM     0xbf58476d1ce4e5b9ULL

#define AHEAD         8         /* changes whose buckets are fetched before they are wanted */
#define PROGRESS_ROWS (1 << 16) /* between two words of progress */

static inline uint64_t reaction_key(uint64_t seed, struct id user, uint8_t kind, struct item item)
{
    return hash_3(id_hash(user, seed), item_hash(item, seed), SORT_REACTION + kind);
}

static inline uint64_t shelf_key(uint64_t seed, struct id user, uint8_t kind, uint16_t type)
{
    return hash_3(id_hash(user, seed), (uint64_t)kind << 16 | type, SORT_SHELF);
}

static inline uint64_t item_key(uint64_t seed, struct item item)
{
    return hash_mix(item_hash(item, seed), SORT_ITEM);
}

static inline uint64_t reaction_key_of(uint64_t seed, const struct store_reaction *reaction)
{
    return reaction_key(seed, reaction->user, reaction->kind, reaction->item);
}

struct filters *filters_new_small(struct memory_budget *budget, uint64_t seed, uint64_t first_keys)
{
    struct filters *filters = calloc(1, sizeof *filters);
    if (filters == NULL)
        return NULL;
    filters->budget = budget;
    filters->seed = seed;
    filters->live = filter_new(budget, first_keys);
    filters->known = filter_new(budget, first_keys);
    if (filters->live == NULL || filters->known == NULL) {
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
    filter_free(filters->live);
    filter_free(filters->known);
    free(filters);
}

void filters_replace(struct filters *filters, uint64_t seed, struct filter *live,
                     struct filter *known)
{
    filter_free(filters->live);
    filter_free(filters->known);
    filters->seed = seed;
    filters->live = live;
    filters->known = known;
}

bool filters_may_have_reaction(const struct filters *filters, struct id user, uint8_t kind,
                               struct item item)
{
    return filter_may_have(filters->live, reaction_key(filters->seed, user, kind, item));
}

bool filters_may_have_shelf(const struct filters *filters, struct id user, uint8_t kind,
                            uint16_t type)
{
    return filter_may_have(filters->known, shelf_key(filters->seed, user, kind, type));
}

bool filters_may_have_item(const struct filters *filters, struct item item)
{
    return filter_may_have(filters->known, item_key(filters->seed, item));
}

uint64_t filters_prefetch_reaction(const struct filters *filters, struct id user, uint8_t kind,
                                   struct item item)
{
    uint64_t key = reaction_key(filters->seed, user, kind, item);
    filter_prefetch(filters->live, key);
    return key;
}

bool filters_may_have_key(const struct filters *filters, uint64_t reaction_key)
{
    return filter_may_have(filters->live, reaction_key);
}

void filters_prefetch_item(const struct filters *filters, struct item item)
{
    filter_prefetch(filters->known, item_key(filters->seed, item));
}

void filters_stats(const struct filters *filters, struct filter_stats *live,
                   struct filter_stats *known)
{
    filter_stats(filters->live, live);
    filter_stats(filters->known, known);
}

/* Nothing leaves `known`, so what already looks as if it were there need not be added. */
static void known_add(struct filter *known, uint64_t key)
{
    if (!filter_may_have(known, key))
        filter_add(known, key);
}

static void known_add_reaction(struct filter *known, uint64_t seed,
                               const struct store_reaction *reaction)
{
    known_add(known, shelf_key(seed, reaction->user, reaction->kind, reaction->item.type));
    known_add(known, item_key(seed, reaction->item));
}

static bool is_made(const struct store_reaction *change)
{
    return change->time_s != 0 && !change->was_live;
}

static void prefetch_reaction(const struct filters *filters, const struct store_reaction *reaction)
{
    uint64_t seed = filters->seed;
    filter_prefetch(filters->live, reaction_key_of(seed, reaction));
    filter_prefetch(filters->known,
                    shelf_key(seed, reaction->user, reaction->kind, reaction->item.type));
    filter_prefetch(filters->known, item_key(seed, reaction->item));
}

void filters_before(struct filters *filters, const struct store_changes *changes)
{
    uint64_t seed = filters->seed;
    for (size_t i = 0; i < changes->reaction_count; i++) {
        const struct store_reaction *change = &changes->reactions[i];
        if (i + AHEAD < changes->reaction_count)
            prefetch_reaction(filters, change + AHEAD);
        if (!is_made(change))
            continue;
        filter_add(filters->live, reaction_key_of(seed, change));
        known_add_reaction(filters->known, seed, change);
    }
    for (size_t i = 0; i < changes->count_count; i++) {
        if (i + AHEAD < changes->count_count)
            filter_prefetch(filters->known, item_key(seed, changes->counts[i + AHEAD].item));
        known_add(filters->known, item_key(seed, changes->counts[i].item));
    }
}

void filters_after(struct filters *filters, const struct store_changes *changes)
{
    for (size_t i = 0; i < changes->reaction_count; i++) {
        const struct store_reaction *change = &changes->reactions[i];
        if (change->time_s == 0 && change->was_live)
            filter_remove(filters->live, reaction_key_of(filters->seed, change));
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

static void rebuild_tell(const struct rebuild *rebuild)
{
    uint64_t total = rebuild->reactions_expected;
    if (rebuild->progress != NULL)
        rebuild->progress(rebuild->context, rebuild->reactions,
                          total > rebuild->reactions ? total : rebuild->reactions);
}

static void rebuild_count_row(struct rebuild *rebuild)
{
    if (++rebuild->rows % PROGRESS_ROWS == 0)
        rebuild_tell(rebuild);
}

static enum status rebuild_reaction(void *context, const struct store_reaction *reaction)
{
    struct rebuild *rebuild = context;
    filter_add(rebuild->live, reaction_key_of(rebuild->seed, reaction));
    known_add_reaction(rebuild->known, rebuild->seed, reaction);
    rebuild->reactions++;
    rebuild_count_row(rebuild);
    return STATUS_OK;
}

static enum status rebuild_item(void *context, const struct store_count *count)
{
    struct rebuild *rebuild = context;
    known_add(rebuild->known, item_key(rebuild->seed, count->item));
    rebuild_count_row(rebuild);
    return STATUS_OK;
}

enum status filters_rebuild(struct filters *filters, struct store *store,
                            filters_progress_fn *progress, void *context)
{
    struct store_stats stats;
    store_stats(store, &stats);
    struct rebuild rebuild = {.seed = filters->seed,
                              .live = filter_new(filters->budget, 0),
                              .known = filter_new(filters->budget, 0),
                              .reactions_expected = stats.reactions,
                              .progress = progress,
                              .context = context};
    enum status status = STATUS_NO_MEMORY;
    if (rebuild.live != NULL && rebuild.known != NULL) {
        filter_expect(rebuild.live, stats.reactions);
        status = store_visit(store, &(struct store_visitor){.reaction = rebuild_reaction,
                                                            .count = rebuild_item,
                                                            .context = &rebuild});
    }
    if (status != STATUS_OK) {
        filter_free(rebuild.live);
        filter_free(rebuild.known);
        return status;
    }
    rebuild.reactions_expected = rebuild.reactions;
    rebuild_tell(&rebuild);
    filters_replace(filters, rebuild.seed, rebuild.live, rebuild.known);
    return STATUS_OK;
}

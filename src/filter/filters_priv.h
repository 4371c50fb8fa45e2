/*
 * What the source files of the two filters share.
 */
#ifndef LAUD_FILTER_FILTERS_PRIV_H
#define LAUD_FILTER_FILTERS_PRIV_H

#include <stdatomic.h>

#include "base/hash.h"
#include "filter/filter_priv.h"
#include "filter/filters.h"

/*
 * FILTERS_RESIZED is the largest number of replacements that need not be larger than the filter
 * before. After that each is larger, and there are only so many sizes; FILTERS_RETIRED bounds all
 * of them.
 */
#define FILTERS_RESIZED 64
#define FILTERS_RETIRED (FILTERS_RESIZED + 2 + 2 * FILTER_BITS_MAX)

struct filters_keys {
    uint64_t live;
    uint64_t known;
};

/* Filters that will replace those in use; NULL: this one is not replaced. */
struct filters_next {
    struct filter *live;
    struct filter *known;
    uint32_t part;            /* they have everything of the store's partitions before this one */
    struct filters_keys keys; /* number of keys when the new filters were made */
};

struct filters {
    struct memory_budget *budget;
    uint64_t seed;

    /* Written by the thread that updates the filters, read by all threads */
    struct filter *_Atomic live;
    struct filter *_Atomic known;
    _Atomic uint64_t next_bytes; /* this and the next two members are for statistics */
    _Atomic uint32_t next_part;
    _Atomic uint64_t moves;

    /* Used only by the thread that updates the filters */
    struct filters_next next;
    struct filter *retired[FILTERS_RETIRED]; /* other threads may still be asking these */
    uint32_t retired_count;
    uint64_t known_kept; /* see known_keys in filters_move.c */
};

/* The filters in use. */
static inline struct filter *filters_live(const struct filters *filters)
{
    return atomic_load_explicit(&filters->live, memory_order_acquire);
}

static inline struct filter *filters_known(const struct filters *filters)
{
    return atomic_load_explicit(&filters->known, memory_order_acquire);
}

/* Like filters_new, but the first segments are made for `first_keys` keys (0: the default). */
struct filters *filters_new_small(struct memory_budget *budget, uint64_t seed, uint64_t first_keys);

/* Replaces both filters. No other thread may be asking. */
void filters_replace(struct filters *filters, uint64_t seed, struct filter *live,
                     struct filter *known);

/*
 * filters_move.c: adds or removes what a batch creates or deletes, in the filters that are being
 * made.
 */
void filters_next_made(struct filters *filters, const struct store_reaction *reaction);
void filters_next_removed(struct filters *filters, const struct store_reaction *reaction);
void filters_next_item(struct filters *filters, struct item item);
/*
 * filters_known_made: `known` was just made from the store. filters_known_lost: a reaction was
 * deleted.
 */
void filters_known_made(struct filters *filters);
void filters_known_lost(struct filters *filters);
/* Discards the filters that are being made. */
void filters_next_drop(struct filters *filters);
/* Like filters_move; each call visits about `rows` rows. */
enum status filters_move_rows(struct filters *filters, struct store_admin *admin, uint32_t rows);

/* Keys of reactions, shelves and items are hashed differently. */
#define FILTERS_KEY_REACTION 0x2545f4914f6cdd1dULL
#define FILTERS_KEY_SHELF    0x94d049bb133111ebULL
#define FILTERS_KEY_ITEM     0xbf58476d1ce4e5b9ULL

static inline uint64_t reaction_key(uint64_t seed, struct id user, uint8_t kind, struct item item)
{
    return hash_3(id_hash(user, seed), item_hash(item, seed), FILTERS_KEY_REACTION + kind);
}

static inline uint64_t shelf_key(uint64_t seed, struct id user, uint8_t kind, uint16_t type)
{
    return hash_3(id_hash(user, seed), (uint64_t)kind << 16 | type, FILTERS_KEY_SHELF);
}

static inline uint64_t item_key(uint64_t seed, struct item item)
{
    return hash_mix(item_hash(item, seed), FILTERS_KEY_ITEM);
}

static inline uint64_t reaction_key_of(uint64_t seed, const struct store_reaction *reaction)
{
    return reaction_key(seed, reaction->user, reaction->kind, reaction->item);
}

/*
 * Nothing is ever removed from `known`, so a key that seems to be in it already need not be added.
 */
static inline void known_add(struct filter *known, uint64_t key)
{
    if (!filter_may_have(known, key))
        filter_add(known, key);
}

static inline void known_add_reaction(struct filter *known, uint64_t seed,
                                      const struct store_reaction *reaction)
{
    known_add(known, shelf_key(seed, reaction->user, reaction->kind, reaction->item.type));
    known_add(known, item_key(seed, reaction->item));
}

#endif

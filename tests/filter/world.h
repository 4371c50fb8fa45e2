/*
 * A small world of users, kinds and items with a store of the simplest sort, for tests of the
 * filters that follow it.
 */
#ifndef LAUD_FILTER_WORLD_H
#define LAUD_FILTER_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "chance.h"
#include "filter/filter_priv.h"
#include "filter/filters_priv.h"

#define WORLD_USERS 40
#define WORLD_KINDS 3
#define WORLD_TYPES 4
#define WORLD_ITEMS 160
#define WORLD_BATCH 300

/* A store that can be visited and counted, and no more. */
struct world {
    struct store store;
    struct chance chance;
    uint32_t times[WORLD_USERS][WORLD_KINDS][WORLD_ITEMS]; /* 0: not live */
    int64_t counts[WORLD_ITEMS];
    enum status visit_status; /* told at the end of a visit */
    uint64_t position;

    struct store_reaction reactions[WORLD_BATCH];
    struct store_count count_changes[WORLD_BATCH];
    struct store_changes changes;
};

void world_make(struct world *world, uint64_t seed);

/* Half of the ids are UUIDs. */
struct id world_user(uint32_t user);
struct item world_item(uint32_t item);

uint64_t world_reactions(const struct world *world);

/* Draws changes that the store could be told next; `makes` of 100 leave a reaction live. */
const struct store_changes *world_draw(struct world *world, uint32_t makes);
void world_apply(struct world *world);

/* world_draw and world_apply, with the filters following. */
void world_step(struct world *world, struct filters *filters, uint32_t makes);

/* Fails the test if the filters say no of anything that the store has. */
void world_check(const struct world *world, const struct filters *filters);

/* Of the reactions that the store has not: how many, and how many of those the filter suspects. */
void world_suspects(const struct world *world, const struct filters *filters, uint64_t *absent,
                    uint64_t *suspects);

/* What a progress function was told; `tell` is one, for a struct told. */
struct told {
    uint64_t calls;
    uint64_t done;
    uint64_t total;
    uint64_t stop_at; /* it says to give up then; 0: never */
};
bool tell(void *context, uint64_t done, uint64_t total);

#endif

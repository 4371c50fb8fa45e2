/*
 * A small world for the projector's tests: a few users, items and names, and a course of events
 * that a server could have decided there, each known by what came before it and the seed. The
 * world knows what is true after each event, so it is the model that folds and stores are held to.
 */
#ifndef LAUD_PROJECT_WORLD_H
#define LAUD_PROJECT_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "chance.h"
#include "filter/filters.h"
#include "journal/event.h"
#include "store/store.h"
#include "trend/trends.h"

/* Names by index: like, (comment), three kinds more, two counters. */
enum {
    WORLD_USERS = 7,
    WORLD_ITEMS = 9,
    WORLD_KINDS = 5,
    WORLD_NAMES = 7,
    WORLD_TYPES = 3,
    WORLD_NEEDED = 8,          /* names and types that come up first of all */
    WORLD_DEFINED = 40,        /* and with others in time */
    WORLD_CHANGES_TTL_S = 100, /* what was cleared is to be remembered at least so long */
};

struct world {
    struct chance chance;
    uint64_t events;
    uint64_t position; /* of the journal, after them */
    uint32_t now_s;
    uint32_t defined;
    uint32_t time_s[WORLD_USERS][WORLD_KINDS][WORLD_ITEMS];    /* 0: not live */
    uint32_t cleared_s[WORLD_USERS][WORLD_KINDS][WORLD_ITEMS]; /* last; 0: never */
    int64_t counts[WORLD_ITEMS][WORLD_NAMES];
};

void world_start(struct world *world, uint64_t seed);
/* What happens next; the world is as after it. */
struct event world_next(struct world *world);

struct id world_user(uint32_t number);
struct item world_item(uint32_t number);
struct store_name world_name(uint32_t number); /* those defined so far are the first ones */

/* Everything the store says, in all its ways of saying it, is what the world says. */
void world_expect_store(const struct world *world, struct store *store);
/* The boards are those of a world of this seed, counted event by event up to this position. */
void world_expect_trends(uint64_t seed, uint64_t position, struct trends *trends);
/* No "no" for anything there. */
void world_expect_filters(const struct world *world, const struct filters *filters);

#endif

/*
 * What all boards share: their memory and the seed of their hash tables.
 */
#ifndef LAUD_TREND_SPACE_H
#define LAUD_TREND_SPACE_H

#include "base/memory.h"

struct trend_space {
    struct memory_budget share;   /* share of the budget for the boards */
    struct memory_budget answers; /* share of the budget for stored answers */
    uint64_t seed;
    uint32_t items_max; /* most items of one slice of one board */
    uint64_t pruned;    /* how often a slice had to drop items */
    uint64_t lost;      /* changes that were lost because there was no memory for a slice */
};

static inline bool space_take(struct trend_space *space, size_t bytes)
{
    return memory_charge(&space->share, bytes);
}

static inline void space_give(struct trend_space *space, size_t bytes)
{
    memory_release(&space->share, bytes);
}

#endif

/*
 * What all boards share: the memory they may have, and how their tables hash.
 */
#ifndef LAUD_TREND_SPACE_H
#define LAUD_TREND_SPACE_H

#include "base/memory.h"

struct trend_space {
    struct memory_budget share;   /* of the process's, for the boards */
    struct memory_budget answers; /* and for answers that are kept */
    uint64_t seed;
    uint32_t items_max; /* of one slice of one board */
    uint64_t pruned;    /* how often a slice had to let items go */
    uint64_t lost;      /* changes that no slice could be made for */
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

/*
 * What all boards share: the memory they may have, and how their tables hash. Memory is charged
 * twice: to the share of the boards, which bounds them, and to the budget of the process.
 */
#ifndef LAUD_TREND_SPACE_H
#define LAUD_TREND_SPACE_H

#include "base/memory.h"

struct trend_space {
    struct memory_budget *budget; /* of the process */
    struct memory_budget share;   /* of it, for the boards */
    struct memory_budget answers; /* and for answers that are kept */
    uint64_t seed;
    uint32_t items_max; /* of one slice of one board */
    uint64_t pruned;    /* how often a slice had to let items go */
    uint64_t lost;      /* changes that no slice could be made for */
};

static inline bool space_take_of(struct trend_space *space, struct memory_budget *share,
                                 size_t bytes)
{
    if (!memory_charge(share, bytes))
        return false;
    if (memory_charge(space->budget, bytes))
        return true;
    memory_release(share, bytes);
    return false;
}

static inline void space_give_of(struct trend_space *space, struct memory_budget *share,
                                 size_t bytes)
{
    memory_release(share, bytes);
    memory_release(space->budget, bytes);
}

static inline bool space_take(struct trend_space *space, size_t bytes)
{
    return space_take_of(space, &space->share, bytes);
}

static inline void space_give(struct trend_space *space, size_t bytes)
{
    space_give_of(space, &space->share, bytes);
}

#endif

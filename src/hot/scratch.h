/*
 * Growing the arrays of a struct hot_scratch (hot.h). Each function makes sure that `count` more entries
 * fit after those in use, and returns false if there is no memory. The memory belongs to the scratch,
 * whose owner frees it.
 */
#ifndef LAUD_HOT_SCRATCH_H
#define LAUD_HOT_SCRATCH_H

#include "hot/hot.h"

bool hot_scratch_grow_counters(struct hot_scratch *scratch, size_t count);
bool hot_scratch_grow_listed(struct hot_scratch *scratch, size_t count);
bool hot_scratch_grow_ranked(struct hot_scratch *scratch, size_t count);

static inline bool hot_scratch_reserve_counters(struct hot_scratch *scratch, size_t count)
{
    return count <= scratch->capacity - scratch->used || hot_scratch_grow_counters(scratch, count);
}

static inline bool hot_scratch_reserve_listed(struct hot_scratch *scratch, size_t count)
{
    return count <= scratch->listed_capacity - scratch->listed_used ||
           hot_scratch_grow_listed(scratch, count);
}

static inline bool hot_scratch_reserve_ranked(struct hot_scratch *scratch, size_t count)
{
    return count <= scratch->ranked_capacity - scratch->ranked_used ||
           hot_scratch_grow_ranked(scratch, count);
}

#endif

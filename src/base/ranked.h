/* A place on a board: an item of one type and the value of one of its counters. */
#ifndef LAUD_BASE_RANKED_H
#define LAUD_BASE_RANKED_H

#include <stddef.h>
#include <stdint.h>

#include "base/id.h"

struct ranked {
    struct id id;
    int64_t value;
};

/*
 * < 0: a comes before b, 0: the same. By value falling, then by id: narrow ones before wide ones,
 * each rising.
 */
static inline int ranked_order(struct ranked a, struct ranked b)
{
    if (a.value != b.value)
        return a.value > b.value ? -1 : 1;
    if (id_is_wide(a.id) != id_is_wide(b.id))
        return id_is_wide(b.id) ? -1 : 1;
    if (a.id.hi != b.id.hi)
        return a.id.hi < b.id.hi ? -1 : 1;
    return a.id.lo < b.id.lo ? -1 : a.id.lo > b.id.lo;
}

/* Brings the best `want` of them to the front, in no order. No two are the same. */
void ranked_best(struct ranked *entries, uint32_t count, uint32_t want);

/* Best first. */
void ranked_sort(struct ranked *entries, size_t count);

#endif

/* An entry of a board: an item of one type, and the value of one of its counters. */
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
 * Negative: a precedes b on the board; 0: they are equal. The order is by falling value, then by
 * id: narrow ids before wide ids, each in rising order.
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

/*
 * Brings the best `want` entries to the front of the array, in no particular order. No two entries
 * may be equal.
 */
void ranked_best(struct ranked *entries, uint32_t count, uint32_t want);

/* Orders the entries, best first. */
void ranked_sort(struct ranked *entries, size_t count);

#endif

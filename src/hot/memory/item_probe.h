/*
 * A small hash table of the items of a request, in which the entries of shelves are looked up: one short
 * step for each entry, however many items there are. It uses only the lower half of ids, so what it finds
 * has to be compared. It is made for one request, on the stack of the thread that runs it.
 */
#ifndef LAUD_HOT_MEMORY_ITEM_PROBE_H
#define LAUD_HOT_MEMORY_ITEM_PROBE_H

#include <stdint.h>

#include "base/id.h"
#include "base/limits.h"

#define PROBE_HEADS 4096
#define PROBE_USUAL 4 /* heads for each item: made quickly, for the shelves of one user */
#define PROBE_SPARSE                                                                               \
    20 /* the same for the shelves of many users: probes hardly ever hit by chance */

_Static_assert(PROBE_HEADS >= PROBE_USUAL * LIMIT_ITEMS, "probes mostly hit an empty head");
_Static_assert(PROBE_HEADS >= PROBE_SPARSE * LIMIT_FEED_ITEMS, "probes mostly hit an empty head");

struct item_probe {
    uint64_t factor;
    uint32_t shift;
    uint16_t heads[PROBE_HEADS]; /* 1 + index of the first item in a chain; 0: the chain is empty */
    uint16_t next[LIMIT_ITEMS];  /* the same for the next item */
};

/* `spread` is PROBE_USUAL or PROBE_SPARSE; there may be at most PROBE_HEADS / spread items. */
void item_probe_build(struct item_probe *probe, const struct item *items, uint32_t count,
                      uint32_t spread, uint64_t seed);

static inline uint32_t item_probe_slot(const struct item_probe *probe, uint64_t lo)
{
    return (uint32_t)(lo * probe->factor >> probe->shift);
}

/* 1 + the index of the first item whose id may have this lower half; 0: there is none. */
static inline uint32_t item_probe_head(const struct item_probe *probe, uint64_t lo)
{
    return probe->heads[item_probe_slot(probe, lo)];
}

#endif

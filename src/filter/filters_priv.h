/*
 * What the files of the two filters share.
 */
#ifndef LAUD_FILTER_FILTERS_PRIV_H
#define LAUD_FILTER_FILTERS_PRIV_H

#include "filter/filters.h"

struct filters {
    struct memory_budget *budget;
    uint64_t seed;
    struct filter *live;
    struct filter *known;
};

/* filters_new with filters whose first segment is made for `first_keys` (0: the usual). */
struct filters *filters_new_small(struct memory_budget *budget, uint64_t seed, uint64_t first_keys);

/* Puts these in the place of those that are there. Nobody may be asking. */
void filters_replace(struct filters *filters, uint64_t seed, struct filter *live,
                     struct filter *known);

#endif

#include "hot/scratch.h"

#include <stdlib.h>

/* Grows to twice the size, at least by `least`. Returns the array, or NULL with everything as it was. */
static void *grow(void *array, size_t entry_size, uint32_t used, uint32_t *capacity, size_t count,
                  size_t least)
{
    size_t needed = used + count;
    size_t wanted = (size_t)*capacity * 2 + least;
    wanted = wanted < needed ? needed : wanted;
    if (wanted > UINT32_MAX)
        return NULL;
    void *grown = realloc(array, wanted * entry_size);
    if (grown != NULL)
        *capacity = (uint32_t)wanted;
    return grown;
}

bool hot_scratch_grow_counters(struct hot_scratch *scratch, size_t count)
{
    void *grown = grow(scratch->counters, sizeof(*scratch->counters), scratch->used,
                       &scratch->capacity, count, LIMIT_NAMES);
    scratch->counters = grown != NULL ? grown : scratch->counters;
    return grown != NULL;
}

bool hot_scratch_grow_listed(struct hot_scratch *scratch, size_t count)
{
    void *grown = grow(scratch->listed, sizeof(*scratch->listed), scratch->listed_used,
                       &scratch->listed_capacity, count, LIMIT_LIST + 1);
    scratch->listed = grown != NULL ? grown : scratch->listed;
    return grown != NULL;
}

bool hot_scratch_grow_ranked(struct hot_scratch *scratch, size_t count)
{
    void *grown = grow(scratch->ranked, sizeof(*scratch->ranked), scratch->ranked_used,
                       &scratch->ranked_capacity, count, LIMIT_TOP);
    scratch->ranked = grown != NULL ? grown : scratch->ranked;
    return grown != NULL;
}

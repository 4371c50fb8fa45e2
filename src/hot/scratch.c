#include "hot/scratch.h"

#include "base/array.h"

/* Makes room for `count` more entries. Returns the array; or NULL, and then nothing has changed. */
static void *grow(void *array, size_t entry_size, uint32_t used, uint32_t *capacity, size_t count,
                  size_t least)
{
    size_t room = *capacity, needed = used + count;
    if (needed > UINT32_MAX / 2)
        return NULL;
    void *grown = array_grow(array, &room, needed, least, entry_size);
    *capacity = (uint32_t)room;
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

#include "query/removal_progress.h"

#include <string.h>

#include "base/assert.h"

void removal_progress_init(struct removal_progress *progress, uint64_t seed)
{
    memset(progress, 0, sizeof(*progress));
    pthread_mutex_init(&progress->lock, NULL);
    progress->seed = seed;
}

void removal_progress_destroy(struct removal_progress *progress)
{
    pthread_mutex_destroy(&progress->lock);
}

_Static_assert((REMOVAL_PROGRESS_SLOTS & (REMOVAL_PROGRESS_SLOTS - 1)) == 0, "a power of two");

static size_t slot_of(const struct removal_progress *progress, enum hot_action action,
                      const struct store_reaction *position)
{
    ASSERT(action == HOT_FORGET || action == HOT_DROP);
    uint64_t hash = action == HOT_FORGET ? id_hash(position->user, progress->seed)
                                         : item_hash(position->item, progress->seed);
    return hash % REMOVAL_PROGRESS_SLOTS;
}

/* Is the entry in this slot for the same user or item? */
static bool slot_is_for(const struct removal_progress *progress, size_t slot,
                        enum hot_action action, const struct store_reaction *position)
{
    const struct store_reaction *entry = &progress->slots[slot].position;
    return progress->slots[slot].used && progress->slots[slot].action == action &&
           (action == HOT_FORGET ? id_equal(entry->user, position->user)
                                 : item_equal(entry->item, position->item));
}

void removal_progress_load(struct removal_progress *progress, enum hot_action action,
                           struct store_reaction *position)
{
    size_t slot = slot_of(progress, action, position);
    pthread_mutex_lock(&progress->lock);
    if (slot_is_for(progress, slot, action, position))
        *position = progress->slots[slot].position;
    pthread_mutex_unlock(&progress->lock);
}

void removal_progress_save(struct removal_progress *progress, enum hot_action action,
                           const struct store_reaction *position)
{
    size_t slot = slot_of(progress, action, position);
    pthread_mutex_lock(&progress->lock);
    if (position->time_s != 0) {
        progress->slots[slot].used = true;
        progress->slots[slot].action = action;
        progress->slots[slot].position = *position;
    } else if (slot_is_for(progress, slot, action, position)) {
        progress->slots[slot].used = false;
    }
    pthread_mutex_unlock(&progress->lock);
}

#include "hot/memory/sweep_mark.h"

#include "base/assert.h"

#define MARK_UNUSED HOT_SET

void sweeps_init(struct sweeps *sweeps)
{
    pthread_mutex_init(&sweeps->lock, NULL);
    for (uint32_t i = 0; i < SWEEP_MARKS; i++)
        sweeps->marks[i].action = MARK_UNUSED;
}

void sweeps_destroy(struct sweeps *sweeps)
{
    pthread_mutex_destroy(&sweeps->lock);
}

/* Is there a mark, and of the same? */
static bool is_marked(const struct sweeps *sweeps, enum hot_action action, uint64_t hash,
                      const struct store_reaction *place)
{
    const struct store_reaction *mark = &sweeps->marks[hash % SWEEP_MARKS].place;
    return sweeps->marks[hash % SWEEP_MARKS].action == action &&
           (action == HOT_FORGET ? id_equal(mark->user, place->user)
                                 : item_equal(mark->item, place->item));
}

void sweeps_recall(struct sweeps *sweeps, enum hot_action action, uint64_t hash,
                   struct store_reaction *place)
{
    ASSERT(action == HOT_FORGET || action == HOT_DROP);
    pthread_mutex_lock(&sweeps->lock);
    if (is_marked(sweeps, action, hash, place))
        *place = sweeps->marks[hash % SWEEP_MARKS].place;
    pthread_mutex_unlock(&sweeps->lock);
}

void sweeps_keep(struct sweeps *sweeps, enum hot_action action, uint64_t hash,
                 const struct store_reaction *place)
{
    pthread_mutex_lock(&sweeps->lock);
    if (place->time_s != 0) {
        sweeps->marks[hash % SWEEP_MARKS].action = action;
        sweeps->marks[hash % SWEEP_MARKS].place = *place;
    } else if (is_marked(sweeps, action, hash, place)) {
        sweeps->marks[hash % SWEEP_MARKS].action = MARK_UNUSED;
    }
    pthread_mutex_unlock(&sweeps->lock);
}

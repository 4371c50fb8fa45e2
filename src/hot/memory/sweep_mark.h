/*
 * How far FORGET and DROP have come with whom, for the next call about the same user or item. What
 * was removed leaves its traces in a store until they are merged away, and whoever began at the
 * first row each time would walk over all of them again.
 *
 * A mark saves time and nothing else: one that is lost, or taken by another, costs a longer walk.
 * Any thread may call.
 */
#ifndef LAUD_HOT_MEMORY_SWEEP_MARK_H
#define LAUD_HOT_MEMORY_SWEEP_MARK_H

#include <pthread.h>

#include "hot/hot.h"
#include "store/store.h"

#define SWEEP_MARKS 64 /* a power of two */

struct sweeps {
    pthread_mutex_t lock;
    struct {
        enum hot_action action; /* HOT_FORGET or HOT_DROP; any other: not used */
        struct store_reaction place;
    } marks[SWEEP_MARKS]; /* each stands where the hash of its user or item says */
};

void sweeps_init(struct sweeps *sweeps);
void sweeps_destroy(struct sweeps *sweeps);

/*
 * The mark of the place's user (FORGET) or item (DROP) is copied to the place, if there is one; kept
 * there, and with time 0 removed.
 */
void sweeps_recall(struct sweeps *sweeps, enum hot_action action, uint64_t hash,
                   struct store_reaction *place);
void sweeps_keep(struct sweeps *sweeps, enum hot_action action, uint64_t hash,
                 const struct store_reaction *place);

#endif

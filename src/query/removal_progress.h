/*
 * How far FORGET and DROP have walked over the store's rows of which user or item, so that the next
 * call about the same one continues there. Removed rows stay in a store until they are merged away,
 * and a call that began with the first row each time would read all of them again.
 *
 * An entry only saves time: if it is lost, or replaced by that of another user or item, the next walk
 * takes longer. Any thread may call.
 */
#ifndef LAUD_QUERY_REMOVAL_PROGRESS_H
#define LAUD_QUERY_REMOVAL_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>

#include "hot/hot.h"
#include "store/store.h"

#define REMOVAL_PROGRESS_SLOTS 64 /* a power of two */

struct removal_progress {
    pthread_mutex_t lock;
    uint64_t seed; /* of the hash that says in which slot an entry is */
    struct {
        bool used;
        enum hot_action action; /* HOT_FORGET or HOT_DROP */
        struct store_reaction position;
    } slots[REMOVAL_PROGRESS_SLOTS];
};

void removal_progress_init(struct removal_progress *progress, uint64_t seed);
void removal_progress_destroy(struct removal_progress *progress);

/*
 * The position is a row of the store: the last one that the walk is done with. Its user (FORGET) or
 * its item (DROP) says whose entry is meant.
 *
 * load copies the entry to the position, if there is one. save makes the position the entry, or
 * removes the entry if the position's time is 0.
 */
void removal_progress_load(struct removal_progress *progress, enum hot_action action,
                           struct store_reaction *position);
void removal_progress_save(struct removal_progress *progress, enum hot_action action,
                           const struct store_reaction *position);

#endif

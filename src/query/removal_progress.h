/*
 * Remembers how far FORGET and DROP have walked over the store's rows of a user or an item, so that the
 * next call for the same user or item continues there. Removed rows remain in a store until a
 * compaction, and a call that always began with the first row would read all of them again.
 *
 * An entry only saves time: if it is lost, or replaced by the entry of another user or item, the next
 * walk takes longer. Any thread may call these functions.
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
    uint64_t seed; /* of the hash that gives the slot of an entry */
    struct {
        bool used;
        enum hot_action action; /* HOT_FORGET or HOT_DROP */
        struct store_reaction position;
    } slots[REMOVAL_PROGRESS_SLOTS];
};

void removal_progress_init(struct removal_progress *progress, uint64_t seed);
void removal_progress_destroy(struct removal_progress *progress);

/*
 * The position is a row of the store: the last row that the walk has finished. Its user (FORGET) or its
 * item (DROP) selects the entry.
 *
 * `load` copies the entry to *position, if there is an entry. `save` replaces the entry by the position,
 * or removes the entry if the time of the position is 0.
 */
void removal_progress_load(struct removal_progress *progress, enum hot_action action,
                           struct store_reaction *position);
void removal_progress_save(struct removal_progress *progress, enum hot_action action,
                           const struct store_reaction *position);

#endif

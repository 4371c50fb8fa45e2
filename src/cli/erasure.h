/*
 * Erasure: the texts of comments that were deleted, purged, forgotten or dropped are removed from the journal within
 * --comment-erase. A journal only removes whole segments, from the front, after a checkpoint. So when texts
 * were removed, the present segment is ended after some time and a checkpoint is made, however few events
 * there were.
 *
 * This is only the decision when to do so; the caller gives the time and the positions. Used by one thread.
 */
#ifndef LAUD_CLI_ERASURE_H
#define LAUD_CLI_ERASURE_H

#include <stdbool.h>
#include <stdint.h>

#define ERASURE_RETRY_MS                                                                           \
    60000 /* between two attempts, or as long as is allowed if that is shorter */

struct erasure {
    uint64_t within_ms; /* how long a removed text may stay; set by the caller */
    uint64_t since_ms;  /* when it was noticed that texts were removed; 0: none were */
    uint64_t target;    /* events before it have to be removed from the journal now; 0: none */
    uint64_t asked_ms;  /* when this was last tried */
    bool is_late;       /* it was not possible in time */
};

/*
 * `erased` is the position after the newest event that has removed a text, `first` that of the oldest event that
 * the journal has; now_ms is not 0 and never goes back. True: the present segment has to be ended and a
 * checkpoint made, now.
 */
bool erasure_turn(struct erasure *erasure, uint64_t now_ms, uint64_t erased, uint64_t first);

#endif

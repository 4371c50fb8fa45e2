/*
 * Appending to the journal from a thread that may wait: where the ring is full, until it has room.
 *
 * Used by one thread, the only one that appends; the journal's own thread wakes it.
 */
#ifndef LAUD_MOVE_RECORD_H
#define LAUD_MOVE_RECORD_H

#include <pthread.h>
#include <stdint.h>

#include "journal/log.h"

struct record {
    struct journal *journal;
    size_t admitted;      /* bytes that may be appended before asking again */
    uint64_t kicked;      /* position up to which the journal was told to write */
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t heard;
    uint64_t calls; /* of the journal's listener */
};

void record_start(struct record *record, struct journal *journal);
void record_end(struct record *record); /* closes the journal, which calls it until then */

/* OK; READONLY, DISK_FULL, NO_FILES: it was not appended, and the journal says why. */
enum status record_event(struct record *record, const struct event *event);

/* Everything appended so far is being written. */
void record_kick(struct record *record);

#endif

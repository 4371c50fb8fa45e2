/*
 * Appends events to the journal from a thread that may wait: if the ring is full, it waits for room.
 *
 * One thread uses it, and no other thread appends. The journal's own thread wakes it.
 */
#ifndef LAUD_MOVE_RECORD_H
#define LAUD_MOVE_RECORD_H

#include <pthread.h>
#include <stdint.h>

#include "journal/log.h"

struct record {
    struct journal *journal;
    size_t admitted;      /* bytes that may be appended before asking again */
    uint64_t kicked;      /* the end of the journal at the last kick */
    pthread_mutex_t lock; /* protects the members below */
    pthread_cond_t heard; /* the journal's listener was called */
    uint64_t calls;       /* of the journal's listener */
};

void record_start(struct record *record, struct journal *journal);
void record_end(
    struct record *record); /* closes the journal, which calls the listener until then */

/* OK; READONLY, DISK_FULL, NO_FILES: the event was not appended, and the journal has the reason. */
enum status record_event(struct record *record, const struct event *event);

/* Has everything that was appended so far written to disk, without waiting for it. */
void record_kick(struct record *record);

#endif

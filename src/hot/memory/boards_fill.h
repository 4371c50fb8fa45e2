/*
 * The filler: the thread that fills boards which have too few entries. There are three causes: the server
 * started without a usable file of its boards; so many entries of a board fell below the floor that fewer
 * than LIMIT_TOP remain; or a section lost its memory. One pass over the counters of the store fills all
 * boards that need it. Without a store, it is a pass over memory.
 *
 * After a start from a file, the filler also reads the items again that changed between that file and the
 * store, and waits until the replayed rows are complete (keeper.h). Until then no board is read.
 */
#ifndef LAUD_HOT_MEMORY_BOARDS_FILL_H
#define LAUD_HOT_MEMORY_BOARDS_FILL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "base/status.h"

#define BOARDS_PAUSE_MIN                                                                           \
    2 /* rounds between two fillings, if the boards were full after the first */

struct hot_memory;

/* A counter of an item. */
struct board_counter {
    struct id id;
    uint16_t type;
    uint8_t name;
};

struct boards_filler {
    pthread_t thread;
    bool running;
    atomic_bool stopping;
    pthread_mutex_t lock;
    pthread_cond_t asked;  /* signals the filler: there is work, or it has to stop */
    pthread_cond_t turned; /* the filler signals that a round is over */
    uint64_t rounds;
    unsigned waiting; /* workers that wait for a board */

    pthread_mutex_t round; /* held during a round; protects the members below */
    bool begun;        /* a filling has begun; it continues once the store has reached `position` */
    bool all;          /* it fills all boards */
    uint64_t position; /* the end of the journal when it began */
    uint32_t pause;    /* rounds until the next filling may begin */
    uint32_t pause_next; /* the pause after the next filling */

    struct board_counter *touched; /* counters to be read again after a start */
    size_t touched_count;
    size_t touched_capacity;

    _Atomic uint64_t fills; /* passes over the store since the start */
};

void boards_filler_init(struct boards_filler *filler);
bool boards_filler_start(struct hot_memory *hot); /* false: no thread */
void boards_filler_stop(struct hot_memory *hot);  /* also allowed if it never started */
void boards_filler_destroy(struct hot_memory *hot);

/* Makes one round. The filler's thread calls it; if there is no thread, a thread that needs a board. */
void boards_round(struct hot_memory *hot);

/*
 * Asks the filler for a round and waits for it until until_ns. Returns false if too many workers wait
 * already or the time is over.
 */
bool boards_wait(struct hot_memory *hot, uint64_t until_ns);

/* Notes that a counter has to be read again. False: there are too many of them. */
bool boards_touch(struct hot_memory *hot, struct board_counter counter);
void boards_touched_free(struct hot_memory *hot);

/* Called at the start if the boards cannot be used: they will all be counted again. */
void boards_recount(struct hot_memory *hot);

#endif

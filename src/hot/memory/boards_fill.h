/*
 * Filling boards: the thread that counts boards whose parts hold too little. There are three causes:
 * a server that started without a usable file of its boards, a board of which so many entries fell
 * below the floor that it has less than LIMIT_TOP left, and a part that lost its memory. One pass
 * over the counters of the store fills all boards that need it; without a store, one over memory.
 *
 * After a start from a file it also reads the items anew that changed between that file and the
 * store, and waits until what was replayed is complete (keeper.h): until then no board is read.
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

#define BOARDS_PAUSE_MIN 2 /* rounds between two fillings, of which the first helped */

struct hot_memory;

/* A counter of an item. */
struct board_place {
    struct id id;
    uint16_t type;
    uint8_t name;
};

struct boards_filler {
    pthread_t thread;
    bool running;
    atomic_bool stopping;
    pthread_mutex_t lock;
    pthread_cond_t asked;  /* to the filler: work, or stop */
    pthread_cond_t turned; /* from the filler: a round is over */
    uint64_t rounds;
    unsigned waiting; /* workers that wait for a board */

    /* Whose round it is */
    pthread_mutex_t round;
    bool begun;        /* a filling, which goes on once the store has reached `position` */
    bool all;          /* of every board there is */
    uint64_t position; /* of the journal when it began */
    uint32_t pause;    /* rounds until the next may begin */
    uint32_t pause_next;

    struct board_place *touched; /* to be read anew after a start */
    size_t touched_count;
    size_t touched_capacity;

    _Atomic uint64_t fills; /* passes over the store, since start */
};

void boards_filler_init(struct boards_filler *filler);
bool boards_filler_start(struct hot_memory *hot); /* false: no thread */
void boards_filler_stop(struct hot_memory *hot);  /* also if it never started */
void boards_filler_destroy(struct hot_memory *hot);

/* One round, as the thread does it; also by whoever needs it where there is no thread. */
void boards_round(struct hot_memory *hot);

/* Has a round made, and waits for it up to the time; false: too many wait already, or it is late. */
bool boards_wait(struct hot_memory *hot, uint64_t until_ns);

/* Notes that a counter is to be read anew. False: there are too many for that. */
bool boards_touch(struct hot_memory *hot, struct board_place place);
void boards_touched_free(struct hot_memory *hot);

/* At start: what is there of the boards is of no use. */
void boards_recount(struct hot_memory *hot);

#endif

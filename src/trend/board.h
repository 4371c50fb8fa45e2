/*
 * One windowed board: how much a counter of the items of one type changed, in slices of time. There
 * are three levels of slices, one for each window:
 *
 *     hour   12 slices of five minutes
 *     day    24 slices of an hour
 *     week    7 slices of a day
 *
 * aligned to the epoch. A window is the slice of now, as far as it goes, and the whole ones before
 * it. Changes go to the five minutes that are open; once they are over, they are *carried*: added to
 * their hour, and hours to their day. So a window is its own slices, and what is still open below.
 *
 * A slice that has items_max items, or can have no more memory, lets go of the lower half of them,
 * and from then on says how far it may be off. Slices without a change do not exist.
 *
 * Changed by one thread at a time while nobody reads; any number may read.
 */
#ifndef LAUD_TREND_BOARD_H
#define LAUD_TREND_BOARD_H

#include <pthread.h>

#include "base/status.h"
#include "trend/sums.h"
#include "trend/trends.h"

#define TREND_LEVELS 3

_Static_assert(TREND_HOUR == 1 && (int)TREND_WEEK == TREND_LEVELS, "a window is a level and 1");

struct slice {
    struct slice *older;
    uint32_t number; /* of slices of this length since the epoch */
    bool closed;     /* over, and carried */
    struct sums_loss loss;
    struct sums sums;
};

/* The board as it was last asked for, for a window. */
struct answer {
    struct ranked *rows; /* NULL: none */
    uint32_t count;
    uint32_t number;  /* of the slice it was asked in */
    uint64_t changes; /* of the board by then */
};

struct trend_board {
    uint16_t type;
    uint8_t name;
    uint32_t since_s; /* what was before is not all there; 0: nothing is missing */
    uint64_t changes; /* so many times did anything change */
    struct slice *slices[TREND_LEVELS]; /* newest first */
    pthread_mutex_t asking;             /* guards: */
    struct answer answers[TREND_LEVELS];
};

/* How long a slice is, and how many make a window. */
uint32_t trend_board_slice_s(int level);
uint32_t trend_board_slices(int level);

struct trend_board *trend_board_new(struct trend_space *space, uint16_t type,
                                    uint8_t name); /* NULL: no memory */
void trend_board_free(struct trend_board *board, struct trend_space *space);

/* At a time that the board was turned to. */
void trend_board_add(struct trend_board *board, struct trend_space *space, uint32_t time_s,
                     struct id id, int64_t delta);
/* It is now this time, which never falls: carries what is over, lets go of what no window has. */
void trend_board_turn(struct trend_board *board, struct trend_space *space, uint32_t time_s);
bool trend_board_is_empty(const struct trend_board *board);

/* A slice older than all of its level; NULL: no memory. For loading. */
struct slice *trend_board_append(struct trend_board *board, struct trend_space *space, int level,
                                 uint32_t number);
/* Adds to a slice that is not closed, letting go of others if need be. */
void slice_add(struct slice *slice, struct trend_space *space, struct id id, int64_t delta);

/* What a window at that time is made of: calls `visit` for each slice. */
typedef void trend_board_visit_fn(void *context, const struct slice *slice);
void trend_board_visit(const struct trend_board *board, int level, uint32_t now_s,
                       trend_board_visit_fn *visit, void *context);

#endif

/*
 * One windowed board: how much one counter of the items of one type changed, in slices of time.
 * There are three levels of slices, one for each window:
 *
 *     hour   12 slices of five minutes
 *     day    24 slices of an hour
 *     week    7 slices of a day
 *
 * Slices are aligned to the epoch. A window is the present slice, which is not complete yet, and
 * the complete slices before it. Changes are counted in the present slice of five minutes, which is
 * *open*. When it is over, it is *carried*: its sums are added to the slice of its hour, and those
 * of an hour to the slice of its day. So the sum of a window is the sum of its own slices and of
 * the slices that are open on the levels below.
 *
 * If a slice has items_max items, or there is no memory for more, it drops the lower half of them
 * and from then on has an error bound. Slices without a change do not exist.
 *
 * One thread at a time may change a board, while no thread reads it. Any number of threads may
 * read.
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
    uint32_t number; /* number of the slice: slices of this length since the epoch */
    bool closed;     /* complete, and carried to the level above */
    struct sums_loss loss;
    struct sums sums;
};

/* The last answer for a window of the board. */
struct answer {
    struct ranked *rows; /* NULL: there is no answer */
    uint32_t count;
    uint32_t number;  /* number of the slice that was open when the answer was computed */
    uint64_t changes; /* `changes` of the board at that time */
};

struct trend_board {
    uint16_t type;
    uint8_t name;
    uint32_t since_s; /* changes before this time are incomplete; 0: the board is complete */
    uint64_t changes; /* how often the board has changed */
    struct slice *slices[TREND_LEVELS]; /* newest first */
    pthread_mutex_t asking;             /* protects the answers: */
    struct answer answers[TREND_LEVELS];
};

/* The length of a slice, and the number of slices in a window. */
uint32_t trend_board_slice_s(int level);
uint32_t trend_board_slices(int level);

struct trend_board *trend_board_new(struct trend_space *space, uint16_t type,
                                    uint8_t name); /* NULL: there is no memory */
void trend_board_free(struct trend_board *board, struct trend_space *space);

/* Adds a change at a time to which trend_board_turn has advanced the board. */
void trend_board_add(struct trend_board *board, struct trend_space *space, uint32_t time_s,
                     struct id id, int64_t delta);
/*
 * Advances the board to this time, which never decreases: carries complete slices, and drops slices
 * that are in no window any more.
 */
void trend_board_turn(struct trend_board *board, struct trend_space *space, uint32_t time_s);
bool trend_board_is_empty(const struct trend_board *board);

/*
 * For loading: appends a slice that is older than all others of its level. NULL: there is no
 * memory.
 */
struct slice *trend_board_append(struct trend_board *board, struct trend_space *space, int level,
                                 uint32_t number);
/* Adds to a slice that is not closed. If necessary, other items are dropped. */
void slice_add(struct slice *slice, struct trend_space *space, struct id id, int64_t delta);

/* Calls `visit` for each slice that belongs to the window at that time. */
typedef void trend_board_visit_fn(void *context, const struct slice *slice);
void trend_board_visit(const struct trend_board *board, int level, uint32_t now_s,
                       trend_board_visit_fn *visit, void *context);

#endif

/*
 * All boards of the hot tier together: which there are, what memory they may take, and reading one.
 * A board's items lie with the item shards (board.h); here is what the shards' parts have in common.
 *
 * A board is read by gathering all its parts, each under its shard's lock for a moment. What is
 * better than every part's floor is exactly the top of the board. The result is kept, and used until
 * a change of one of the entries says that it is outdated (`dirty`): that is stored under the lock of
 * the shard that changes, and taken back before the shards are looked at, so no change is missed.
 *
 * Boards are bounded in number (LIMIT_BOARDS) and in memory (a share of the budget); one that would
 * go beyond is off until the next start, and says so.
 *
 * Order of locks: a board's, an item shard's, that of `boards`.
 */
#ifndef LAUD_HOT_MEMORY_BOARDS_H
#define LAUD_HOT_MEMORY_BOARDS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/memory.h"
#include "base/ranked.h"
#include "base/status.h"
#include "hot/hot.h"
#include "hot/memory/board.h"
#include "hot/memory/boards_fill.h"
#include "hot/memory/scan.h"

struct hot_memory;

struct board {
    uint32_t key;
    _Atomic bool dirty; /* what was read of it last is outdated */
    _Atomic bool off;   /* it is not kept: there is no room in the boards' share */
    _Atomic bool thin;  /* it may have too few entries above its floor */
    bool filling;       /* the filler's own */

    pthread_mutex_t lock; /* of what follows */
    struct ranked *top;   /* the best of it, in order; NULL: never read */
    uint32_t top_count;
    uint32_t top_wanted; /* how many were looked for */
    bool top_all;        /* it has no more than these */
};

struct boards {
    struct memory_budget *budget;
    scan_fn *scan;
    uint64_t share;       /* bytes they may take */
    uint32_t entries_max; /* of a part */
    uint32_t enough; /* a board with a floor is filled again if it has fewer entries above it */
    _Atomic uint64_t bytes;
    _Atomic bool full;    /* there are more boards than can be kept */
    _Atomic bool missed;  /* a change was not noted anywhere: all are to be counted anew */
    _Atomic bool loading; /* read from a file: some entries may still be of an earlier time */

    pthread_mutex_t lock;
    _Atomic uint32_t count;
    struct board *list[LIMIT_BOARDS]; /* the first `count`, set before that */
    struct board *_Atomic table[2 * LIMIT_BOARDS];

    struct boards_filler filler;
};

/* What boards may have of a budget with this limit. */
uint64_t boards_share(uint64_t limit);
void boards_init(struct boards *boards, struct memory_budget *budget, uint32_t entries_max);
void boards_destroy(struct boards *boards); /* after the shards' parts */

/* OK; BOARD_OFF: beyond the share; NO_MEMORY. */
enum status boards_take(struct boards *boards, size_t bytes);
void boards_give(struct boards *boards, size_t bytes);

/* NULL: there is none. `get` makes it; NULL: too many, or no memory, and that is noted. */
struct board *boards_find(const struct boards *boards, uint32_t key);
struct board *boards_get(struct boards *boards, uint32_t key);

/* A change of this board could not be noted for want of memory (NO_MEMORY) or share. */
void boards_miss(struct boards *boards, struct board *board, enum status status);

/* Are all boards being counted, or about to be? */
bool boards_are_counting(struct hot_memory *hot);

/* What all parts of a board have, in no order; only what counts. */
struct board_gathered {
    struct ranked *entries; /* the caller's: room for LIMIT_SHARDS * BOARD_ENTRIES */
    uint32_t count;
    bool floored; /* there may be more, and `floor` is better than all of those */
    struct ranked floor;
};
void boards_gather(struct hot_memory *hot, uint32_t key, struct board_gathered *out);

void boards_stats(struct hot_memory *hot, struct hot_stats *out);

#endif

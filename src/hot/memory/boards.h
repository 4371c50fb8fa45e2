/*
 * All boards of the hot tier together: which boards exist, how much memory they may use, and reading one.
 * The entries of a board are in the item shards (board.h); here is what its sections have in common.
 *
 * A board is read by gathering all its sections, each under its shard's lock for a moment. The entries
 * that are better than the floor of every section are exactly the top of the board. The result is kept
 * and used until a change of one of its entries sets `dirty`. `dirty` is set under the lock of the shard
 * that changes, and is reset before the shards are read, so no change is missed.
 *
 * The number of boards is bounded (LIMIT_BOARDS), and so is their memory (a share of the budget). A board
 * that does not fit is off until the next start, and TOP reports this.
 *
 * Order of locks: the lock of a board, of an item shard, of `struct boards`.
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
    _Atomic bool dirty;     /* `top` is outdated */
    _Atomic bool off;       /* the board is not kept: it does not fit into the boards' share */
    _Atomic bool thin;      /* the board may have too few entries above its floor */
    bool filling;           /* used only by the filler */
    _Atomic uint32_t extra; /* entries beyond entries_max for which its sections have room */

    pthread_mutex_t lock; /* protects the members below */
    struct ranked *top;   /* the best entries, best first; NULL: the board was never read */
    uint32_t top_count;
    uint32_t top_wanted; /* how many entries the last reading asked for */
    bool top_all;        /* the board has no other entries */
};

struct boards {
    struct memory_budget *budget;
    scan_fn *scan;
    uint64_t share;                    /* how many bytes all boards may use */
    uint32_t entries_max;              /* of one section, unless its board is wide */
    const _Atomic uint16_t *wide_type; /* boards of this type are wide; NULL: none are */
    uint32_t enough; /* a board with a floor is filled again if it has fewer entries than this */
    _Atomic uint64_t bytes;
    _Atomic bool full;    /* there are more boards than can be kept */
    _Atomic bool missed;  /* a change was not noted anywhere: all boards must be counted again */
    _Atomic bool loading; /* boards were read from a file; some entries may still be outdated */

    pthread_mutex_t lock;
    _Atomic uint32_t count;
    struct board *list[LIMIT_BOARDS]; /* the first `count` are set, each before `count` grows */
    struct board *_Atomic table[2 * LIMIT_BOARDS];

    struct boards_filler filler;
};

/* How many bytes boards may use of a budget with this limit. */
uint64_t boards_share(uint64_t limit);
void boards_init(struct boards *boards, struct memory_budget *budget, uint32_t entries_max);
void boards_destroy(struct boards *boards); /* after board_shard_destroy of all shards */

/* Is it a board of comments (board.h)? */
static inline bool boards_is_wide(const struct boards *boards, uint32_t key)
{
    return boards->wide_type != NULL && (uint16_t)(key >> 8) == atomic_load(boards->wide_type);
}

/* Charges memory for boards: OK; BOARD_OFF: it is more than their share; NO_MEMORY. */
enum status boards_take(struct boards *boards, size_t bytes);
void boards_give(struct boards *boards, size_t bytes);

/*
 * boards_find returns NULL if there is no such board. boards_get makes it then, and returns NULL, which is
 * noted in `full` or `missed`, if there are too many boards or no memory.
 */
struct board *boards_find(const struct boards *boards, uint32_t key);
struct board *boards_get(struct boards *boards, uint32_t key);

/* A change of this board could not be noted: NO_MEMORY, or BOARD_OFF if the share is used up. */
void boards_miss(struct boards *boards, struct board *board, enum status status);

/* Are all boards being counted again, or will this begin soon? */
bool boards_are_counting(struct hot_memory *hot);

/* The entries of all sections of a board that may be used, in no order. */
struct board_gathered {
    struct ranked *entries; /* memory of the caller for BOARD_GATHERED entries */
    uint32_t count;
    bool floored; /* there may be other items, and `floor` is better than all of them */
    struct ranked floor;
};
void boards_gather(struct hot_memory *hot, uint32_t key, struct board_gathered *out);

void boards_stats(struct hot_memory *hot, struct hot_stats *out);

#endif

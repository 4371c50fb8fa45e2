/*
 * One shard of items: from an item to the one compact row that holds all its counters. Values take
 * 4 bytes each while all of the row's fit, 8 from then on; a row that outgrows its cell moves to a
 * larger one. An item with four counters of 4 bytes is a row of 40, with up to three it is half a
 * cache line.
 *
 * Used under the shard's lock.
 */
#ifndef LAUD_HOT_MEMORY_ITEMS_H
#define LAUD_HOT_MEMORY_ITEMS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"
#include "base/status.h"
#include "base/table.h"
#include "hot/hot.h"
#include "hot/memory/board.h"
#include "hot/memory/tokens.h"
#include "store/store.h"

enum {
    ITEM_WIDE = 1,       /* the id has 16 bytes */
    ITEM_LONG = 2,       /* values of 8 bytes */
    ITEM_AGE = 0x0c,     /* how many rounds of the keeper ago it was last used */
    ITEM_AGE_ONE = 0x04, /* one of them */
    ITEM_STEP = 0x70,    /* capacity: 0: 3, 1: 4, and from there on doubled */
    ITEM_PARTIAL = 0x80, /* what the store had at start is still to be added to its values */
};

#define ITEM_ROW_SHORT 32 /* bytes of a row with up to three short counters: half a cache line */
#define ITEM_ROW_USUAL 40 /* with four */

struct item_row {
    uint64_t id_lo;
    uint32_t stamp; /* of its last change, see clean.h */
    uint16_t type;
    uint8_t flags;
    uint8_t count;   /* counters */
    uint64_t rest[]; /* the id's upper half if wide, the values, then the names */
};

struct item_shard {
    _Alignas(64) pthread_mutex_t lock;
    struct table table;
    struct tokens tokens;
    uint64_t denied; /* questions that a filter answered with no */
    struct slab slab;
    struct board_shard boards; /* item_shard_init leaves it all zero: none are kept */
};

bool item_shard_init(struct item_shard *shard, struct slab_pool *pool);
void item_shard_destroy(struct item_shard *shard);

/* The cell of an item's row, 0 if there is none. */
uint32_t item_cell(const struct item_shard *shard, uint64_t hash, struct item item);

/* The row itself; NULL for cell 0. */
static inline struct item_row *item_at(const struct item_shard *shard, uint32_t cell)
{
    return cell == 0 ? NULL : slab_at(&shard->slab, cell);
}

static inline struct item_row *item_find(const struct item_shard *shard, uint64_t hash,
                                         struct item item)
{
    return item_at(shard, item_cell(shard, hash, item));
}

/* Value of a counter; 0 if there is none, also for row NULL. */
int64_t item_value(const struct item_row *row, uint8_t name);

/*
 * Makes room for adding delta to a counter, so that item_add cannot fail; nothing that can be read
 * changes. *cell is the row's, which may move; 0: it is made, with `flags` (0 or ITEM_PARTIAL). OK,
 * COUNTER_OVERFLOW or NO_MEMORY.
 */
enum status item_reserve(struct item_shard *shard, uint64_t hash, struct item item, uint8_t name,
                         int64_t delta, uint8_t flags, uint32_t *cell);
/* After that; returns the new value. The board of the counter is told, but not of a partial row. */
int64_t item_add(struct item_shard *shard, struct item_row *row, uint8_t name, int64_t delta,
                 uint32_t stamp);

/*
 * Adds what the store has to a partial row, or makes a row of it if there is none; a row that is
 * there and not partial stays as it is. The boards are told of one that was partial and is complete
 * now. False: no memory.
 */
bool item_fill(struct item_shard *shard, uint64_t hash, struct item item,
               const struct store_value *values, uint32_t count);

/* Copies the counters that are not 0 out, by name; at most row->count; returns how many. */
uint32_t item_read(const struct item_row *row, struct hot_counter *out);

static inline void item_touch(struct item_row *row)
{
    if (row->flags & ITEM_AGE)
        row->flags &= (uint8_t)~ITEM_AGE;
}

/* The row at a cell, of which nothing else may hold the address, goes or moves. */
void item_evict(struct item_shard *shard, uint64_t hash, uint32_t cell);
bool item_relocate(struct item_shard *shard, uint64_t hash, uint32_t cell); /* false: no memory */

struct item item_of(const struct item_row *row);

#endif

/*
 * One shard of items: a table from an item to the one compact row that has all its counters. Each value
 * takes 4 bytes, until one of the row's values needs 8; then all of them take 8. A row that becomes too
 * large for its cell is copied to a larger one. A row with four counters of 4 bytes has 40 bytes, and one
 * with up to three has 32 bytes, half a cache line.
 *
 * All functions are called under the shard's lock. The rows belong to the shard's slab.
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
#include "hot/memory/comment_shard.h"
#include "hot/memory/tokens.h"
#include "store/store.h"

enum {
    ITEM_WIDE = 1,       /* the id has 16 bytes */
    ITEM_LONG = 2,       /* values of 8 bytes */
    ITEM_AGE = 0x0c,     /* the number of keeper rounds since the row was last used */
    ITEM_AGE_ONE = 0x04, /* one round */
    ITEM_STEP = 0x70,    /* capacity: 0: 3 counters, 1: 4, and each further step doubles it */
    ITEM_PARTIAL = 0x80, /* the values that the store had at the start must still be added */
};

#define ITEM_ROW_SHORT 32 /* bytes of a row with up to three short counters: half a cache line */
#define ITEM_ROW_USUAL 40 /* bytes of a row with four short counters */

struct item_row {
    uint64_t id_lo;
    uint32_t stamp; /* of its last change, see clean.h */
    uint16_t type;
    uint8_t flags;
    uint8_t count;   /* of counters */
    uint64_t rest[]; /* the id's upper half if wide, the values, then the names */
};

struct item_shard {
    _Alignas(64) pthread_mutex_t lock;
    struct table table;
    struct tokens tokens;
    uint64_t denied; /* lookups that a filter answered with no */
    struct slab slab;
    struct board_shard boards; /* all zero after item_shard_init: no boards are kept */
    struct comment_shard comments;
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

/* The value of a counter; 0 if there is no such counter or the row is NULL. */
int64_t item_value(const struct item_row *row, uint8_t name);

/*
 * Makes room for adding delta to a counter, so that item_add cannot fail. No value changes. *cell is the
 * cell of the row and changes if the row is copied to another cell. If *cell is 0, a row is made with
 * `flags` (0 or ITEM_PARTIAL). Returns OK, COUNTER_OVERFLOW or NO_MEMORY.
 */
enum status item_reserve(struct item_shard *shard, uint64_t hash, struct item item, uint8_t name,
                         int64_t delta, uint8_t flags, uint32_t *cell);
/* Called after item_reserve; returns the new value. Updates the board, unless the row is partial. */
int64_t item_add(struct item_shard *shard, struct item_row *row, uint8_t name, int64_t delta,
                 uint32_t stamp);

/*
 * Adds the store's values to a partial row, or makes a row with these values if there is none. A row that
 * is not partial does not change. If a partial row becomes complete, its boards are updated. False: no
 * memory.
 */
bool item_fill(struct item_shard *shard, uint64_t hash, struct item item,
               const struct store_value *values, uint32_t count);

/* Copies the counters that are not 0 to `out`, ordered by name. Returns how many: at most row->count. */
uint32_t item_read(const struct item_row *row, struct hot_counter *out);

static inline void item_touch(struct item_row *row)
{
    if (row->flags & ITEM_AGE)
        row->flags &= (uint8_t)~ITEM_AGE;
}

/* Evicts the row in a cell, or copies it to another cell. No pointer to the row may be used after. */
void item_evict(struct item_shard *shard, uint64_t hash, uint32_t cell);
bool item_relocate(struct item_shard *shard, uint64_t hash, uint32_t cell); /* false: no memory */

struct item item_of(const struct item_row *row);

#endif

/*
 * One shard of items: from an item to the one compact row that holds all its counters. Values take
 * 4 bytes each while all of the row's fit, 8 from then on; a row that outgrows its cell moves to a
 * larger one. An item with four counters of 4 bytes is a row of 40.
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
#include "hot/memory/tokens.h"

enum {
    ITEM_WIDE = 1, /* the id has 16 bytes */
    ITEM_LONG = 2, /* values of 8 bytes */
};

#define ITEM_ROW_USUAL 40 /* bytes of a row with up to four short counters */

struct item_row {
    uint64_t id_lo;
    uint32_t time_s; /* last access */
    uint16_t type;
    uint8_t flags;   /* and, from bit 4, how often its capacity of 4 was doubled */
    uint8_t count;   /* counters */
    uint64_t rest[]; /* the id's upper half if wide, the values, then the names */
};

struct item_shard {
    _Alignas(64) pthread_mutex_t lock;
    struct table table;
    struct tokens tokens;
    struct slab slab;
};

/* A counter that is about to change, with room for what it will become. */
struct item_slot {
    struct item_row *row;
    uint32_t cell;
    uint32_t index; /* equal to the row's count: a new counter */
    bool fresh_row;
};

bool item_shard_init(struct item_shard *shard, struct slab_pool *pool);
void item_shard_destroy(struct item_shard *shard);

struct item_row *item_find(const struct item_shard *shard, uint64_t hash, struct item item);

/* Value of a counter; 0 if there is none, also for row NULL. */
int64_t item_value(const struct item_row *row, uint8_t name);

/*
 * Makes room for adding delta to a counter, so that item_add cannot fail; nothing that can be read
 * changes. OK, COUNTER_OVERFLOW or NO_MEMORY.
 */
enum status item_reserve(struct item_shard *shard, uint64_t hash, struct item item, uint8_t name,
                         int64_t delta, struct item_slot *slot);
/* Gives up the slot: a row made for it goes again. */
void item_release(struct item_shard *shard, uint64_t hash, struct item_slot *slot);
/* Uses it; returns the new value. */
int64_t item_add(struct item_slot *slot, uint8_t name, int64_t delta, uint32_t time_s);

/* One less of a counter that is at least 1. */
void item_take(struct item_row *row, uint8_t name);

/* Copies the counters out; there is room for row->count of them. */
void item_read(const struct item_row *row, struct hot_counter *out);

/* Without the lock: brings the row of the hash closer, reads nothing of it. */
static inline void item_prefetch(const struct item_shard *shard, const struct table_bucket *bucket,
                                 uint64_t hash)
{
    uint32_t cell = table_peek(bucket, hash);
    if (cell == 0)
        return;
    const char *row = slab_at(&shard->slab, cell);
    __builtin_prefetch(row, 1);
    __builtin_prefetch(row + ITEM_ROW_USUAL - 1, 1);
}

struct item item_of(const struct item_row *row);

#endif

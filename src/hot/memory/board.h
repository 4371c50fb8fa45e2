/*
 * What one item shard holds of the boards. A board is a (type, counter): its items by value. Of each
 * board a shard has a part: the best of the shard's own items, unsorted, and a floor. The part holds
 * every item of the shard that is better than its floor, with its value, and nothing else; without a
 * floor, every one whose counter is not 0. So most changes of a counter, far below the floor, are
 * over after two comparisons, and the rest look through 64 ids at most.
 *
 * While a part is being filled again (boards_fill.h) it has no floor, but does not know all its items
 * either: of it only what is better than `known` counts.
 *
 * Used under the lock of the item shard, which every change of a counter holds anyway.
 */
#ifndef LAUD_HOT_MEMORY_BOARD_H
#define LAUD_HOT_MEMORY_BOARD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"
#include "base/ranked.h"

#define BOARD_ENTRIES 64 /* of one part at most */

struct board;
struct boards;

struct board_part {
    uint32_t key; /* 0: no part */
    uint16_t count;
    uint16_t capacity;
    bool floored;
    bool limited; /* `known` counts */
    bool filling;
    struct ranked floor;
    struct ranked known;
    uint64_t *entries; /* the lower halves of the ids, the upper halves, the values */
    struct board *board;
};

struct board_shard {
    struct board_part *parts; /* an open hash table; NULL: none yet */
    uint32_t mask;
    uint32_t used;
    uint64_t entries;      /* of all parts */
    struct boards *boards; /* NULL: none are kept */
    bool counting;         /* boards without a part here may have items all the same */
    bool spare;            /* not what is served: not held to the share of all boards */
};

/* Nothing is better. */
static inline struct ranked board_best(void)
{
    return (struct ranked){.value = INT64_MAX};
}

static inline uint32_t board_key(uint16_t type, uint8_t name)
{
    return 1U << 31 | (uint32_t)type << 8 | name;
}

static inline uint32_t board_key_hash(uint32_t key)
{
    return key * 0x9e3779b1U >> 12;
}

static inline struct board_part *board_find(const struct board_shard *shard, uint32_t key)
{
    if (shard->parts == NULL)
        return NULL;
    for (uint32_t i = board_key_hash(key);; i++) {
        struct board_part *part = &shard->parts[i & shard->mask];
        if (part->key == key)
            return part;
        if (part->key == 0)
            return NULL;
    }
}

void board_shard_init(struct board_shard *shard, struct boards *boards, bool counting, bool spare);
void board_shard_destroy(struct board_shard *shard);

/* The part that holds a board, made if there is none; NULL: that board is not kept, or not now. */
struct board_part *board_make(struct board_shard *shard, uint32_t key);

/* An item's counter is now `value`, whatever it was. */
void board_put(struct board_shard *shard, uint32_t key, struct id id, int64_t value);

/* The rest of board_note. */
void board_move(struct board_shard *shard, uint32_t key, struct id id, int64_t old, int64_t value);

/* An item's counter went from `old` to `value`. */
static inline void board_note(struct board_shard *shard, uint32_t key, struct id id, int64_t old,
                              int64_t value)
{
    const struct board_part *part = board_find(shard, key);
    if (part != NULL && part->floored && old < part->floor.value && value < part->floor.value)
        return;
    board_move(shard, key, id, old, value);
}

/* Nothing but what is better than this is kept from here on. */
void board_raise(struct board_shard *shard, struct board_part *part, struct ranked floor);

static inline struct ranked board_entry(const struct board_part *part, uint32_t index)
{
    const uint64_t *at = part->entries + index;
    return (struct ranked){.id = {.hi = at[part->capacity], .lo = at[0]},
                           .value = (int64_t)at[2 * (uint32_t)part->capacity]};
}

#endif

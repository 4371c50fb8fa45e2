/*
 * The entries of the boards that one item shard holds. A board belongs to a type and a counter, and has
 * the items of that type with the highest values. Each shard has a *section* of each board: the best of
 * the shard's own items, in no order, and a floor. The section has every item of the shard that is better
 * than its floor, with its value, and no other item. A section without a floor has every item of the
 * shard whose counter is not 0. So most changes of a counter, which are far below the floor, need only
 * two comparisons, and the others search at most 64 ids (2048 on a board of comments).
 *
 * While a section is being filled again (boards_fill.h) it has no floor, but it does not have all its
 * items yet. Then only its entries that are better than `trusted` are used.
 *
 * All functions are called under the lock of the item shard, which every change of a counter holds
 * anyway. A section's memory belongs to its shard.
 */
#ifndef LAUD_HOT_MEMORY_BOARD_H
#define LAUD_HOT_MEMORY_BOARD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"
#include "base/limits.h"
#include "base/ranked.h"

#define BOARD_ENTRIES 64 /* of one section at most, unless its board is wide */

/*
 * Boards of comments are *wide*. All comments of a subject are in one shard, so the best of them may be in one
 * section, which then needs room for all of TOP. Sections of such a board may be this many times larger, as
 * long as the entries of all its sections beyond BOARD_ENTRIES are at most BOARD_EXTRA.
 */
#define BOARD_WIDER    32
#define BOARD_EXTRA    (LIMIT_SHARDS * BOARD_ENTRIES)
#define BOARD_GATHERED (LIMIT_SHARDS * BOARD_ENTRIES + BOARD_EXTRA) /* entries of a board */

struct board;
struct boards;

struct board_section {
    uint32_t key; /* 0: this slot of the hash table is free */
    uint16_t count;
    uint16_t capacity;
    bool floored;
    bool limited; /* only entries better than `trusted` are used */
    bool filling; /* it is being filled */
    struct ranked floor;
    struct ranked trusted;
    uint64_t *entries; /* three arrays: the lower halves of the ids, the upper halves, the values */
    struct board *board;
};

struct board_shard {
    struct board_section
        *sections; /* a hash table with open addressing; NULL: there is no section yet */
    uint32_t mask;
    uint32_t used;
    uint64_t entries;      /* of all sections */
    struct boards *boards; /* NULL: no boards are kept */
    bool counting;         /* a board without a section here may still have items in this shard */
    bool spare;            /* a temporary shard of candidates: not charged to the share of boards */
};

/* The highest possible entry: no entry is better. */
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

static inline struct board_section *board_find(const struct board_shard *shard, uint32_t key)
{
    if (shard->sections == NULL)
        return NULL;
    for (uint32_t i = board_key_hash(key);; i++) {
        struct board_section *section = &shard->sections[i & shard->mask];
        if (section->key == key)
            return section;
        if (section->key == 0)
            return NULL;
    }
}

void board_shard_init(struct board_shard *shard, struct boards *boards, bool counting, bool spare);
void board_shard_destroy(struct board_shard *shard);

/* The section of a board, which is made if there is none; NULL: the board is not kept, or not now. */
struct board_section *board_make(struct board_shard *shard, uint32_t key);

/* Notes that an item's counter has this value now; the old value may be any. */
void board_put(struct board_shard *shard, uint32_t key, struct id id, int64_t value);

/* The slow path of board_note. */
void board_update(struct board_shard *shard, uint32_t key, struct id id, int64_t old,
                  int64_t value);

/* Notes that an item's counter changed from `old` to `value`. */
static inline void board_note(struct board_shard *shard, uint32_t key, struct id id, int64_t old,
                              int64_t value)
{
    const struct board_section *section = board_find(shard, key);
    if (section != NULL && section->floored && old < section->floor.value &&
        value < section->floor.value)
        return;
    board_update(shard, key, id, old, value);
}

/* Raises the floor: from now on only entries better than `floor` are kept. */
void board_raise(struct board_shard *shard, struct board_section *section, struct ranked floor);

static inline struct ranked board_entry(const struct board_section *section, uint32_t index)
{
    const uint64_t *at = section->entries + index;
    return (struct ranked){.id = {.hi = at[section->capacity], .lo = at[0]},
                           .value = (int64_t)at[2 * (uint32_t)section->capacity]};
}

#endif

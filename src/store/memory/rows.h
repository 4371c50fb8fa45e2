/*
 * A table of rows of any sort: reactions, counters, names, tokens, what was cleared. No lock of its own; the
 * caller charges memory_row_bytes for each row.
 */
#ifndef LAUD_STORE_MEMORY_ROWS_H
#define LAUD_STORE_MEMORY_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

enum memory_sort { SORT_REACTION = 1, SORT_COUNT, SORT_NAME, SORT_TOKEN, SORT_CLEARED };

/* What a sort does not need is 0. */
struct memory_key {
    struct id user; /* or the token */
    struct id item;
    uint32_t sort;
    uint16_t type;   /* or the index of a name */
    uint16_t name;   /* kind, counter or role */
    uint32_t time_s; /* when it was cleared */
};

struct memory_row {
    struct memory_row *next;
    uint64_t hash;
    struct memory_key key;
    int64_t value; /* time_s (of what was cleared too), or the counter's */
    uint8_t length;
    char text[LIMIT_NAME_LENGTH];
};

struct memory_rows {
    struct memory_row **heads;
    size_t head_count; /* 0, or a power of two */
    size_t count;
};

enum { MEMORY_ROW_BYTES = sizeof(struct memory_row) + 4 * sizeof(void *) };

void memory_rows_destroy(struct memory_rows *rows);
struct memory_row *memory_rows_find(const struct memory_rows *rows, const struct memory_key *key);
/* Finds or makes, with value 0. NULL: no memory. */
struct memory_row *memory_rows_make(struct memory_rows *rows, const struct memory_key *key);
/* All counters of an item: rows by their names, NULL where there is none. */
void memory_rows_counters(const struct memory_rows *rows, struct item item,
                          const struct memory_row *by_name[LIMIT_NAMES]);
void memory_rows_remove(struct memory_rows *rows, struct memory_row *row);
bool memory_rows_copy(struct memory_rows *to, const struct memory_rows *from);

static inline struct memory_key memory_key_item(enum memory_sort sort, struct item item,
                                                uint8_t name)
{
    return (struct memory_key){.item = item.id, .sort = sort, .type = item.type, .name = name};
}

static inline struct memory_key memory_key_reaction(const struct store_reaction *reaction)
{
    struct memory_key key = memory_key_item(SORT_REACTION, reaction->item, reaction->kind);
    key.user = reaction->user;
    return key;
}

static inline struct memory_key memory_key_cleared(const struct store_reaction *reaction)
{
    struct memory_key key = memory_key_reaction(reaction);
    key.sort = SORT_CLEARED;
    key.time_s = reaction->cleared_s;
    return key;
}

#endif

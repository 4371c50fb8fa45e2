/*
 * A hash table of rows of all types: reactions, counters, names, tokens, and reactions that were cleared.
 * It has no lock. The caller charges MEMORY_ROW_BYTES to its budget for each row.
 */
#ifndef LAUD_STORE_MEMORY_ROWS_H
#define LAUD_STORE_MEMORY_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "store/store.h"

enum memory_row_type {
    ROW_REACTION = 1, /* kept with its user */
    ROW_BY_ITEM,      /* the same reaction, kept with its item */
    ROW_COUNT,
    ROW_NAME,
    ROW_TOKEN,
    ROW_CLEARED
};

/* Members that a type of row does not need are 0. */
struct memory_key {
    struct id user; /* or a token */
    struct id item;
    uint32_t row_type; /* enum memory_row_type */
    uint16_t type;     /* or the index of a name */
    uint16_t name;     /* kind, counter or role */
    uint32_t time_s;   /* when the reaction was cleared */
};

struct memory_row {
    struct memory_row *next;
    struct list aging; /* tokens and what was cleared grow too old; other rows are in no list */
    uint64_t hash;
    struct memory_key key;
    int64_t value;       /* the value of a counter; for other rows a time in seconds */
    uint64_t stands_for; /* the value of a token */
    uint8_t length;
    char text[LIMIT_NAME_LENGTH];
};

struct memory_rows {
    struct memory_row **heads;
    size_t head_count; /* 0, or a power of two */
    size_t count;
    struct list aging; /* the rows that grow too old, in any order; all zero before the first */
};

enum { MEMORY_ROW_BYTES = sizeof(struct memory_row) + 4 * sizeof(void *) };

void memory_rows_destroy(struct memory_rows *rows);
struct memory_row *memory_rows_find(const struct memory_rows *rows, const struct memory_key *key);
/* Finds the row, or makes it with the value 0. NULL: there is no memory. */
struct memory_row *memory_rows_make(struct memory_rows *rows, const struct memory_key *key);
/* Finds all counters of an item. An entry is NULL if the item has no counter of that name. */
void memory_rows_counters(const struct memory_rows *rows, struct item item,
                          const struct memory_row *by_name[LIMIT_NAMES]);
void memory_rows_remove(struct memory_rows *rows, struct memory_row *row);
/* False: there is no memory, and nothing was copied. */
bool memory_rows_copy(struct memory_rows *to, const struct memory_rows *from);

static inline struct memory_key memory_key_item(enum memory_row_type row_type, struct item item,
                                                uint8_t name)
{
    return (struct memory_key){
        .item = item.id, .row_type = row_type, .type = item.type, .name = name};
}

static inline struct memory_key memory_key_reaction(const struct store_reaction *reaction)
{
    struct memory_key key = memory_key_item(ROW_REACTION, reaction->item, reaction->kind);
    key.user = reaction->user;
    return key;
}

static inline struct memory_key memory_key_by_item(const struct store_reaction *reaction)
{
    struct memory_key key = memory_key_reaction(reaction);
    key.row_type = ROW_BY_ITEM;
    return key;
}

static inline struct memory_key memory_key_cleared(const struct store_reaction *reaction)
{
    struct memory_key key = memory_key_reaction(reaction);
    key.row_type = ROW_CLEARED;
    key.time_s = reaction->cleared_s;
    return key;
}

#endif

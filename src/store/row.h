/*
 * The rows of a store: reactions, counters, names and tokens, the entries of lists and their order, and
 * how rows are divided into partitions. These are plain values; nothing here owns memory except where a
 * comment says so.
 */
#ifndef LAUD_STORE_ROW_H
#define LAUD_STORE_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "base/limits.h"

/* The key of a reaction and when it was set. time_s is 0 if the reaction is not set. */
struct store_reaction {
    struct id user;
    struct item item;
    uint8_t kind;
    bool was_live; /* Only in a change: the store has this reaction, perhaps with another time. */
    uint32_t time_s;
    /*
     * Only in a change that clears the reaction: when it was cleared. 0: list_changes does not have to
     * report that it was cleared.
     */
    uint32_t cleared_s;
};

/* A counter of an item. In a change `value` is added to it; the sum never overflows. */
struct store_count {
    struct item item;
    uint8_t name;
    int64_t value;
};

struct store_value {
    int64_t value;
    uint8_t name;
};

/* The counters that read_items returns for all its items. The store grows the array (array_grow). */
#define STORE_VALUES_MIN 64 /* room for so many is made at once */
struct store_values {
    struct store_value *values; /* The caller frees it. */
    size_t used;
    size_t capacity;
};

/* An item whose counters are read. Its counters are values[first] to values[first + count - 1]. */
struct store_item {
    struct item item;
    uint32_t first; /* output */
    uint32_t count; /* output; counters of 0 are not included */
};

/* The name of a type, kind or counter. */
struct store_name {
    uint8_t role; /* enum name_role */
    uint8_t length;
    uint16_t index;
    char text[LIMIT_NAME_LENGTH];
};

/* The idempotency token of a write to `item` that was made at time_s. */
struct store_token {
    uint64_t token[2];
    uint32_t time_s;
    struct item item;
    uint64_t value; /* what a repeated write answers, such as the id of a comment; 0: nothing */
};

/*
 * An entry of a list. A list begins with its newest entry; store_listed_order defines its order.
 *
 * list_changes reads several lists one after the other. Only there do type, kind and cleared have a
 * meaning: they say on which list the entry is. Elsewhere they are 0.
 */
struct store_listed {
    uint32_t
        time_s; /* If the entry is the one to continue after, 0 means: start with the newest. */
    uint16_t type;
    uint8_t kind;
    bool cleared; /* True: the reaction was cleared at time_s. False: it was set at time_s. */
    struct id id;
};

/*
 * The order of the entries of one list: newer entries first. Entries of the same time are ordered by
 * id: numbers before UUIDs, and each of them ascending. Less than 0: a is before b.
 */
static inline int store_listed_order(struct store_listed a, struct store_listed b)
{
    if (a.time_s != b.time_s)
        return a.time_s > b.time_s ? -1 : 1;
    if (id_is_wide(a.id) != id_is_wide(b.id))
        return id_is_wide(b.id) ? -1 : 1;
    if (a.id.hi != b.id.hi)
        return a.id.hi < b.id.hi ? -1 : 1;
    return a.id.lo < b.id.lo ? -1 : a.id.lo > b.id.lo;
}

/* The order of all reactions of a user: by kind, then by type, then in the order of a list. */
static inline int store_user_order(const struct store_reaction *a, const struct store_reaction *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->item.type != b->item.type)
        return a->item.type < b->item.type ? -1 : 1;
    return store_listed_order((struct store_listed){.time_s = a->time_s, .id = a->item.id},
                              (struct store_listed){.time_s = b->time_s, .id = b->item.id});
}

/* The order of list_changes: all set reactions, then all cleared ones; each as store_user_order. */
static inline int store_changed_order(struct store_listed a, struct store_listed b)
{
    if (a.cleared != b.cleared)
        return a.cleared ? 1 : -1;
    if (a.kind != b.kind)
        return a.kind < b.kind ? -1 : 1;
    if (a.type != b.type)
        return a.type < b.type ? -1 : 1;
    return store_listed_order(a, b);
}

/*
 * Reactions are divided into partitions by their user, and counters by their item. All partitions have
 * about the same size, and a store can visit some of them without reading the others. Keys on disk
 * begin with the number of the partition, so this function must never change.
 */
#define STORE_PARTITIONS     65536
#define STORE_PARTITION_SEED 0x6c617564726f7773ULL

static inline uint32_t store_user_partition(struct id user)
{
    return (uint32_t)(hash_3(user.lo, user.hi, STORE_PARTITION_SEED) >> 48);
}

static inline uint32_t store_item_partition(struct item item)
{
    return (uint32_t)(hash_3(item.id.lo, item.id.hi, STORE_PARTITION_SEED + item.type) >> 48);
}

#endif

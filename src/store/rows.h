/*
 * Rows: keys and values of named tables, in which comments are kept. The store does not interpret them,
 * except that it keeps the rows of a group together: the first bytes of a key are its group, whose length
 * depends on the table (rows.def), and up to STORE_REST_MAX further bytes follow. Keys are compared byte
 * by byte, and a key that is the beginning of another one is before it.
 *
 * These are plain values. Bytes that a store returns are in an arena, which the caller owns.
 */
#ifndef LAUD_STORE_ROWS_H
#define LAUD_STORE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "store/arena.h"

enum store_table {
#define TABLE(name, number, group, what) STORE_##name = (number),
#include "store/rows.def"
#undef TABLE
    STORE_TABLES /* one more than the highest number */
};

enum {
    STORE_GROUP_MAX = 19,
    STORE_REST_MAX = 32, /* bytes of a key after its group */
    STORE_KEY_MAX = STORE_GROUP_MAX + STORE_REST_MAX,
    STORE_VALUE_MAX = 32 * 1024,
};

struct store_bytes {
    const uint8_t *data;
    uint32_t length;
};

struct store_row {
    uint8_t table;            /* enum store_table */
    bool removed;             /* Only in a change: there is no such row any more. */
    struct store_bytes key;   /* the group and what follows it */
    struct store_bytes value; /* may be empty; has no meaning if the row is removed */
};

/*
 * Which rows a scan returns: those of one group, after `from` and before `until` in the direction of
 * the scan. Both are bytes after the group, of a row that may or may not exist and is not returned.
 * Zero is the default of every member except table and group.
 */
struct store_scan {
    enum store_table table;
    struct store_bytes group; /* exactly as long as a group of the table */
    struct store_bytes from;  /* Empty: from the first row on, or from the last one if `reverse`. */
    struct store_bytes until; /* Empty: to the other end of the group. */
    bool reverse;             /* in descending order of keys */
    size_t limit_rows;        /* at most so many rows; `rows` has room for them */
    /* At most so many bytes of keys and values, but at least one row. 0: any number of bytes. */
    size_t limit_bytes;
};

/* The length of a group of the table, or 0 if there is no such table. */
static inline size_t store_group_length(unsigned table)
{
    switch (table) {
#define TABLE(name, number, group, what)                                                           \
    case number:                                                                                   \
        return (group);
#include "store/rows.def"
#undef TABLE
    default:
        return 0;
    }
}

/* Does the table exist, and does it have keys of this length? */
static inline bool store_key_fits(unsigned table, size_t length)
{
    size_t group = store_group_length(table);
    return group != 0 && length >= group && length - group <= STORE_REST_MAX;
}

/* The bit of a table in a mask of tables. */
static inline uint32_t store_table_bit(enum store_table table)
{
    return UINT32_C(1) << table;
}

/*
 * Groups are divided into partitions like users and items (row.h). Keys on disk have the number of the
 * partition, so this function must never change.
 */
#define STORE_GROUP_SEED 0x6c61756467726f75ULL

static inline uint32_t store_group_partition(const uint8_t *group, size_t length)
{
    uint64_t hash = STORE_GROUP_SEED;
    for (size_t at = 0; at < length;) {
        uint64_t word = 0;
        for (size_t end = at + 8 < length ? at + 8 : length; at < end; at++)
            word = word << 8 | group[at];
        hash = hash_mix(hash ^ length, word);
    }
    return (uint32_t)(hash >> 48);
}

#define TABLE(name, number, group, what)                                                           \
    _Static_assert((number) > 0 && (number) < 32 && (group) > 0 && (group) <= STORE_GROUP_MAX,     \
                   "table " #name);
#include "store/rows.def"
#undef TABLE

#endif

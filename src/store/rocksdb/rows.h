/*
 * Rows of one tag that are collected and put in order before they are written. Keys and values are
 * in one array of bytes, and each row has a small struct, so that only these structs change their
 * order. Memory is kept for the next batch. Only one thread uses it.
 */
#ifndef LAUD_STORE_ROCKSDB_ROWS_H
#define LAUD_STORE_ROCKSDB_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct row {
    uint64_t head;   /* the 8 bytes of the key after tag and hash, as a number */
    uint32_t offset; /* of the key in rows.bytes; the value follows it */
    uint16_t hash;   /* the hash in the key */
    uint8_t key_length;
    uint8_t value_length;
};

struct rows {
    uint8_t *bytes;
    size_t used;
    size_t bytes_capacity;
    struct row *row;
    struct row *other; /* a second array of the same size, for rows_sort */
    size_t count;
    size_t capacity;
    uint32_t *starts; /* counts of the counting pass of rows_sort */
};

/* The most bytes of a key with its value, and the memory of one row in total. */
enum { ROW_BYTES_MAX = 64, ROW_MEMORY = 96 };

void rows_destroy(struct rows *rows);

/* Removes all rows and reserves memory for `count` rows. False: there is no memory. */
bool rows_start(struct rows *rows, size_t count);

/* Where the caller writes key and value of the next row; then it calls rows_add. */
static inline uint8_t *rows_room(struct rows *rows)
{
    return rows->bytes + rows->used;
}
void rows_add(struct rows *rows, size_t key_length, size_t value_length);

/* Orders the rows by key, as memcmp does. */
void rows_sort(struct rows *rows);
/* Orders some rows that have the same hash. */
void rows_sort_some(struct rows *rows, struct row *first, size_t count);

static inline const uint8_t *row_key(const struct rows *rows, const struct row *row)
{
    return rows->bytes + row->offset;
}

/* After sorting, the bytes of adjacent rows are far apart: this loads those of a later row. */
enum { ROWS_AHEAD = 16 };
static inline void rows_prefetch(const struct rows *rows, size_t at)
{
    if (at + ROWS_AHEAD >= rows->count)
        return;
    const uint8_t *key = row_key(rows, &rows->row[at + ROWS_AHEAD]);
    __builtin_prefetch(key);
    __builtin_prefetch(key + ROW_BYTES_MAX - 1);
}

static inline const uint8_t *row_value(const struct rows *rows, const struct row *row)
{
    return rows->bytes + row->offset + row->key_length;
}

#endif

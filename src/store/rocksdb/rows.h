/*
 * A pile of rows to be written, all with the same tag: keys and values in one run of bytes, and
 * beside it one small struct a row that is what gets sorted. Used by one thread; memory is kept
 * from batch to batch.
 */
#ifndef LAUD_STORE_ROCKSDB_ROWS_H
#define LAUD_STORE_ROCKSDB_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct row {
    uint64_t head;   /* the key's 8 bytes after tag and hash, as a number */
    uint32_t offset; /* of the key in rows.bytes; the value follows it */
    uint16_t hash;   /* the key's own */
    uint8_t key_length;
    uint8_t value_length;
};

struct rows {
    uint8_t *bytes;
    size_t used;
    size_t bytes_capacity;
    struct row *row;
    struct row *other; /* as many, for sorting */
    size_t count;
    size_t capacity;
    uint32_t *starts; /* for sorting */
};

/* Bytes that a row takes at most, and memory for each row all in all. */
enum { ROW_BYTES_MAX = 64, ROW_MEMORY = 96 };

void rows_destroy(struct rows *rows);

/* Empties it and makes room for `count` rows. False: no memory. */
bool rows_start(struct rows *rows, size_t count);

/* Room for the next row's key and value, at most ROW_BYTES_MAX; rows_add takes it. */
static inline uint8_t *rows_room(struct rows *rows)
{
    return rows->bytes + rows->used;
}
void rows_add(struct rows *rows, size_t key_length, size_t value_length);

/* By key, as memcmp has it. */
void rows_sort(struct rows *rows);
/* Some rows with the same hash: by head, then by key. */
void rows_sort_some(struct rows *rows, struct row *first, size_t count);

static inline const uint8_t *row_key(const struct rows *rows, const struct row *row)
{
    return rows->bytes + row->offset;
}

/* Sorted rows are all over the run of bytes: brings those of a row that is written soon closer. */
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

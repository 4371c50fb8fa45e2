/*
 * Ordering the rows is half of the cost of a batch before RocksDB gets it, and the form of the keys
 * helps: two bytes of hash follow the tag, so a counting pass over these bytes makes groups of a
 * few rows. Within a group the next eight bytes nearly always decide, without reading the key
 * itself. A popular item makes one large group; qsort orders large groups.
 */
#include "store/rocksdb/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "store/rocksdb/keys.h"

enum { HASHES = 65536, FEW = 4096, PILE = 16, SKIPPED = 1 + KEY_HASH_BYTES, HEAD = 8 };

void rows_destroy(struct rows *rows)
{
    free(rows->bytes);
    free(rows->row);
    free(rows->other);
    free(rows->starts);
    *rows = (struct rows){0};
}

bool rows_start(struct rows *rows, size_t count)
{
    rows->used = rows->count = 0;
    if (count > UINT32_MAX / ROW_BYTES_MAX)
        return false;
    if (rows->starts == NULL)
        rows->starts = malloc((HASHES + 1) * sizeof(*rows->starts));
    if (rows->starts == NULL)
        return false;
    if (count <= rows->capacity && rows->bytes != NULL)
        return true;
    size_t capacity = count < FEW ? FEW : count;
    struct rows grown = {.bytes = malloc(capacity * ROW_BYTES_MAX),
                         .row = malloc(capacity * sizeof(struct row)),
                         .other = malloc(capacity * sizeof(struct row)),
                         .bytes_capacity = capacity * ROW_BYTES_MAX,
                         .capacity = capacity};
    if (grown.bytes == NULL || grown.row == NULL || grown.other == NULL) {
        rows_destroy(&grown);
        return false;
    }
    grown.starts = rows->starts;
    rows->starts = NULL;
    rows_destroy(rows);
    *rows = grown;
    ASSERT(rows->capacity >= count && rows->starts != NULL);
    return true;
}

void rows_add(struct rows *rows, size_t key_length, size_t value_length)
{
    ASSERT(rows->count < rows->capacity && key_length + value_length <= ROW_BYTES_MAX);
    ASSERT(rows->used + key_length + value_length <= rows->bytes_capacity);
    const uint8_t *key = rows_room(rows);
    uint8_t head[HEAD] = {0};
    if (key_length >= SKIPPED + HEAD)
        memcpy(head, key + SKIPPED, HEAD);
    else if (key_length > SKIPPED)
        memcpy(head, key + SKIPPED, key_length - SKIPPED);
    rows->row[rows->count++] = (struct row){.head = get_u64(head),
                                            .offset = (uint32_t)rows->used,
                                            .hash = key_length >= SKIPPED ? get_u16(key + 1) : 0,
                                            .key_length = (uint8_t)key_length,
                                            .value_length = (uint8_t)value_length};
    rows->used += key_length + value_length;
}

static inline int row_compare(const struct rows *rows, const struct row *a, const struct row *b)
{
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    if (a->head != b->head)
        return a->head < b->head ? -1 : 1;
    size_t length = a->key_length < b->key_length ? a->key_length : b->key_length;
    int order = memcmp(row_key(rows, a), row_key(rows, b), length);
    return order != 0 ? order : (int)a->key_length - (int)b->key_length;
}

static int row_compare_qsort(const void *a, const void *b, void *rows)
{
    return row_compare(rows, a, b);
}

void rows_sort_some(struct rows *rows, struct row *first, size_t count)
{
    if (count > PILE) {
        qsort_r(first, count, sizeof(*first), row_compare_qsort, rows);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        struct row moved = first[i];
        size_t at = i;
        for (; at > 0 && row_compare(rows, &first[at - 1], &moved) > 0; at--)
            first[at] = first[at - 1];
        first[at] = moved;
    }
}

static void sort_by_hash(struct rows *rows)
{
    ASSERT(rows->count <= rows->capacity);
    uint32_t *starts = rows->starts;
    memset(starts, 0, (HASHES + 1) * sizeof(*starts));
    for (size_t i = 0; i < rows->count; i++)
        starts[rows->row[i].hash + 1]++;
    for (size_t hash = 0; hash < HASHES; hash++)
        starts[hash + 1] += starts[hash];
    for (size_t i = 0; i < rows->count; i++)
        rows->other[starts[rows->row[i].hash]++] = rows->row[i];
    struct row *sorted = rows->other;
    rows->other = rows->row;
    rows->row = sorted;
}

void rows_sort(struct rows *rows)
{
    if (rows->count < FEW) {
        rows_sort_some(rows, rows->row, rows->count);
        return;
    }
    sort_by_hash(rows);
    for (size_t first = 0, next; first < rows->count; first = next) {
        next = first + 1;
        while (next < rows->count && rows->row[next].hash == rows->row[first].hash)
            next++;
        rows_sort_some(rows, rows->row + first, next - first);
    }
}

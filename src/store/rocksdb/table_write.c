/* Writes rows of tables in the order of their keys, as a table file needs it. */
#include <stdlib.h>

#include "store/rocksdb/private.h"
#include "store/rocksdb/sink.h"
#include "store/rocksdb/table_write.h"

struct ordered {
    uint32_t head; /* table and partition, with which the key begins */
    const struct store_row *row;
};

static int compare_ordered(const void *a, const void *b)
{
    const struct ordered *first = a, *second = b;
    if (first->head != second->head)
        return first->head < second->head ? -1 : 1;
    struct store_bytes left = first->row->key, right = second->row->key;
    uint32_t shorter = left.length < right.length ? left.length : right.length;
    int order = memcmp(left.data, right.data, shorter);
    return order != 0 ? order : (left.length > right.length) - (left.length < right.length);
}

static void write_one(struct sink *sink, const struct store_row *row)
{
    uint8_t key[TABLE_KEY_MAX];
    size_t length = table_write_key(key, row->table, row->key);
    ASSERT(row->removed || row->value.length <= STORE_VALUE_MAX);
    if (row->removed)
        sink_delete(sink, key, length);
    else
        sink_put(sink, key, length, row->value.data, row->value.length);
}

bool table_write_rows(struct sink *sink, const struct store_row *rows, size_t count)
{
    if (count == 0)
        return true;
    struct ordered *ordered = malloc(count * sizeof(*ordered));
    if (ordered == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        ASSERT(store_key_fits(rows[i].table, rows[i].key.length));
        uint32_t partition =
            store_group_partition(rows[i].key.data, store_group_length(rows[i].table));
        ordered[i] =
            (struct ordered){.head = (uint32_t)rows[i].table << 16 | partition, .row = &rows[i]};
    }
    qsort(ordered, count, sizeof(*ordered), compare_ordered);
    for (size_t i = 0; i < count; i++) {
        ASSERT(i == 0 || compare_ordered(&ordered[i - 1], &ordered[i]) < 0); /* each key once */
        write_one(sink, ordered[i].row);
    }
    free(ordered);
    return true;
}

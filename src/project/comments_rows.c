/* The rows that a window changes. The store takes each key once, and refuses to run on if one is there twice. */
#include <stdlib.h>
#include <string.h>

#include "project/comments_priv.h"

static enum status add_row(struct comments *comments, struct store_row row)
{
    struct comment_rows *rows = &comments->rows;
    if (!comments_grow(&rows->at, &rows->room, rows->count, sizeof *rows->at))
        return STATUS_NO_MEMORY;
    row.key.data = store_arena_copy(&comments->arena, row.key.data, row.key.length);
    row.value.data = store_arena_copy(&comments->arena, row.value.data, row.value.length);
    if (row.key.data == NULL || row.value.data == NULL)
        return STATUS_NO_MEMORY;
    rows->at[rows->count++] = row;
    return STATUS_OK;
}

enum status comment_rows_put(struct comments *comments, enum store_table table, const uint8_t *key,
                             size_t length, const uint8_t *value, size_t value_length)
{
    return add_row(comments, (struct store_row){.table = (uint8_t)table,
                                                .key = {key, (uint32_t)length},
                                                .value = {value, (uint32_t)value_length}});
}

enum status comment_rows_remove(struct comments *comments, enum store_table table,
                                const uint8_t *key, size_t length)
{
    return add_row(comments, (struct store_row){.table = (uint8_t)table,
                                                .removed = true,
                                                .key = {key, (uint32_t)length}});
}

static int compare_rows(const void *a, const void *b)
{
    const struct store_row *first = a, *second = b;
    if (first->table != second->table)
        return first->table < second->table ? -1 : 1;
    uint32_t shorter =
        first->key.length < second->key.length ? first->key.length : second->key.length;
    int order = memcmp(first->key.data, second->key.data, shorter);
    return order != 0 ? order
                      : (first->key.length > second->key.length) -
                            (first->key.length < second->key.length);
}

/* The comment that a row of FLOOR or ORDER belongs to, for a message. */
static uint64_t comment_of(const struct store_row *row)
{
    uint64_t id = COMMENT_NONE;
    if (row->removed || row_read_number(row->value, &id) != STATUS_OK)
        return COMMENT_NONE;
    return id;
}

enum status comment_rows_finish(struct comments *comments)
{
    struct comment_rows *rows = &comments->rows;
    if (rows->count > 0)
        qsort(rows->at, rows->count, sizeof *rows->at, compare_rows);
    for (size_t i = 1; i < rows->count; i++)
        if (compare_rows(&rows->at[i - 1], &rows->at[i]) == 0)
            return comments_contradict(comments, comment_of(&rows->at[i]),
                                       "has the same floor as another one");
    return STATUS_OK;
}

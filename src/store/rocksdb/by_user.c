/*
 * By-user rows are not collected separately, because the ordered relation rows have each user's
 * list together, and only the order within one list differs. A list has few rows in one batch,
 * mostly one.
 */
#include "store/rocksdb/by_user.h"

#include <string.h>

#include "base/assert.h"
#include "store/rocksdb/keys.h"

/* Orders relation rows newest first, then by key, which means by item. */
static inline struct row listed_row(const struct row *relation, uint32_t time_s)
{
    struct row row = *relation;
    row.head = (uint64_t)~time_s << 32;
    return row;
}

static void write_listed(struct sink *sink, const struct rows *relations, const struct row *row)
{
    uint8_t key[KEY_MAX];
    uint32_t time_s = ~(uint32_t)(row->head >> 32);
    size_t length = relation_write_by_user(key, row_key(relations, row), row->key_length, time_s);
    if (time_s == get_u32(row_value(relations, row)))
        sink_put(sink, key, length, (const uint8_t *)"", 0);
    else
        sink_delete(sink, key, length);
}

/* Rows with equal heads have ids of the same length, so both keys are long enough. */
static inline bool same_list(const struct rows *rows, const struct row *a, const struct row *b)
{
    return a->hash == b->hash && a->head == b->head &&
           memcmp(row_key(rows, a), row_key(rows, b), relation_head(row_key(rows, a))) == 0;
}

void by_user_write(struct sink *sink, struct rows *relations)
{
    struct row *listed = relations->other;
    const struct row *end = relations->row + relations->count;
    for (const struct row *row = relations->row; row != end;) {
        const struct row *first = row;
        size_t used = 0;
        do {
            rows_prefetch(relations, (size_t)(row - relations->row));
            uint32_t time_s = get_u32(row_value(relations, row));
            uint32_t old_s = get_u32(row_value(relations, row) + 4);
            ASSERT(used + (old_s != 0) + (time_s != 0) <= relations->capacity);
            if (old_s != 0 && old_s != time_s)
                listed[used++] = listed_row(row, old_s);
            if (time_s != 0 && old_s != time_s)
                listed[used++] = listed_row(row, time_s);
        } while (++row != end && same_list(relations, first, row));
        ASSERT(row > first); /* a list has at least one row */
        rows_sort_some(relations, listed, used);
        for (size_t i = 0; i < used; i++)
            write_listed(sink, relations, &listed[i]);
    }
}

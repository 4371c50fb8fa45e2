/*
 * Reads rows of tables: by their keys with multi-gets, or a range of a group with an iterator. Both
 * ends of the range are given to RocksDB as bounds, so a scan takes one seek and one step for each row.
 *
 * Rows that were removed are still in RocksDB, as deletions, until a compaction drops them, and an
 * iterator has to step over them. RocksDB counts these steps; if there were many, the scan reports its
 * range, and the next batch removes them (crowded.h).
 */
#include <stdlib.h>

#include "base/log.h"
#include "store/rocksdb/crowded.h"
#include "store/rocksdb/private.h"
#include "store/rocksdb/read.h"

static enum status bad_row(const uint8_t *key, size_t length, const char *why)
{
    log_error("store: a row of table %u with a key of %zu bytes cannot be decoded: %s",
              length > 1 ? (unsigned)key[1] : 0U, length, why);
    return STATUS_DAMAGED;
}

struct values_found {
    struct store_bytes *values;
    struct store_arena *arena;
};

static enum status found_value(void *context, size_t at, const uint8_t *value, size_t length)
{
    const struct values_found *found = context;
    struct store_bytes *out = &found->values[at];
    *out = (struct store_bytes){0};
    if (value == NULL)
        return STATUS_OK;
    if (length > STORE_VALUE_MAX) {
        log_error("store: a row of a table has a value of %zu bytes", length);
        return STATUS_DAMAGED;
    }
    out->data = store_arena_copy(found->arena, value, length);
    out->length = (uint32_t)length;
    return out->data == NULL ? STATUS_NO_MEMORY : STATUS_OK;
}

static enum status read_some(struct store_rocksdb *rocks, rocksdb_readoptions_t *read,
                             enum store_table table, const struct store_bytes *keys, size_t count,
                             struct values_found *found)
{
    struct lookup lookup;
    uint8_t bytes[LOOKUP_MAX][TABLE_KEY_MAX];
    for (size_t i = 0; i < count; i++) {
        lookup.keys[i] = bytes[i];
        lookup.lengths[i] = table_write_key(bytes[i], table, keys[i]);
    }
    return lookup_run(rocks, read, &lookup, count, false, found_value, found);
}

/* Several multi-gets also see one moment, because they use one snapshot. */
enum status rocksdb_read_rows(struct store_reader *reader, enum store_table table,
                              const struct store_bytes *keys, size_t count,
                              struct store_bytes *values, struct store_arena *arena)
{
    struct store_rocksdb *rocks = rocksdb_of(store_of_reader(reader));
    struct store_snapshot *moment = NULL;
    if (count > LOOKUP_MAX) {
        moment = rocksdb_take_snapshot(reader);
        if (moment == NULL)
            return STATUS_NO_MEMORY;
    }
    enum status status = STATUS_OK;
    for (size_t first = 0; status == STATUS_OK && first < count; first += LOOKUP_MAX) {
        struct values_found found = {.values = values + first, .arena = arena};
        size_t some = count - first < LOOKUP_MAX ? count - first : LOOKUP_MAX;
        status = read_some(rocks, moment != NULL ? moment->read : rocks->read, table, keys + first,
                           some, &found);
    }
    if (moment != NULL)
        rocksdb_drop_snapshot(reader, moment);
    return status;
}

/* The first key after this row. */
static void bound_after(struct table_bound *out, const struct store_scan *scan,
                        struct store_bytes rest)
{
    out->length = table_write_rest(out->bytes, scan->table, scan->group, rest);
    out->bytes[out->length++] = 0;
}

static void bound_at(struct table_bound *out, const struct store_scan *scan,
                     struct store_bytes rest)
{
    out->length = table_write_rest(out->bytes, scan->table, scan->group, rest);
}

static void range_of(const struct store_scan *scan, struct table_range *out)
{
    const struct store_bytes *low = scan->reverse ? &scan->until : &scan->from;
    const struct store_bytes *high = scan->reverse ? &scan->from : &scan->until;
    if (low->length > 0)
        bound_after(&out->from, scan, *low);
    else
        bound_at(&out->from, scan, *low);
    bound_at(&out->to, scan, *high);
    if (high->length > 0)
        return;
    struct table_bound head = out->to;
    out->to.length = table_write_end(out->to.bytes, head.bytes, head.length);
}

static bool is_empty(const struct table_range *range)
{
    size_t shorter = range->from.length < range->to.length ? range->from.length : range->to.length;
    int order = memcmp(range->from.bytes, range->to.bytes, shorter);
    return order > 0 || (order == 0 && range->from.length >= range->to.length);
}

enum status table_take_row(const rocksdb_iterator_t *iterator, struct store_row *row)
{
    size_t key_length, value_length;
    const uint8_t *key = (const uint8_t *)rocksdb_iter_key(iterator, &key_length);
    const uint8_t *value = (const uint8_t *)rocksdb_iter_value(iterator, &value_length);
    const char *wrong = table_read(key, key_length, value, value_length, row);
    return wrong == NULL ? STATUS_OK : bad_row(key, key_length, wrong);
}

enum status table_copy_row(struct store_row *row, struct store_arena *arena)
{
    row->key.data = store_arena_copy(arena, row->key.data, row->key.length);
    row->value.data = store_arena_copy(arena, row->value.data, row->value.length);
    return row->key.data == NULL || row->value.data == NULL ? STATUS_NO_MEMORY : STATUS_OK;
}

struct page {
    const struct store_scan *scan;
    struct store_row *rows;
    size_t count;
    size_t bytes;
    bool more;
    struct store_arena *arena;
    struct table_range walked; /* what the iterator has stepped over */
};

/* The scan ends before this row. */
static void page_full(struct page *page, const struct store_row *next)
{
    struct table_bound *bound = page->scan->reverse ? &page->walked.from : &page->walked.to;
    page->more = true;
    bound->length = table_write_key(bound->bytes, next->table, next->key);
    if (page->scan->reverse)
        bound->bytes[bound->length++] = 0;
}

static enum status page_fill(struct page *page, rocksdb_iterator_t *iterator)
{
    const struct store_scan *scan = page->scan;
    if (scan->reverse)
        rocksdb_iter_seek_to_last(iterator);
    else
        rocksdb_iter_seek_to_first(iterator);
    while (rocksdb_iter_valid(iterator)) {
        struct store_row row;
        enum status status = table_take_row(iterator, &row);
        if (status != STATUS_OK)
            return status;
        page->bytes += row.key.length + row.value.length;
        if (page->count == scan->limit_rows ||
            (page->count > 0 && scan->limit_bytes != 0 && page->bytes > scan->limit_bytes)) {
            page_full(page, &row);
            return STATUS_OK;
        }
        status = table_copy_row(&row, page->arena);
        if (status != STATUS_OK)
            return status;
        page->rows[page->count++] = row;
        if (scan->reverse)
            rocksdb_iter_prev(iterator);
        else
            rocksdb_iter_next(iterator);
    }
    char *problem = NULL;
    rocksdb_iter_get_error(iterator, &problem);
    return problem_status(problem, "reading");
}

rocksdb_iterator_t *table_iterate(struct store_rocksdb *rocks, const struct table_range *range,
                                  rocksdb_readoptions_t **read)
{
    *read = tune_read(NULL, 0);
    rocksdb_readoptions_set_iterate_lower_bound(*read, (const char *)range->from.bytes,
                                                range->from.length);
    rocksdb_readoptions_set_iterate_upper_bound(*read, (const char *)range->to.bytes,
                                                range->to.length);
    return rocksdb_create_iterator(rocks->database, *read);
}

enum status rocksdb_scan_rows(struct store_reader *reader, const struct store_scan *scan,
                              struct store_row *rows, size_t *count, bool *more,
                              struct store_arena *arena)
{
    struct store_rocksdb *rocks = rocksdb_of(store_of_reader(reader));
    struct page page = {.scan = scan, .rows = rows, .arena = arena};
    struct table_range range;
    *count = 0;
    *more = false;
    range_of(scan, &range);
    if (is_empty(&range))
        return STATUS_OK;
    page.walked = range;
    struct crowded_count steps;
    crowded_count_start(&steps);
    rocksdb_readoptions_t *read;
    rocksdb_iterator_t *iterator = table_iterate(rocks, &range, &read);
    enum status status = page_fill(&page, iterator);
    uint64_t skipped = crowded_count_end(&steps);
    rocksdb_iter_destroy(iterator);
    rocksdb_readoptions_destroy(read);
    if (status == STATUS_OK)
        crowded_report(&rocks->crowded, &page.walked, skipped);
    *count = page.count;
    *more = page.more;
    return status;
}

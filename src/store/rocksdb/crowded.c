/*
 * Deleting a range costs every later read a little until a compaction, so it is done only where a scan
 * has stepped over some thousand deletions, and never for more than one range in a batch. The rows of
 * the range are bounded too; if there are more, only its beginning is renewed.
 */
#include "store/rocksdb/crowded.h"

#include <stdlib.h>

#include "store/rocksdb/private.h"
#include "store/rocksdb/sink.h"

enum { SKIPPED_MIN = 4096, ROWS_MAX = 1024, BYTES_MAX = 1024 * 1024 };

void crowded_count_start(struct crowded_count *count)
{
    rocksdb_set_perf_level(rocksdb_enable_count);
    count->context = rocksdb_perfcontext_create();
    rocksdb_perfcontext_reset(count->context);
}

uint64_t crowded_count_end(struct crowded_count *count)
{
    uint64_t skipped =
        rocksdb_perfcontext_metric(count->context, rocksdb_internal_delete_skipped_count);
    rocksdb_perfcontext_destroy(count->context);
    rocksdb_set_perf_level(rocksdb_disable);
    return skipped;
}

void crowded_report(struct crowded *crowded, const struct table_range *range, uint64_t skipped)
{
    atomic_store_explicit(&crowded->last_skipped, skipped, memory_order_relaxed);
    if (skipped < SKIPPED_MIN)
        return;
    pthread_mutex_lock(&crowded->lock);
    if (skipped > crowded->skipped) {
        crowded->range = *range;
        crowded->skipped = skipped;
    }
    pthread_mutex_unlock(&crowded->lock);
}

static bool take(struct crowded *crowded, struct table_range *range)
{
    pthread_mutex_lock(&crowded->lock);
    bool waits = crowded->skipped > 0;
    *range = crowded->range;
    crowded->skipped = 0;
    pthread_mutex_unlock(&crowded->lock);
    return waits;
}

struct renewal {
    struct store_arena arena;
    struct store_row rows[ROWS_MAX];
    size_t count;
    size_t bytes;
};

/* If there are too many rows, the range ends before the first one that is not taken. */
static enum status collect(struct renewal *renewal, rocksdb_iterator_t *iterator,
                           struct table_bound *end)
{
    for (rocksdb_iter_seek_to_first(iterator); rocksdb_iter_valid(iterator);
         rocksdb_iter_next(iterator)) {
        struct store_row *row = &renewal->rows[renewal->count], next;
        enum status status = table_take_row(iterator, &next);
        if (status != STATUS_OK)
            return status;
        renewal->bytes += next.key.length + next.value.length;
        if (renewal->count == ROWS_MAX || renewal->bytes > BYTES_MAX) {
            end->length = table_write_key(end->bytes, next.table, next.key);
            return STATUS_OK;
        }
        status = table_copy_row(&next, &renewal->arena);
        if (status != STATUS_OK)
            return status;
        *row = next;
        renewal->count++;
    }
    char *problem = NULL;
    rocksdb_iter_get_error(iterator, &problem);
    return problem_status(problem, "reading");
}

static void write_renewal(const struct renewal *renewal, const struct table_range *range,
                          const struct table_bound *end, struct sink *sink)
{
    sink_delete_range(sink, range->from.bytes, range->from.length, end->bytes, end->length);
    for (size_t i = 0; i < renewal->count; i++) {
        const struct store_row *row = &renewal->rows[i];
        uint8_t key[TABLE_KEY_MAX];
        size_t length = table_write_key(key, row->table, row->key);
        sink_put(sink, key, length, row->value.data, row->value.length);
    }
}

enum status crowded_renew(struct store_rocksdb *rocks, struct sink *sink, bool *renewed)
{
    struct table_range range;
    *renewed = false;
    /* All rows of a file have the same age, so there the range would not be older than its rows. */
    if (sink->batch == NULL || !take(&rocks->crowded, &range))
        return STATUS_OK;
    struct renewal *renewal = calloc(1, sizeof(*renewal));
    if (renewal == NULL)
        return STATUS_NO_MEMORY;
    struct table_bound end = range.to;
    rocksdb_readoptions_t *read;
    rocksdb_iterator_t *iterator = table_iterate(rocks, &range, &read);
    enum status status = collect(renewal, iterator, &end);
    rocksdb_iter_destroy(iterator);
    rocksdb_readoptions_destroy(read);
    if (status == STATUS_OK)
        write_renewal(renewal, &range, &end, sink);
    *renewed = status == STATUS_OK;
    store_arena_destroy(&renewal->arena);
    free(renewal);
    return status;
}

void crowded_finish(struct store_rocksdb *rocks)
{
    rocksdb_flushoptions_t *options = rocksdb_flushoptions_create();
    rocksdb_flushoptions_set_wait(options, 0);
    char *problem = NULL;
    rocksdb_flush(rocks->database, options, &problem);
    rocksdb_flushoptions_destroy(options);
    atomic_fetch_add(&rocks->crowded.renewed, 1);
    (void)problem_status(problem, "flushing"); /* logs it; the next flush does the same work */
}

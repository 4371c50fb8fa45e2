/*
 * An iterator that ends because of an error looks like one that has reached its end, so scan_end
 * asks for the error.
 */
#include "store/rocksdb/scan.h"

#include "base/assert.h"

static void scan_look(struct scan *scan)
{
    scan->key = scan->value = NULL;
    if (!rocksdb_iter_valid(scan->iterator))
        return;
    scan->key = (const uint8_t *)rocksdb_iter_key(scan->iterator, &scan->key_length);
    scan->value = (const uint8_t *)rocksdb_iter_value(scan->iterator, &scan->value_length);
}

/*
 * A key before the first row of a partition, or, after the last partition, before the next tag. A table
 * is to its rows what a tag is to others.
 */
static void write_bound(uint8_t out[1 + KEY_HASH_BYTES], uint8_t tag, uint32_t part)
{
    ASSERT(part <= STORE_PARTITIONS);
    out[0] = (uint8_t)(tag + part / STORE_PARTITIONS);
    put_u16(out + 1, (uint16_t)part);
}

static void scan_between(struct scan *scan, struct store_rocksdb *rocks,
                         const rocksdb_snapshot_t *snapshot, size_t length, size_t ahead)
{
    scan->read = tune_read(snapshot, ahead);
    rocksdb_readoptions_set_fill_cache(scan->read, 0);
    rocksdb_readoptions_set_iterate_upper_bound(scan->read, (const char *)scan->to, length);
    scan->iterator = rocksdb_create_iterator(rocks->database, scan->read);
    rocksdb_iter_seek(scan->iterator, (const char *)scan->from, length);
    scan_look(scan);
}

void scan_start(struct scan *scan, struct store_rocksdb *rocks, const rocksdb_snapshot_t *snapshot,
                uint8_t tag)
{
    *scan = (struct scan){.from = {tag}, .to = {(uint8_t)(tag + 1)}};
    scan_between(scan, rocks, snapshot, 1, rocks->ahead);
}

/* There are few rows in each file; RocksDB's own automatic read-ahead is enough. */
void scan_start_partitions(struct scan *scan, struct store_rocksdb *rocks,
                           const rocksdb_snapshot_t *snapshot, uint8_t tag, uint32_t first,
                           uint32_t end)
{
    *scan = (struct scan){0};
    ASSERT(first < end);
    write_bound(scan->from, tag, first);
    write_bound(scan->to, tag, end);
    scan_between(scan, rocks, snapshot, 1 + KEY_HASH_BYTES, 0);
}

void scan_start_table(struct scan *scan, struct store_rocksdb *rocks,
                      const rocksdb_snapshot_t *snapshot, enum store_table table, uint32_t first,
                      uint32_t end)
{
    bool all = end == 0;
    *scan = (struct scan){.from = {TAG_ROW}, .to = {TAG_ROW}};
    ASSERT(all || first < end);
    write_bound(scan->from + 1, (uint8_t)table, all ? 0 : first);
    write_bound(scan->to + 1, (uint8_t)table, all ? STORE_PARTITIONS : end);
    scan_between(scan, rocks, snapshot, TABLE_HEAD_BYTES, all ? rocks->ahead : 0);
}

bool scan_is_done(const struct scan *scan)
{
    return scan->key == NULL;
}

void scan_next(struct scan *scan)
{
    ASSERT(!scan_is_done(scan));
    rocksdb_iter_next(scan->iterator);
    scan_look(scan);
}

enum status scan_end(struct scan *scan)
{
    ASSERT(scan->iterator != NULL && scan->read != NULL);
    char *problem = NULL;
    rocksdb_iter_get_error(scan->iterator, &problem);
    enum status status = problem_status(problem, "reading");
    rocksdb_iter_destroy(scan->iterator);
    rocksdb_readoptions_destroy(scan->read);
    return status;
}

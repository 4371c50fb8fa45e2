/*
 * Ranges of keys with many deletions. A comment that gets likes changes its rank in an order all the time: its
 * row is removed, and another one is written next to it. RocksDB keeps a deletion for each removed row
 * until a compaction of all files, and a scan steps over them one by one.
 *
 * So a scan reports a range in which it has stepped over many, and the thread that applies changes
 * deletes this range as a whole and writes its rows again, in the same step as its next batch. It is the
 * only writer, so it sees exactly the rows that the range has at that moment. RocksDB then skips the range
 * in older files with one seek, and a flush drops the deletions themselves.
 *
 * Any thread may report. Only the thread that applies changes calls the other functions.
 */
#ifndef LAUD_STORE_ROCKSDB_CROWDED_H
#define LAUD_STORE_ROCKSDB_CROWDED_H

#include <pthread.h>
#include <rocksdb/c.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "store/rocksdb/keys.h"

struct store_rocksdb;
struct sink;

struct table_bound {
    uint8_t bytes[TABLE_BOUND_MAX];
    size_t length;
};

/* The keys of a range of one group, from `from` to `to` (exclusive). */
struct table_range {
    struct table_bound from;
    struct table_bound to;
};

/* The range that waits. There is at most one: another scan reports the next one soon. */
struct crowded {
    pthread_mutex_t lock;
    struct table_range range;
    uint64_t skipped;              /* deletions in it; 0: none waits */
    _Atomic uint64_t last_skipped; /* by the last scan, for tests */
    _Atomic uint64_t renewed;      /* ranges that were renewed since the store was opened */
};

/* Counts the deletions that this thread's iterators step over. */
struct crowded_count {
    rocksdb_perfcontext_t *context;
};
void crowded_count_start(struct crowded_count *count);
uint64_t crowded_count_end(struct crowded_count *count);

void crowded_report(struct crowded *crowded, const struct table_range *range, uint64_t skipped);

/*
 * Renews the range that waits, if there is one: adds to the batch that the range is deleted and that its
 * rows are written. This must be the first that the batch does. *renewed: call crowded_finish after the
 * batch was written.
 */
enum status crowded_renew(struct store_rocksdb *rocks, struct sink *sink, bool *renewed);
/* Starts a flush, which drops the deletions that are still in memory. */
void crowded_finish(struct store_rocksdb *rocks);

/* table.c: an iterator over the range, which must outlive it. The caller destroys both. */
rocksdb_iterator_t *table_iterate(struct store_rocksdb *rocks, const struct table_range *range,
                                  rocksdb_readoptions_t **read);
/* The row at which the iterator is; it is valid until the iterator is advanced. */
enum status table_take_row(const rocksdb_iterator_t *iterator, struct store_row *row);
enum status table_copy_row(struct store_row *row, struct store_arena *arena);

#endif

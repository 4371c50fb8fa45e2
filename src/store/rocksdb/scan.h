/* Reads the rows of one tag in key order. It bypasses the block cache and verifies checksums. */
#ifndef LAUD_STORE_ROCKSDB_SCAN_H
#define LAUD_STORE_ROCKSDB_SCAN_H

#include "store/rocksdb/private.h"

#define SCAN_BOUND TABLE_HEAD_BYTES

struct scan {
    rocksdb_readoptions_t *read;
    rocksdb_iterator_t *iterator;
    uint8_t from[SCAN_BOUND];
    uint8_t to[SCAN_BOUND]; /* RocksDB keeps a pointer to this, so a scan must not be copied. */
    const uint8_t *key;
    const uint8_t *value;
    size_t key_length;
    size_t value_length;
};

/* Starts at the first row, if there is one. scan_end must follow. */
void scan_start(struct scan *scan, struct store_rocksdb *rocks, const rocksdb_snapshot_t *snapshot,
                uint8_t tag);
/* Only rows of the partitions from `first` to `end` (exclusive); keys of this tag have a hash. */
void scan_start_partitions(struct scan *scan, struct store_rocksdb *rocks,
                           const rocksdb_snapshot_t *snapshot, uint8_t tag, uint32_t first,
                           uint32_t end);
/* Only rows of this table, and of these partitions; an end of 0 means all. */
void scan_start_table(struct scan *scan, struct store_rocksdb *rocks,
                      const rocksdb_snapshot_t *snapshot, enum store_table table, uint32_t first,
                      uint32_t end);
bool scan_is_done(const struct scan *scan);
void scan_next(struct scan *scan);
/* Frees the scan. OK: no error ended it. */
enum status scan_end(struct scan *scan);

#endif

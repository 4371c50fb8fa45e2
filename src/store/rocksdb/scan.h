/* A walk over all rows of one tag, in key order, past the block cache and with checksums. */
#ifndef LAUD_STORE_ROCKSDB_SCAN_H
#define LAUD_STORE_ROCKSDB_SCAN_H

#include "store/rocksdb/private.h"

struct scan {
    rocksdb_readoptions_t *read;
    rocksdb_iterator_t *iterator;
    char from;
    char to; /* RocksDB keeps a pointer to it: a scan must not be moved */
    const uint8_t *key;
    const uint8_t *value;
    size_t key_length;
    size_t value_length;
};

/* Stands on the first row, if there is one. */
void scan_start(struct scan *scan, struct store_rocksdb *rocks, const rocksdb_snapshot_t *snapshot,
                uint8_t tag);
bool scan_is_done(const struct scan *scan);
void scan_next(struct scan *scan);
/* OK if it went to the end or was not stopped by a problem. */
enum status scan_end(struct scan *scan);

#endif

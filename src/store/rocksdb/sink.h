/*
 * Where the rows of a batch go: one RocksDB write, or one or two table files of their own that
 * RocksDB takes over; either way all of them or none. Of the thread that applies, and the second
 * file of the one that it has write there.
 */
#ifndef LAUD_STORE_ROCKSDB_SINK_H
#define LAUD_STORE_ROCKSDB_SINK_H

#include <rocksdb/c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct store_rocksdb;

struct sink {
    rocksdb_writebatch_t *batch;   /* or */
    rocksdb_sstfilewriter_t *file; /* its rows must come in key order, each key once */
    char *problem;                 /* RocksDB's, from the first row it did not take */
    bool second;                   /* it is the second file of a batch */
};

/* `rows`: about how many there will be. After any status but OK there is nothing to finish. */
enum status sink_start(struct sink *sink, struct store_rocksdb *rocks, size_t rows);
void sink_put(struct sink *sink, const uint8_t *key, size_t key_length, const uint8_t *value,
              size_t length);
void sink_merge(struct sink *sink, const uint8_t *key, size_t key_length, const uint8_t *value,
                size_t length);
void sink_delete(struct sink *sink, const uint8_t *key, size_t key_length);
/* May come at any point: no row of the same batch lies in the range. */
void sink_delete_range(struct sink *sink, const uint8_t *from, size_t from_length,
                       const uint8_t *to, size_t to_length);
/* A second file, for rows that all come after those of the first; that one must be a file too. */
void sink_start_second(struct sink *second, struct store_rocksdb *rocks);
/*
 * Ends it, and the second (NULL: there is none) with it; with `wanted` OK their rows are written,
 * else they are dropped and that is returned.
 */
enum status sink_finish(struct sink *sink, struct sink *second, struct store_rocksdb *rocks,
                        enum status wanted);

/* Files that a crash left behind half-written. */
int sink_clean(const char *directory);

#endif

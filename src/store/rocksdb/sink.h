/*
 * Writes the rows of a batch to RocksDB: with one write, or as one or two table files that RocksDB
 * ingests. In each case either all rows are written or none. Only the thread that applies changes uses
 * it; a second file may be filled by another thread.
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
    rocksdb_writebatch_t *batch;   /* NULL if there is a file */
    rocksdb_sstfilewriter_t *file; /* Rows must be added in key order, each key once. */
    char *problem;                 /* RocksDB's message for the first row that failed */
    bool second;                   /* it is the second file of a batch */
};

/* `rows` is an estimate of their number. sink_finish must follow if the status is OK. */
enum status sink_start(struct sink *sink, struct store_rocksdb *rocks, size_t rows);
void sink_put(struct sink *sink, const uint8_t *key, size_t key_length, const uint8_t *value,
              size_t length);
void sink_merge(struct sink *sink, const uint8_t *key, size_t key_length, const uint8_t *value,
                size_t length);
void sink_delete(struct sink *sink, const uint8_t *key, size_t key_length);
/* May be called at any point. The range must not contain a row of the same batch. */
void sink_delete_range(struct sink *sink, const uint8_t *from, size_t from_length,
                       const uint8_t *to, size_t to_length);
/* Starts a second file for rows whose keys are after those of the first, which must be a file. */
void sink_start_second(struct sink *second, struct store_rocksdb *rocks);
/*
 * Frees the sink and the second one, which may be NULL. If `wanted` is OK, their rows are written;
 * otherwise they are dropped and `wanted` is returned.
 */
enum status sink_finish(struct sink *sink, struct sink *second, struct store_rocksdb *rocks,
                        enum status wanted);

/* Deletes incomplete files of a process that has crashed. Returns 0 or -errno. */
int sink_clean(const char *directory);

#endif

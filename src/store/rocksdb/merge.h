/*
 * The counters of an item are one value in RocksDB, and a merge operator adds to them. An operand has the
 * same format as the value: a list of (name, number to add).
 */
#ifndef LAUD_STORE_ROCKSDB_MERGE_H
#define LAUD_STORE_ROCKSDB_MERGE_H

#include <rocksdb/c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { COUNTER_BYTES_MAX = 1 + 10 };

/* Appends one counter; returns its length. */
size_t counter_write(uint8_t *out, uint8_t name, int64_t value);

/* Reads one counter and advances *at. False: the bytes are not a complete counter. */
bool counter_read(const uint8_t **at, const uint8_t *end, uint8_t *name, int64_t *value);

/* RocksDB's options own the operator that they are given. */
rocksdb_mergeoperator_t *counters_merge_operator(void);

#endif

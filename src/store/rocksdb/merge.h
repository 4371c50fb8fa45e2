/*
 * The counters of an item as one value, and the merge operator that adds to them. An operand has
 * the same form as the value: a list of (name, delta).
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

/* Reads one counter and moves *at past it; false if none begins there or it does not end. */
bool counter_read(const uint8_t **at, const uint8_t *end, uint8_t *name, int64_t *value);

/* Owned by the options it is given to. */
rocksdb_mergeoperator_t *counters_merge_operator(void);

#endif

/* Reads many rows with one multi-get, and calls a function for each of them. */
#ifndef LAUD_STORE_ROCKSDB_READ_H
#define LAUD_STORE_ROCKSDB_READ_H

#include "store/rocksdb/private.h"

enum { LOOKUP_MAX = 256 };

struct lookup {
    const uint8_t *keys[LOOKUP_MAX];
    size_t lengths[LOOKUP_MAX];
    rocksdb_pinnableslice_t *values[LOOKUP_MAX];
    char *problems[LOOKUP_MAX];
};

/* `at` is the index of the key. `value` is NULL if there is no such row. */
typedef enum status lookup_found_fn(void *context, size_t at, const uint8_t *value, size_t length);

/* The caller fills keys and lengths. `sorted`: the keys are in ascending order. */
enum status lookup_run(struct store_rocksdb *rocks, rocksdb_readoptions_t *read,
                       struct lookup *lookup, size_t count, bool sorted, lookup_found_fn *found,
                       void *context);

#endif

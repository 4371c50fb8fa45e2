/*
 * A history of batches whose state at any position is known, and a RocksDB store in a directory of
 * its own. Batch p makes ten likes, one on each of ten items, and takes the like of batch p - 1 on
 * the first item back; so at position p there are 9 p + 1 likes.
 */
#ifndef LAUD_STORE_ROCKSDB_SUPPORT_H
#define LAUD_STORE_ROCKSDB_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store/rocksdb/private.h"
#include "store/rocksdb/store_rocksdb.h"

extern char test_directory[];

int test_directory_setup(void **state);
int test_directory_teardown(void **state);
char *test_path(const char *name); /* in the directory; of one call to the next */

/* With small buffers; NULL and `problem` if it does not open. */
struct store *test_open(uint32_t bulk_min, bool read_only, char problem[256]);
struct store *test_must_open(uint32_t bulk_min);
enum status test_apply(struct store *store, uint64_t position);
void test_fill(struct store *store, uint64_t last); /* from its position on */

/* STATUS_OK: all it answers is right for its position; else the first error it gave. A wrong answer
 * without an error fails the test. */
enum status test_answers(struct store *store);

/* Changes one row behind the store's back; value NULL removes it. */
void test_write_row(const uint8_t *key, size_t key_length, const void *value, size_t length);
/* So often, each time in a table of its own, none of which is merged. */
void test_write_runs(const uint8_t *key, size_t key_length, const void *value, size_t length,
                     unsigned runs);

#endif

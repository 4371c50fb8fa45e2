#include "store_suite.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "directory.h"
#include "store/rocksdb/store_rocksdb.h"

static struct memory_budget budget = {.limit = MIB(64)};
static uint32_t bulk_min;
static bool bulk_apart;
static char directory[] = "/tmp/laud-store-XXXXXX";

/* Small buffers: memtables are flushed and merged while the tests go on. */
static struct store *open_directory(void)
{
    char problem[256] = "";
    const struct store_rocksdb_options options = {.directory = directory,
                                                  .memory_budget = &budget,
                                                  .cache_bytes = MIB(4),
                                                  .write_buffer_bytes = MIB(6),
                                                  .batch_max = 1000,
                                                  .bulk_min = bulk_min,
                                                  .bulk_apart = bulk_apart};
    struct store *store = store_rocksdb_open(&options, problem, sizeof(problem));
    assert_string_equal(problem, "");
    assert_non_null(store);
    assert_true(memory_used(&budget) > MIB(10));
    return store;
}

struct store *store_suite_open(void)
{
    directory_make(directory);
    return open_directory();
}

struct store *store_suite_reopen(struct store *store)
{
    store_close(store);
    return open_directory();
}

void store_suite_closed(void)
{
    assert_int_equal(memory_used(&budget), 0);
    directory_remove(directory);
}

/* With "bulk", all but the smallest batches go in as files, between some that do not; with "apart"
 * as two of them. */
int main(int argc, char **argv)
{
    bulk_apart = argc > 1 && strcmp(argv[1], "apart") == 0;
    bulk_min = bulk_apart || (argc > 1 && strcmp(argv[1], "bulk") == 0) ? 50 : 0;
    const struct CMUnitTest tests[] = {STORE_SUITE};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "store_suite.h"

#include "base/limits.h"
#include "store/memory/store_memory.h"

static struct memory_budget budget = {.limit = MIB(256)};

struct store *store_suite_open(void)
{
    struct store *store = store_memory_open(&budget);
    assert_non_null(store);
    return store;
}

struct store *store_suite_reopen(struct store *store)
{
    return store;
}

void store_suite_closed(void)
{
    assert_int_equal(memory_used(&budget), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {STORE_SUITE};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

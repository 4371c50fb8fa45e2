/*
 * What only the store in memory promises: it stops at its budget, and then nothing of that batch is
 * there. All the rest is in tests/conform.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/limits.h"
#include "store/memory/store_memory.h"

static struct store_reaction numbered(uint64_t number, uint32_t time_s)
{
    return (struct store_reaction){
        .user = {.lo = number}, .item = {.id = {.lo = number * 3}}, .time_s = time_s};
}

static void test_no_memory_leaves_nothing(void **state)
{
    (void)state;
    enum { BATCH = 50 };
    struct memory_budget budget = {.limit = MIB(5)};
    struct store *store = store_memory_open(&budget);
    assert_non_null(store);
    struct store_reaction rows[BATCH];
    struct store_count counts[BATCH];
    uint64_t batches = 0;
    enum status status;
    for (;; batches++) {
        for (uint32_t i = 0; i < BATCH; i++) {
            rows[i] = numbered(batches * BATCH + i, 9);
            counts[i] = (struct store_count){.item = rows[i].item, .name = 1, .value = 1};
        }
        status = store_apply(store, &(struct store_changes){.reactions = rows,
                                                            .reaction_count = BATCH,
                                                            .counts = counts,
                                                            .count_count = BATCH,
                                                            .position = batches + 1});
        if (status != STATUS_OK)
            break;
    }
    assert_int_equal(status, STATUS_NO_MEMORY);
    assert_true(batches > 10);
    assert_true(memory_used(&budget) <= budget.limit);
    assert_int_equal(store_position(store), batches);
    assert_int_equal(store_reaction_count(store), batches * BATCH);
    assert_int_equal(store_read_reactions(store, rows, BATCH), STATUS_OK);
    assert_int_equal(store_read_counts(store, counts, BATCH), STATUS_OK);
    for (uint32_t i = 0; i < BATCH; i++) {
        assert_int_equal(rows[i].time_s, 0);
        assert_int_equal(counts[i].value, 0);
    }
    for (uint64_t number = 0; number < batches * BATCH; number++) {
        struct store_reaction key = numbered(number, 0);
        assert_int_equal(store_read_reactions(store, &key, 1), STATUS_OK);
        assert_int_equal(key.time_s, 9);
    }
    /* removing needs no memory, and makes room */
    for (uint64_t number = 0; number < batches * BATCH; number++) {
        struct store_reaction gone = numbered(number, 0);
        assert_int_equal(
            store_apply(store, &(struct store_changes){.reactions = &gone, .reaction_count = 1}),
            STATUS_OK);
    }
    struct store_reaction fresh = numbered(1, 4);
    assert_int_equal(
        store_apply(store, &(struct store_changes){.reactions = &fresh, .reaction_count = 1}),
        STATUS_OK);
    assert_int_equal(store_reaction_count(store), 1);
    store_close(store);
    assert_int_equal(memory_used(&budget), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_memory_leaves_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

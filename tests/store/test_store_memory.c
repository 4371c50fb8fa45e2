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
#include "spans.h"
#include "store/memory/store_memory.h"

static struct store_reaction numbered(uint64_t number, uint32_t time_s)
{
    return (struct store_reaction){
        .user = {.lo = number}, .item = {.id = {.lo = number * 3}}, .time_s = time_s};
}

enum { BATCH = 50 };

struct full_store {
    struct memory_budget budget;
    struct store *store;
    uint64_t batches;                  /* that went through */
    struct store_reaction rows[BATCH]; /* of the one that did not */
    struct store_count counts[BATCH];
};

static void fill(struct full_store *full)
{
    *full = (struct full_store){.budget.limit = MIB(1)};
    full->store = store_memory_open(&full->budget);
    assert_non_null(full->store);
    for (;; full->batches++) {
        for (uint32_t i = 0; i < BATCH; i++) {
            full->rows[i] = numbered(full->batches * BATCH + i, 9);
            full->counts[i] =
                (struct store_count){.item = full->rows[i].item, .name = 1, .value = 1};
        }
        enum status status = store_apply(
            &full->store->applier,
            &(struct store_changes){BOTH_SPANS(full->rows, BATCH), .item.counts = full->counts,
                                    .item.count_count = BATCH, .position = full->batches + 1});
        if (status == STATUS_OK)
            continue;
        assert_int_equal(status, STATUS_NO_MEMORY);
        return;
    }
}

static void empty(struct full_store *full)
{
    store_close(full->store);
    assert_int_equal(memory_used(&full->budget), 0);
}

static uint64_t reaction_count(struct store *store)
{
    struct store_stats stats;
    store_stats(&store->admin, &stats);
    return stats.reactions;
}

static void test_no_memory_leaves_nothing(void **state)
{
    (void)state;
    struct full_store full;
    fill(&full);
    assert_true(full.batches > 10);
    assert_true(memory_used(&full.budget) <= full.budget.limit);
    assert_int_equal(store_position(&full.store->applier), full.batches);
    assert_int_equal(reaction_count(full.store), full.batches * BATCH);
    assert_int_equal(store_read_reactions(&full.store->reader, full.rows, BATCH), STATUS_OK);
    for (uint32_t i = 0; i < BATCH; i++) {
        struct store_item item = {.item = full.counts[i].item};
        struct store_values values = {0};
        assert_int_equal(full.rows[i].time_s, 0);
        assert_int_equal(store_read_items(&full.store->reader, NULL, &item, 1, &values), STATUS_OK);
        assert_int_equal(item.count, 0);
    }
    for (uint64_t number = 0; number < full.batches * BATCH; number++) {
        struct store_reaction key = numbered(number, 0);
        assert_int_equal(store_read_reactions(&full.store->reader, &key, 1), STATUS_OK);
        assert_int_equal(key.time_s, 9);
    }
    empty(&full);
}

static enum status place(struct full_store *full, const struct store_reaction *change)
{
    return store_apply(
        &full->store->applier,
        &(struct store_changes){BOTH_SPANS(change, 1),
                                .position = store_position(&full->store->applier) + 1});
}

static void test_removing_makes_room(void **state)
{
    (void)state;
    struct full_store full;
    fill(&full);
    for (uint64_t number = 0; number < full.batches * BATCH; number++) {
        struct store_reaction gone = numbered(number, 0);
        gone.was_live = true;
        assert_int_equal(place(&full, &gone), STATUS_OK);
    }
    assert_int_equal(reaction_count(full.store), 0);
    struct store_reaction fresh = numbered(1, 4);
    assert_int_equal(place(&full, &fresh), STATUS_OK);
    assert_int_equal(reaction_count(full.store), 1);
    empty(&full);
}

/* A reference says so where a change contradicts what it has. */
static void test_contradiction(void **state)
{
    (void)state;
    struct full_store full = {.budget.limit = MIB(1)};
    full.store = store_memory_open(&full.budget);
    struct store_reaction one = numbered(1, 5);
    assert_int_equal(place(&full, &one), STATUS_OK);
    assert_int_equal(place(&full, &one), STATUS_DAMAGED);
    one.was_live = true;
    assert_int_equal(place(&full, &one), STATUS_OK);
    empty(&full);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_memory_leaves_nothing),
        cmocka_unit_test(test_removing_makes_room),
        cmocka_unit_test(test_contradiction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * CHANGES in the memory tier: for which events a call waits, and what it does before the first window and
 * after a crash. tests/conform/hot_suite_changes.c compares the answers of any tier with a model.
 */
#include "support.h"

static struct hot_request ask(struct bed *bed, struct id user, uint32_t since_s)
{
    struct hot_request request = {.action = HOT_CHANGES,
                                  .user = user,
                                  .changes.limit = 10,
                                  .changes.since_s = since_s,
                                  .time_s = 1};
    assert_int_equal(bed_run(bed, &request), STATUS_OK);
    assert_false(request.changes.more);
    return request;
}

/* A user who did not change lately is not made to wait for the projector. */
static void test_waits_only_for_its_own(void **state)
{
    (void)state;
    struct bed bed;
    const struct item item = {{.lo = 6}, 1};
    const struct id user = {.lo = 5};
    bed_open_stored(&bed, GIB(1), bed_options());
    hot_memory_set_reach(bed.hot, bed_reach, &bed);
    bed_change(&bed, HOT_SET, user, NAME_INDEX_LIKE, item, 100);
    assert_int_equal(ask(&bed, user, 0).changes.count, 1);
    bed_change(&bed, HOT_SET, (struct id){.lo = 1234567}, NAME_INDEX_LIKE, item, 101);
    bed_change(&bed, HOT_SET, (struct id){.lo = 1234567}, 2, item, 101);
    bed_project(&bed, 2);
    size_t projected = bed.projected;
    assert_int_equal(ask(&bed, user, 0).changes.count, 1);
    assert_int_equal(bed.projected, projected);
    bed_change(&bed, HOT_CLEAR, user, NAME_INDEX_LIKE, item, 102);
    assert_int_equal(ask(&bed, user, 0).changes.count, 0);
    assert_true(bed.projected > projected);
    bed_close(&bed);
}

/* Where the store has nothing yet, there is a time to go on from all the same. */
static void test_before_the_first_window(void **state)
{
    (void)state;
    struct bed bed;
    const struct id user = {.lo = 5}, other = {.lo = 1234567};
    bed_open_stored(&bed, GIB(1), bed_options());
    hot_memory_set_reach(bed.hot, bed_reach, &bed);
    assert_int_equal(ask(&bed, user, 0).changes.until_s, 1);
    bed_change(&bed, HOT_SET, other, NAME_INDEX_LIKE, (struct item){{.lo = 6}, 1}, 100);
    assert_int_equal(bed.projected, 0);
    assert_int_equal(ask(&bed, user, 0).changes.until_s, 100);
    bed_close(&bed);
}

/* After a crash the store is behind what a cursor has seen, and comes there again. */
static void test_a_crash_is_no_start_over(void **state)
{
    (void)state;
    struct bed bed;
    const struct item item = {{.lo = 6}, 1};
    const struct id user = {.lo = 5}, other = {.lo = 1234567};
    bed_open_stored(&bed, GIB(1), bed_options());
    hot_memory_set_reach(bed.hot, bed_reach, &bed);
    bed_change(&bed, HOT_SET, user, NAME_INDEX_LIKE, item, 100);
    bed_project_all(&bed);
    bed_flush(&bed);
    bed_change(&bed, HOT_SET, other, NAME_INDEX_LIKE, item, 200);
    bed_project_all(&bed);
    assert_int_equal(ask(&bed, user, 0).changes.until_s, 200);
    bed_crash(&bed, 50);
    hot_memory_set_reach(bed.hot, bed_reach, &bed);
    struct hot_request request = ask(&bed, user, 200);
    assert_int_equal(request.changes.count, 0);
    bed_change(&bed, HOT_CLEAR, user, NAME_INDEX_LIKE, item, 50);
    request = ask(&bed, user, 200);
    assert_int_equal(request.changes.count, 1);
    assert_int_equal(bed.scratch.listed[request.changes.first].time_s, 200);
    bed_close(&bed);
}

static enum status reach_never(void *context, uint64_t position, unsigned timeout_ms)
{
    (void)context;
    (void)position;
    assert_int_equal(timeout_ms, LIMIT_REACH_MS);
    return STATUS_LAGGING;
}

static void test_refusals(void **state)
{
    (void)state;
    struct bed bed;
    struct hot_request request = {.action = HOT_CHANGES, .user = {.lo = 1}, .changes.limit = 5};
    bed_open(&bed, GIB(1), bed_options());
    assert_int_equal(bed_run(&bed, &request), STATUS_NO_STORE);
    bed_close(&bed);
    bed_open_stored(&bed, GIB(1), bed_options());
    assert_int_equal(bed_run(&bed, &request), STATUS_OK);
    assert_int_equal(request.changes.until_s, 1); /* nothing ever happened */
    request.changes.until_s = 0;
    bed_change(&bed, HOT_SET, request.user, NAME_INDEX_LIKE, (struct item){{.lo = 7}, 1}, 100);
    assert_int_equal(bed_run(&bed, &request), STATUS_LAGGING);
    hot_memory_set_reach(bed.hot, reach_never, &bed);
    request.changes.until_s = 0;
    assert_int_equal(bed_run(&bed, &request), STATUS_LAGGING);
    hot_memory_set_reach(bed.hot, bed_reach, &bed);
    request = (struct hot_request){
        .action = HOT_CHANGES, .user = {.lo = 1}, .changes.limit = 5, .changes.since_s = 101};
    assert_int_equal(bed_run(&bed, &request), STATUS_START_OVER); /* of a later time */
    bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_waits_only_for_its_own),
        cmocka_unit_test(test_before_the_first_window),
        cmocka_unit_test(test_a_crash_is_no_start_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Lists in the memory tier: which of them memory answers by itself, and which wait for the store.
 * tests/conform/hot_suite_lists.c compares the answers of any tier with a model.
 */
#include "support.h"

/* A user whose reactions are all in memory is never a matter for a worker, projected or not. */
static void test_hot_lists_need_no_worker(void **state)
{
    (void)state;
    struct bed bed;
    bed_open_stored(&bed, GIB(1), bed_options());
    struct id user = {.lo = 5};
    for (uint32_t i = 0; i < 300; i++)
        bed_change(&bed, HOT_SET, user, NAME_INDEX_LIKE, (struct item){{.lo = 1 + i}, 1}, 10 + i);
    bed_project_all(&bed);
    bed.waited = 0;
    struct hot_request request = {.action = HOT_LIST_REACTIONS, .user = user, .list.type = 1};
    uint32_t seen = 0;
    do {
        request.list.limit = 20;
        assert_int_equal(bed_run(&bed, &request), STATUS_OK);
        for (uint32_t i = 0; i < request.list.count; i++)
            assert_int_equal(bed.scratch.listed[request.list.first + i].id.lo, 300 - seen++);
        request.list.after = bed.scratch.listed[request.list.first + request.list.count - 1];
    } while (request.list.more);
    assert_int_equal(seen, 300);
    assert_int_equal(bed.waited, 0);

    /* Nor are those of another width, as long as it is known that memory has them all. */
    struct item wide = {{.hi = 9, .lo = 9}, 1};
    bed_change(&bed, HOT_SET, user, NAME_INDEX_LIKE, wide, 2000);
    request = (struct hot_request){
        .action = HOT_LIST_REACTIONS, .user = user, .list.type = 1, .list.limit = LIMIT_LIST};
    assert_int_equal(bed_run(&bed, &request), STATUS_OK);
    assert_true(id_equal(bed.scratch.listed[request.list.first].id, wide.id));
    assert_int_equal(bed.waited, 0);
    bed_change(&bed, HOT_CLEAR, user, NAME_INDEX_LIKE, wide, 2001);
    assert_int_equal(bed_run(&bed, &request), STATUS_OK);
    assert_int_equal(bed.scratch.listed[request.list.first].id.lo, 300);
    bed_change(&bed, HOT_SET, user, NAME_INDEX_LIKE, wide, 2002);
    bed_add(&bed, wide, 5, 1); /* the newest event of all is never clean */
    bed_project_all(&bed);
    bed_evict(&bed);
    assert_false(bed_has_user(&bed, user));
    assert_int_equal(bed_run(&bed, &request), STATUS_OK);
    assert_true(id_equal(bed.scratch.listed[request.list.first].id, wide.id));
    assert_int_equal(bed.waited, 2);
    bed_close(&bed);
}

static enum status reach_a_failed_store(void *context, uint64_t position, unsigned timeout_ms)
{
    (void)context;
    (void)position;
    (void)timeout_ms;
    return STATUS_STORE_FAILED;
}

/* Who reacted is not told before the store has all of it, and refused if it does not get there. */
static void test_reactors_wait_for_the_store(void **state)
{
    (void)state;
    struct bed bed;
    bed_open_stored(&bed, GIB(1), bed_options());
    struct item item = {{.lo = 77}, 700}, other = {{.lo = 78}, 700};
    struct hot_request request = {
        .action = HOT_LIST_REACTORS, .items = &item, .item_count = 1, .list.limit = 5};
    bed_change(&bed, HOT_SET, (struct id){.lo = 1}, NAME_INDEX_LIKE, item, 10);
    assert_int_equal(bed_run(&bed, &request), STATUS_LAGGING);
    hot_memory_set_reach(bed.hot, bed_reach, &bed);
    assert_int_equal(bed_run(&bed, &request), STATUS_OK);
    assert_int_equal(request.list.count, 1);
    assert_int_equal(bed.scratch.listed[request.list.first].time_s, 10);
    hot_memory_set_reach(bed.hot, NULL, NULL);
    bed_change(&bed, HOT_SET, (struct id){.lo = 1}, NAME_INDEX_LIKE, other, 11);
    request.items = &other;
    assert_int_equal(bed_run(&bed, &request), STATUS_LAGGING);
    hot_memory_set_reach(bed.hot, reach_a_failed_store, NULL);
    assert_int_equal(bed_run(&bed, &request), STATUS_STORE_FAILED);
    bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hot_lists_need_no_worker),
        cmocka_unit_test(test_reactors_wait_for_the_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

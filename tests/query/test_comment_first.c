/* Was a comment of the user ever open? A tier that only says when the store is read, over a store in memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/limits.h"
#include "comment/rows.h"
#include "query/comment_first.h"
#include "store/memory/store_memory.h"

static const struct id ana = {.lo = 7};
static const struct id ben = {.hi = 1, .lo = 7};

struct desk {
    struct query_tier tier; /* first member: the functions get a pointer to it */
    struct memory_budget budget;
    struct store *store;
    uint64_t position;
    void (*late)(struct desk *desk); /* what the store lacks until it is waited for */
    unsigned reached;
    enum status reach;
};

static uint64_t point(struct query_tier *tier)
{
    (void)tier;
    return 77;
}

static enum status reach(struct query_tier *tier, uint64_t position)
{
    struct desk *desk = (struct desk *)tier;
    assert_int_equal(position, 77);
    desk->reached++;
    if (desk->late != NULL)
        desk->late(desk);
    desk->late = NULL;
    return desk->reach;
}

static const struct query_tier_functions functions = {.any_comment_point = point, .reach = reach};

static void desk_open(struct desk *desk)
{
    *desk = (struct desk){.budget = {.limit = MIB(64)}, .reach = STATUS_OK};
    desk->store = store_memory_open(&desk->budget);
    assert_non_null(desk->store);
    desk->tier = (struct query_tier){
        .functions = &functions, .store = &desk->store->reader, .may_wait = true};
}

static void desk_close(struct desk *desk)
{
    store_close(desk->store);
}

static void put(struct desk *desk, struct id user, uint64_t id, bool open, bool was_open)
{
    uint8_t keys[2][ROW_KEY_MAX], value[ROW_COMMENT_MAX];
    struct comment comment = {.id = id,
                              .subject = {.id = {.lo = 1}},
                              .author = user,
                              .floor = 1,
                              .next_floor = 1,
                              .time_s = 1,
                              .was_open = was_open,
                              .moderation = open ? COMMENT_VISIBLE : COMMENT_PENDING};
    struct store_row rows[2] = {{.table = STORE_WRITTEN}, {.table = STORE_COMMENT}};
    rows[0].key =
        (struct store_bytes){keys[0], (uint32_t)row_key_written(user, !open, id, keys[0])};
    rows[0].value = (struct store_bytes){value, 0};
    rows[1].key = (struct store_bytes){keys[1], (uint32_t)row_key_id(id, keys[1])};
    rows[1].value = (struct store_bytes){
        value, (uint32_t)row_write_comment(&comment, &(struct comment_index){0}, value)};
    struct store_changes changes = {.rows = rows, .row_count = 2, .position = ++desk->position};
    assert_int_equal(store_apply(&desk->store->applier, &changes), STATUS_OK);
}

static void assert_was_open(struct desk *desk, struct id user, bool expected)
{
    bool was_open = !expected;
    assert_int_equal(query_was_open(&desk->tier, user, &was_open), STATUS_OK);
    assert_int_equal(was_open, expected);
}

static void test_an_open_comment_needs_no_waiting(void **state)
{
    (void)state;
    struct desk desk;
    desk_open(&desk);
    put(&desk, ana, 5, true, true);
    put(&desk, ana, 9, false, false);
    assert_was_open(&desk, ana, true);
    assert_int_equal(desk.reached, 0);
    assert_was_open(&desk, ben, false);
    assert_int_equal(desk.reached, 1);
    desk_close(&desk);
}

static void test_only_pending_ones(void **state)
{
    (void)state;
    struct desk desk;
    desk_open(&desk);
    for (uint64_t id = 1; id <= 250; id++)
        put(&desk, ana, id, false, false);
    assert_was_open(&desk, ana, false);
    put(&desk, ana, 3, false, true); /* it was open, and then hidden or deleted */
    assert_was_open(&desk, ana, true);
    desk_close(&desk);
}

static void test_the_newest_thousand(void **state)
{
    (void)state;
    struct desk desk;
    desk_open(&desk);
    put(&desk, ana, 1, false, true);
    for (uint64_t id = 2; id <= FIRST_LOOKS; id++)
        put(&desk, ana, id, false, false);
    assert_was_open(&desk, ana, true);
    put(&desk, ana, FIRST_LOOKS + 1, false, false);
    assert_was_open(&desk, ana, false);
    desk_close(&desk);
}

static void show_one(struct desk *desk)
{
    put(desk, ana, 5, true, true);
}

static void test_the_store_may_lag(void **state)
{
    (void)state;
    struct desk desk;
    desk_open(&desk);
    desk.late = show_one;
    assert_was_open(&desk, ana, true);
    assert_int_equal(desk.reached, 1);
    desk_close(&desk);
}

static void test_without_an_answer(void **state)
{
    (void)state;
    struct desk desk;
    bool was_open;
    desk_open(&desk);
    desk.reach = STATUS_LAGGING;
    assert_int_equal(query_was_open(&desk.tier, ana, &was_open), STATUS_LAGGING);
    desk.tier.may_wait = false;
    assert_int_equal(query_was_open(&desk.tier, ana, &was_open), STATUS_BLOCKED);
    desk_close(&desk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_open_comment_needs_no_waiting),
        cmocka_unit_test(test_only_pending_ones),
        cmocka_unit_test(test_the_newest_thousand),
        cmocka_unit_test(test_the_store_may_lag),
        cmocka_unit_test(test_without_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

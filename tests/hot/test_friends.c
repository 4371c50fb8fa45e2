/*
 * Where the friends of a FEED are read from: from memory by an I/O thread, from the store by a worker, and
 * from both. The suite in tests/conform compares the answers with a model; this file looks at what they cost.
 */
#include "support.h"

enum {
    FOLLOW = 3,
    USER_TYPE = 1,
    ITEMS = 20,
    FOLLOWEES = 100,
};

static const struct id me = {.lo = 1000000};
static struct item items[ITEMS];
static struct hot_answer answers[ITEMS];

/* Every third followee has a UUID, and so has every fourth item. */
static struct id followee(uint32_t number)
{
    return (struct id){.hi = number % 3 == 0 ? 77 + number : 0, .lo = 1 + number};
}

static void make_items(void)
{
    for (uint32_t i = 0; i < ITEMS; i++)
        items[i] = (struct item){.id = {.hi = i % 4 == 0 ? 9 : 0, .lo = 50 + i},
                                 .type = i % 5 == 0 ? 701 : 700};
}

/* Does this followee like this item? If so, when. */
static uint32_t liked_s(uint32_t number, uint32_t item)
{
    return (number + item) % 6 == 0 ? 100 + number * ITEMS + item : 0;
}

static void fill(struct bed *bed)
{
    make_items();
    for (uint32_t i = 0; i < FOLLOWEES; i++)
        bed_change(bed, HOT_SET, me, FOLLOW, (struct item){.id = followee(i), .type = USER_TYPE},
                   10);
    for (uint32_t i = 0; i < FOLLOWEES; i++)
        for (uint32_t j = 0; j < ITEMS; j++)
            if (liked_s(i, j) != 0)
                bed_change(bed, HOT_SET, followee(i), NAME_INDEX_LIKE, items[j], liked_s(i, j));
}

static struct hot_request feed(void)
{
    return (struct hot_request){
        .action = HOT_FEED,
        .user = me,
        .items = items,
        .item_count = ITEMS,
        .read = {.answers = answers, .friends = 3, .follow = FOLLOW, .follow_type = USER_TYPE}};
}

static void expect_friends(struct bed *bed, const struct hot_request *request)
{
    for (uint32_t j = 0; j < ITEMS; j++) {
        struct hot_feed_friends got = hot_feed_friends(request, &bed->scratch, j);
        uint32_t found = 0;
        for (uint32_t i = FOLLOWEES; i-- > 0;) {
            if (liked_s(i, j) == 0)
                continue;
            if (found < got.named) {
                assert_true(id_equal(got.users[found].id, followee(i)));
                assert_int_equal(got.users[found].time_s, liked_s(i, j));
            }
            found++;
        }
        assert_int_equal(got.found, found);
        assert_int_equal(got.named, 3);
    }
}

/* Runs a feed, and returns how many reactions it read from the store. */
static uint64_t run_feed(struct bed *bed)
{
    struct hot_request request = feed();
    uint64_t before = bed_stats(bed).reaction_loads;
    hot_scratch_clear(&bed->scratch);
    assert_int_equal(bed_run(bed, &request), STATUS_OK);
    expect_friends(bed, &request);
    return bed_stats(bed).reaction_loads - before;
}

/* The newest event of all is never clean, so something else comes last before everything is evicted. */
static void evict_all(struct bed *bed)
{
    bed_add(bed, (struct item){{.lo = 1}, 700}, 5, 1);
    bed_project_all(bed);
    bed_evict(bed);
}

static void test_memory_needs_no_worker(void **state)
{
    (void)state;
    struct bed bed;
    bed_open(&bed, GIB(1), bed_options());
    fill(&bed);
    assert_int_equal(run_feed(&bed), 0);
    assert_int_equal(bed.waited, 0);
    bed_close(&bed);

    bed_open_stored(&bed, GIB(1), bed_options());
    fill(&bed);
    bed.waited = 0;
    assert_int_equal(run_feed(&bed), 0);
    bed_project_all(&bed);
    assert_int_equal(run_feed(&bed), 0);
    assert_int_equal(bed.waited, 0);
    bed_close(&bed);
}

/* What filters deny is not read from the store; what was read once is in memory afterwards. */
static void test_only_the_store_has_it(void **state)
{
    (void)state;
    struct bed bed;
    bed_open_stored(&bed, GIB(1), bed_options());
    fill(&bed);
    evict_all(&bed);
    assert_false(bed_has_user(&bed, followee(0)));
    uint64_t likes = 0;
    for (uint32_t i = 0; i < FOLLOWEES; i++)
        for (uint32_t j = 0; j < ITEMS; j++)
            likes += liked_s(i, j) != 0;
    uint64_t loads = run_feed(&bed);
    assert_in_range(loads, likes + FOLLOWEES, likes + FOLLOWEES + 40); /* with the followees */
    assert_int_equal(run_feed(&bed), FOLLOWEES); /* likes are warm; a list is read again */
    bed_close(&bed);
}

static void test_some_are_in_memory(void **state)
{
    (void)state;
    struct bed bed;
    bed_open_stored(&bed, GIB(1), bed_options());
    fill(&bed);
    evict_all(&bed);
    for (uint32_t i = 0; i < FOLLOWEES; i += 2) /* changes that the store does not have */
        for (uint32_t j = 0; j < ITEMS; j++)
            if (liked_s(i, j) == 0 && j % 3 == 0) {
                bed_change(&bed, HOT_SET, followee(i), NAME_INDEX_LIKE, items[j], 5000);
                bed_change(&bed, HOT_CLEAR, followee(i), NAME_INDEX_LIKE, items[j], 5000);
            }
    run_feed(&bed);
    run_feed(&bed);
    bed_close(&bed);
}

/* A reaction that was cleared is not a friend's, also while the store still has it. */
static void test_cleared_in_memory(void **state)
{
    (void)state;
    struct bed bed;
    bed_open_stored(&bed, GIB(1), bed_options());
    fill(&bed);
    evict_all(&bed);
    for (uint32_t i = 0; i < FOLLOWEES; i++)
        if (liked_s(i, 3) != 0)
            bed_change(&bed, HOT_CLEAR, followee(i), NAME_INDEX_LIKE, items[3], 5000);
    struct hot_request request = feed();
    assert_int_equal(bed_run(&bed, &request), STATUS_OK);
    assert_int_equal(hot_feed_friends(&request, &bed.scratch, 3).found, 0);
    assert_true(hot_feed_friends(&request, &bed.scratch, 4).found > 0);
    bed_change(&bed, HOT_CLEAR, me, FOLLOW, (struct item){followee(2), USER_TYPE}, 5001);
    uint32_t before = hot_feed_friends(&request, &bed.scratch, 4).found;
    hot_scratch_clear(&bed.scratch);
    assert_int_equal(bed_run(&bed, &request), STATUS_OK);
    assert_int_equal(liked_s(2, 4) != 0, true);
    assert_int_equal(hot_feed_friends(&request, &bed.scratch, 4).found, before - 1);
    bed_close(&bed);
}

/* COLD skip reads only memory: without a worker, and with fewer friends. */
static void test_memory_only(void **state)
{
    (void)state;
    struct bed bed;
    bed_open_stored(&bed, GIB(1), bed_options());
    fill(&bed);
    evict_all(&bed);
    struct hot_request request = feed();
    assert_int_equal(bed_run(&bed, &request), STATUS_OK); /* the items are in memory now */
    request.read.memory_only = true;
    uint64_t before = bed_stats(&bed).reaction_loads;
    bed.waited = 0;
    hot_scratch_clear(&bed.scratch);
    assert_int_equal(bed_run(&bed, &request), STATUS_OK);
    assert_int_equal(bed.waited, 0);
    assert_int_equal(bed_stats(&bed).reaction_loads, before);
    bed_change(&bed, HOT_SET, me, FOLLOW, (struct item){.id = {.lo = 7000}, .type = USER_TYPE},
               5000);
    assert_int_equal(bed_run(&bed, &request), STATUS_OK);
    assert_int_equal(bed.waited, 0);
    bed_close(&bed);
}

/* A type or a kind that does not exist: nobody follows anybody, and nobody likes the item. */
static void test_names_that_do_not_exist(void **state)
{
    (void)state;
    struct bed bed;
    bed_open_stored(&bed, GIB(1), bed_options());
    fill(&bed);
    struct hot_request request = feed();
    struct item unknown[2] = {{.id = {.lo = 50}, .type = UINT16_MAX}, items[1]};
    request.items = unknown;
    request.item_count = 2;
    assert_int_equal(bed_run(&bed, &request), STATUS_OK);
    assert_int_equal(hot_feed_friends(&request, &bed.scratch, 0).found, 0);
    assert_true(hot_feed_friends(&request, &bed.scratch, 1).found > 0);
    request.read.follow = UINT8_MAX;
    request.read.follow_type = UINT16_MAX;
    assert_int_equal(bed_run(&bed, &request), STATUS_OK);
    assert_int_equal(hot_feed_friends(&request, &bed.scratch, 1).found, 0);
    bed_close(&bed);
}

/* Depth 2 looks up too many users for an I/O thread. */
static void test_second_needs_a_worker(void **state)
{
    (void)state;
    struct bed bed;
    bed_open(&bed, GIB(1), bed_options());
    fill(&bed);
    struct hot_request request = {
        .action = HOT_FRIENDS,
        .user = me,
        .items = items,
        .item_count = 1,
        .list = {.limit = 5, .follow = FOLLOW, .type = USER_TYPE, .second = true}};
    assert_int_equal(bed_run(&bed, &request), STATUS_OK);
    assert_int_equal(bed.waited, 1);
    assert_int_equal(request.list.count, 5);
    assert_int_equal(bed.scratch.listed[request.list.first + 1].time_s, 0);
    bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_needs_no_worker),
        cmocka_unit_test(test_only_the_store_has_it),
        cmocka_unit_test(test_some_are_in_memory),
        cmocka_unit_test(test_cleared_in_memory),
        cmocka_unit_test(test_memory_only),
        cmocka_unit_test(test_names_that_do_not_exist),
        cmocka_unit_test(test_second_needs_a_worker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * A user with very many shelves: one of each kind, type and width of ids. What is asked about them is
 * right and takes no longer than it should, and there are only so many in memory.
 */
#include <time.h>

#include "support.h"

enum { KINDS = 64, TYPES = 64, START_S = 1000, PAGE = LIMIT_FEED_ITEMS };

_Static_assert(KINDS *TYPES == LIMIT_SHELVES, "one of each is as many as there may be");

static const struct id ann = {.lo = 7}, bob = {.lo = 8};

static struct item item_of_type(uint32_t type, uint32_t number)
{
    return (struct item){.id = id_number(number), .type = (uint16_t)type};
}

static enum status set(struct bed *bed, struct id user, uint32_t kind, struct item item)
{
    struct hot_request request = {.action = HOT_SET,
                                  .user = user,
                                  .name = (uint8_t)kind,
                                  .items = &item,
                                  .item_count = 1,
                                  .time_s = START_S};
    return bed_run(bed, &request);
}

/* Ann has one of each kind on one item of each type, on narrow ids. */
static void set_one_of_each(struct bed *bed)
{
    for (uint32_t kind = 0; kind < KINDS; kind++)
        for (uint32_t type = 0; type < TYPES; type++)
            assert_int_equal(set(bed, ann, kind, item_of_type(type, 0)), STATUS_OK);
}

/* Everything before this is clean once it is projected. */
static void settle(struct bed *bed)
{
    bed_add(bed, (struct item){.id = {.lo = 999}}, 100, 1);
    bed_project_all(bed);
}

static void feed(struct bed *bed, struct id user, const struct item *items, uint32_t count,
                 struct hot_answer *answers)
{
    struct hot_request request = {.action = HOT_FEED,
                                  .user = user,
                                  .items = items,
                                  .item_count = count,
                                  .time_s = START_S,
                                  .read.answers = answers};
    assert_int_equal(bed_run(bed, &request), STATUS_OK);
}

/* Reactions at random on shelves of all sorts, complete or not; each page says what there is. */
static void test_pages_are_right(void **state)
{
    (void)state;
    enum { SOME = 12, ITEMS = 6, ROUNDS = 60 };
    static bool is_set[SOME][SOME][ITEMS];
    struct chance chance = {test_seed()};
    struct bed bed;
    struct item items[PAGE];
    struct hot_answer answers[PAGE];
    bed_open_stored(&bed, MIB(64), bed_options());
    memset(is_set, 0, sizeof(is_set));
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < 60; i++) {
            uint32_t kind = chance_below(&chance, SOME), type = chance_below(&chance, SOME);
            uint32_t number = chance_below(&chance, ITEMS);
            bool on = chance_below(&chance, 3) != 0;
            bool changed = bed_change(&bed, on ? HOT_SET : HOT_CLEAR, ann, (uint8_t)kind,
                                      item_of_type(type, number), START_S + round) != 0;
            assert_int_equal(changed, is_set[kind][type][number] != on);
            is_set[kind][type][number] = on;
        }
        if (round % 4 == 1)
            settle(&bed);
        if (round % 8 == 1) /* shelves made from here on are incomplete */
            bed_evict(&bed);
        uint32_t numbers[PAGE];
        for (uint32_t i = 0; i < PAGE; i++) {
            numbers[i] = chance_below(&chance, ITEMS);
            items[i] = item_of_type(chance_below(&chance, SOME), numbers[i]);
        }
        feed(&bed, ann, items, 1 + chance_below(&chance, PAGE), answers);
        feed(&bed, ann, items, PAGE, answers);
        for (uint32_t i = 0; i < PAGE; i++)
            for (uint32_t kind = 0; kind < SOME; kind++)
                assert_int_equal(kind_set_has(&answers[i].kinds, (uint8_t)kind),
                                 is_set[kind][items[i].type][numbers[i]]);
    }
    bed_close(&bed);
}

static uint64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The best of some. */
static uint64_t feed_ns(struct bed *bed, struct id user, const struct item *items)
{
    struct hot_answer answers[PAGE];
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < 5; i++) {
        uint64_t began = cpu_ns();
        feed(bed, user, items, PAGE, answers);
        uint64_t took = cpu_ns() - began;
        best = took < best ? took : best;
    }
    return best;
}

/* A page of many types is some ten times as much as for a user with none of it, not a thousand. */
static void test_a_page_of_many_types_is_no_stall(void **state)
{
    (void)state;
    struct bed bed;
    struct item items[PAGE];
    bed_open_stored(&bed, MIB(64), bed_options());
    set_one_of_each(&bed);
    settle(&bed);
    for (uint32_t i = 0; i < PAGE; i++)
        items[i] = item_of_type(i % TYPES, 1);
    uint64_t none = feed_ns(&bed, bob, items);
    uint64_t many = feed_ns(&bed, ann, items);
    print_message("%llu us for one with no shelf, %llu us for one with %u\n",
                  (unsigned long long)none / 1000, (unsigned long long)many / 1000, LIMIT_SHELVES);
    assert_true(many < 20 * none);
    bed_close(&bed);
}

/* Past the most there may be, those go that the store has; if it has none, that is said. */
static void test_shelves_are_bounded(void **state)
{
    (void)state;
    struct bed bed;
    bed_open_stored(&bed, MIB(64), bed_options());
    set_one_of_each(&bed);
    assert_int_equal(bed_stats(&bed).shelves, LIMIT_SHELVES);
    size_t recorded = bed.recorder.count;
    assert_int_equal(set(&bed, ann, KINDS, item_of_type(0, 0)), STATUS_SHELVES_FULL);
    assert_int_equal(set(&bed, ann, 0, item_of_type(0, 2)), STATUS_SHELVES_FULL); /* a wide one */
    assert_int_equal(bed.recorder.count, recorded);
    assert_int_equal(bed_count(&bed, item_of_type(0, 0), KINDS), 0);
    assert_int_equal(set(&bed, ann, 0, item_of_type(0, 1)), STATUS_OK); /* no shelf is made */
    assert_int_equal(set(&bed, bob, KINDS, item_of_type(0, 0)), STATUS_OK);
    settle(&bed);
    for (uint32_t type = 0; type < TYPES; type++)
        assert_int_equal(set(&bed, ann, KINDS, item_of_type(type, 0)), STATUS_OK);
    assert_true(bed_stats(&bed).shelves <= LIMIT_SHELVES + 1); /* and Bob's */
    for (uint32_t kind = 0; kind <= KINDS; kind++)
        for (uint32_t type = 0; type < TYPES; type++) {
            assert_true(bed_ask(&bed, ann, (uint8_t)kind, item_of_type(type, 0)));
            assert_int_equal(set(&bed, ann, kind, item_of_type(type, 0)), STATUS_OK);
            assert_int_equal(bed_count(&bed, item_of_type(type, 0), (uint8_t)kind),
                             kind == KINDS && type == 0 ? 2 : 1);
        }
    assert_true(bed_stats(&bed).shelves <= LIMIT_SHELVES + 1); /* warm ones are no exception */
    bed_close(&bed);
}

/* What was recorded is taken back, however much it is; then they become fewer again. */
static void test_replay_refuses_no_shelf(void **state)
{
    (void)state;
    struct bed bed;
    bed_open_stored(&bed, MIB(64), bed_options());
    set_one_of_each(&bed);
    settle(&bed);
    for (uint32_t type = 0; type < TYPES; type++)
        assert_int_equal(set(&bed, ann, KINDS, item_of_type(type, 0)), STATUS_OK);
    bed_crash(&bed, START_S); /* the store is empty again */
    assert_int_equal(bed_stats(&bed).shelves, LIMIT_SHELVES + TYPES);
    assert_int_equal(set(&bed, ann, KINDS + 1, item_of_type(0, 0)), STATUS_SHELVES_FULL);
    settle(&bed);
    for (uint32_t type = 0; type < TYPES; type++)
        assert_int_equal(set(&bed, ann, KINDS + 1, item_of_type(type, 0)), STATUS_OK);
    assert_true(bed_stats(&bed).shelves <= LIMIT_SHELVES);
    for (uint32_t kind = 0; kind <= KINDS + 1; kind++)
        for (uint32_t type = 0; type < TYPES; type++)
            assert_true(bed_ask(&bed, ann, (uint8_t)kind, item_of_type(type, 0)));
    bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages_are_right),
        cmocka_unit_test(test_a_page_of_many_types_is_no_stall),
        cmocka_unit_test(test_shelves_are_bounded),
        cmocka_unit_test(test_replay_refuses_no_shelf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

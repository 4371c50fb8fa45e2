/*
 * Windowed boards against a naive model: exact below the cap, off by no more than they say above
 * it; slices that turn, clocks that lie, windows that come again, and too little memory.
 */
#include "model.h"

#include <stdlib.h>
#include <string.h>

#define DAY_S   86400U
#define START_S 1700000000U

static struct memory_budget budget;
static struct model model;

static int setup(void **state)
{
    (void)state;
    budget = (struct memory_budget){.limit = GIB(1)};
    model_start(&model, test_seed());
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    model_end(&model);
    assert_int_equal(memory_used(&budget), 0);
    return 0;
}

static struct trends *boards(uint64_t memory, uint32_t items_max)
{
    const struct trend_options options = {
        .budget = &budget, .memory = memory, .items_max = items_max, .seed = 5};
    struct trends *trends = trends_new(&options);
    assert_non_null(trends);
    return trends;
}

static struct trend_stats stats_of(struct trends *trends)
{
    struct trend_stats stats;
    trends_stats(trends, &stats);
    return stats;
}

/* Mostly seconds, now and then hours, hardly ever days. */
static uint32_t step_s(struct chance *chance)
{
    uint32_t sort = chance_below(chance, 1000);
    return sort < 900   ? chance_below(chance, 60)
           : sort < 970 ? chance_below(chance, 1200)
           : sort < 997 ? chance_below(chance, 8 * 3600)
                        : chance_below(chance, 4 * DAY_S);
}

static void test_exact_over_weeks(void **state)
{
    (void)state;
    struct trends *trends = boards(MIB(64), 0);
    uint32_t time_s = START_S;
    uint32_t asked = 0;
    while (model.count + MODEL_WINDOW < MODEL_CHANGES) {
        time_s += step_s(&model.chance);
        trends_apply(trends, model_next(&model, MODEL_WINDOW, time_s), time_s, time_s + 3);
        if (chance_below(&model.chance, 40) == 0) {
            model_expect(&model, trends, time_s + step_s(&model.chance));
            asked++;
        }
    }
    struct trend_stats stats = stats_of(trends);
    print_message("%zu changes over %u days, asked %u times\n", model.count,
                  (time_s - START_S) / DAY_S, asked);
    assert_true(time_s - START_S > 14 * DAY_S && model.count > 500000);
    assert_int_equal(stats.boards, MODEL_TYPES * MODEL_NAMES);
    assert_int_equal(stats.position, model.position);
    assert_int_equal(stats.pruned, 0);
    assert_int_equal(stats.error_max, 0);
    assert_true(stats.exact);
    trends_free(trends);
}

/* Of every item, shown or not, the sum is off by at most what is said. */
static void expect_bounded(struct trends *trends, uint32_t now_s, uint64_t error)
{
    static int64_t sums[MODEL_ITEMS];
    static struct ranked found[LIMIT_TREND_TOP];
    for (uint32_t board = 0; board < MODEL_TYPES * MODEL_NAMES; board++) {
        for (enum trend_window window = TREND_HOUR; window <= TREND_WEEK; window++) {
            size_t count;
            assert_int_equal(trends_top(trends, (uint16_t)(board / MODEL_NAMES),
                                        board % MODEL_NAMES, window, now_s, found, LIMIT_TREND_TOP,
                                        &count),
                             STATUS_OK);
            assert_true(count < LIMIT_TREND_TOP);
            model_sums(&model, board, window, now_s, sums);
            for (uint32_t item = 0; item < MODEL_ITEMS; item++) {
                int64_t shown = 0;
                for (size_t i = 0; i < count; i++)
                    shown = id_equal(found[i].id, model_id(item)) ? found[i].value : shown;
                int64_t true_sum = shown == 0 && sums[item] < 0 ? 0 : sums[item];
                assert_true((uint64_t)llabs(true_sum - shown) <= error);
            }
        }
    }
}

static void test_pruned_within_bounds(void **state)
{
    (void)state;
    struct trends *trends = boards(MIB(64), 32);
    uint32_t time_s = START_S;
    uint64_t worst = 0;
    for (int i = 0; i < 600; i++) {
        time_s += step_s(&model.chance);
        model.items = i % 10 == 0 ? 300 : 25;
        trends_apply(trends, model_next(&model, MODEL_WINDOW, time_s), time_s, time_s);
        if (i % 50 != 49)
            continue;
        struct trend_stats stats = stats_of(trends);
        worst = stats.error_max > worst ? stats.error_max : worst;
        assert_int_equal(stats.exact, stats.error_max == 0);
        expect_bounded(trends, time_s, stats.error_max);
    }
    print_message("said to be off by up to %llu\n", (unsigned long long)worst);
    assert_true(stats_of(trends).pruned > 0 && worst > 0);
    time_s += 8 * DAY_S; /* once what was pruned is out of the week, all is exact again */
    model.items = 25;
    trends_apply(trends, model_next(&model, MODEL_WINDOW, time_s), time_s, time_s);
    assert_true(stats_of(trends).exact);
    model_expect(&model, trends, time_s);
    trends_free(trends);
}

/* What went up and down again takes room, but letting it go loses nothing. */
static void test_zeros_go_first(void **state)
{
    (void)state;
    struct trends *trends = boards(MIB(1), 64);
    struct store_count count = {.item = {.type = 1}, .name = 7};
    struct store_changes changes = {.item.counts = &count, .item.count_count = 1};
    struct ranked found[4];
    size_t found_count;
    for (uint32_t i = 1; i < 1000; i++) {
        count.item.id.lo = i;
        for (int64_t value = 1; value >= -1; value -= 2) {
            count.value = value * (i % 100 == 0 ? 1000 - i : 1);
            changes.position++;
            if (value > 0 || i % 100 != 0)
                trends_apply(trends, &changes, START_S, START_S);
        }
    }
    assert_true(stats_of(trends).pruned > 0 && stats_of(trends).exact);
    assert_int_equal(trends_top(trends, 1, 7, TREND_DAY, START_S, found, 4, &found_count),
                     STATUS_OK);
    assert_int_equal(found_count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(found[i].id.lo, 100 * (i + 1));
        assert_int_equal(found[i].value, 1000 - 100 * (int64_t)(i + 1));
    }
    trends_free(trends);
}

static size_t top(struct trends *trends, enum trend_window window, uint32_t now_s, int64_t *value)
{
    struct ranked found[8];
    size_t count;
    assert_int_equal(trends_top(trends, 0, 0, window, now_s, found, 8, &count), STATUS_OK);
    *value = count > 0 ? found[0].value : 0;
    return count;
}

static uint64_t add(struct trends *trends, uint32_t time_s, uint32_t wall_s, int64_t value)
{
    struct store_count count = {.item = {.id = {0, 9}}, .value = value};
    struct store_changes changes = {
        .item.counts = &count, .item.count_count = 1, .position = trends_position(trends) + 40};
    trends_apply(trends, &changes, time_s, wall_s);
    return trends_position(trends);
}

static void expect(struct trends *trends, uint32_t now_s, int64_t hour, int64_t day, int64_t week)
{
    int64_t value;
    top(trends, TREND_HOUR, now_s, &value);
    assert_int_equal(value, hour);
    top(trends, TREND_DAY, now_s, &value);
    assert_int_equal(value, day);
    top(trends, TREND_WEEK, now_s, &value);
    assert_int_equal(value, week);
}

/* To the second, with and without anything happening in between. */
static void test_slices_turn(void **state)
{
    (void)state;
    const uint32_t day_s = 20000 * DAY_S;
    for (int busy = 0; busy < 2; busy++) {
        struct trends *trends = boards(MIB(1), 0);
        add(trends, day_s + 17, day_s, 5);
        static const struct {
            uint32_t after_s;
            int64_t sums[3];
        } turns[] = {
            {3599, {5, 5, 5}},  {3600, {0, 5, 5}},          {DAY_S - 1, {0, 5, 5}},
            {DAY_S, {0, 0, 5}}, {7 * DAY_S - 1, {0, 0, 5}}, {7 * DAY_S, {0, 0, 0}},
        };
        for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
            uint32_t now_s = day_s + turns[i].after_s;
            const struct store_changes nothing = {.position = trends_position(trends) + 8};
            if (busy)
                trends_apply(trends, &nothing, now_s, now_s);
            expect(trends, now_s, turns[i].sums[0], turns[i].sums[1], turns[i].sums[2]);
        }
        assert_int_equal(stats_of(trends).boards, busy ? 0 : 1);
        trends_free(trends);
    }
}

static void test_a_clock_that_falls(void **state)
{
    (void)state;
    struct trends *trends = boards(MIB(1), 0);
    add(trends, START_S, START_S, 5);
    add(trends, START_S - 7200, START_S - 7200, 2); /* counts as of the latest */
    expect(trends, START_S - 7200, 7, 7, 7);
    expect(trends, START_S, 7, 7, 7);
    add(trends, START_S + 4000, START_S - 3000, 1); /* as decisions go on at the time they had */
    expect(trends, START_S + 4000, 1, 8, 8);
    assert_true(stats_of(trends).exact);
    trends_free(trends);
}

static void test_events_from_the_far_future(void **state)
{
    (void)state;
    struct trends *trends = boards(MIB(1), 0);
    add(trends, START_S, START_S, 5);
    add(trends, UINT32_MAX, START_S + 10, 2);
    expect(trends, START_S + 10, 7, 7, 7);
    add(trends, UINT32_MAX, START_S + 3900, 1);
    expect(trends, START_S + 3900, 1, 8, 8);
    add(trends, START_S + 4000 + TREND_AHEAD_S, START_S + 4000, 3); /* just believed */
    expect(trends, START_S + 4000, 3, 3, 11);
    assert_int_equal(stats_of(trends).since_s, 0);
    trends_free(trends);
}

/* The machine's clock was years ahead, then was put right: nothing stands still until then. */
static void test_a_clock_that_was_ahead(void **state)
{
    (void)state;
    const uint32_t ahead_s = START_S + 4000 * DAY_S;
    struct trends *trends = boards(MIB(1), 0);
    add(trends, START_S, START_S, 5);
    add(trends, ahead_s, ahead_s, 2);
    expect(trends, ahead_s, 2, 2, 2);
    add(trends, ahead_s, START_S + 60, 3); /* decisions do not go back */
    expect(trends, START_S + 60, 3, 3, 3);
    assert_int_equal(stats_of(trends).since_s, START_S + 60);
    assert_false(stats_of(trends).exact);
    add(trends, ahead_s, START_S + 4000, 4);
    expect(trends, START_S + 4000, 4, 7, 7);
    add(trends, ahead_s, START_S + 60 + 7 * DAY_S, 1);
    assert_true(stats_of(trends).exact);
    trends_free(trends);
}

static void test_nothing_is_counted_twice(void **state)
{
    (void)state;
    struct trends *trends = boards(MIB(64), 0);
    struct trends *often = boards(MIB(64), 0);
    uint32_t time_s = START_S;
    for (int i = 0; i < 300; i++) {
        const struct store_changes *changes = model_next(&model, 100, time_s);
        struct store_changes older = *changes;
        trends_apply(trends, changes, time_s, time_s);
        for (uint32_t times = 1 + chance_below(&model.chance, 4); times > 0; times--)
            trends_apply(often, changes, time_s, time_s);
        older.position -= chance_below(&model.chance, 8);
        trends_apply(often, &older, time_s + 7200, time_s + 7200);
        time_s += chance_below(&model.chance, 400);
    }
    model_expect(&model, trends, time_s);
    model_expect(&model, often, time_s);
    assert_int_equal(stats_of(trends).items, stats_of(often).items);
    trends_free(trends);
    trends_free(often);
}

/* Sums past 64 bits come back as long as the total fits. */
static void test_huge_changes(void **state)
{
    (void)state;
    struct trends *trends = boards(MIB(1), 0);
    add(trends, START_S, START_S, INT64_MAX);
    add(trends, START_S + 300, START_S + 300, INT64_MAX);
    add(trends, START_S + 4000, START_S + 4000, -INT64_MAX);
    add(trends, START_S + 8000, START_S + 8000, -5);
    int64_t value;
    assert_int_equal(top(trends, TREND_DAY, START_S + 8000, &value), 1);
    assert_int_equal(value, INT64_MAX - 5);
    add(trends, START_S + 8000, START_S + 8000, INT64_MIN + 5);
    assert_int_equal(top(trends, TREND_HOUR, START_S + 8000, &value), 0);
    trends_free(trends);
}

/* Many boards with many items: memory keeps to its bound, and what is refused is said. */
static void test_memory_is_bounded(void **state)
{
    (void)state;
    const uint64_t memory = KIB(200);
    struct trends *trends = boards(memory, 0);
    struct store_count count = {0};
    struct store_changes changes = {.item.counts = &count, .item.count_count = 1};
    struct ranked found[LIMIT_TREND_TOP];
    size_t found_count;
    uint32_t time_s = START_S;
    for (uint32_t i = 0; i < 200000; i++) {
        count.item.type = (uint16_t)chance_below(&model.chance, 1 + i / 1000);
        count.name = (uint8_t)chance_below(&model.chance, LIMIT_NAMES);
        count.item.id.lo = chance_below(&model.chance, 500);
        count.value = 1;
        if (i < 50000) { /* few boards and many items first */
            count.item.type = (uint16_t)chance_below(&model.chance, 3);
            count.name = 0;
            count.item.id.lo = i;
        }
        if (i == 199999) /* the board that is asked for below */
            count = (struct store_count){.item = {{0, 1}, 199}, .name = 3, .value = 1};
        changes.position += 40;
        time_s += chance_below(&model.chance, 3);
        trends_apply(trends, &changes, time_s, time_s);
        if (i % 100 == 0)
            trends_top(trends, 0, count.name, TREND_WEEK, time_s, found, LIMIT_TREND_TOP,
                       &found_count);
        assert_true(memory_used(&budget) <= memory);
    }
    struct trend_stats stats = stats_of(trends);
    print_message("%u boards, %u refused, %llu items, %llu pruned\n", stats.boards, stats.refused,
                  (unsigned long long)stats.items, (unsigned long long)stats.pruned);
    assert_true(stats.boards > 0 && stats.refused > 0 && stats.pruned > 0 && !stats.exact);
    assert_true(stats.bytes <= memory && stats.bytes_max <= memory);
    assert_int_equal(stats.bytes, memory_used(&budget));
    assert_int_equal(
        trends_top(trends, 199, 3, TREND_HOUR, time_s, found, LIMIT_TREND_TOP, &found_count),
        STATUS_TREND_REFUSED);
    assert_int_equal(trends_top(trends, 1000, 3, TREND_HOUR, time_s, found, 5, &found_count),
                     STATUS_OK);
    assert_int_equal(found_count, 0);
    for (int i = 1; i < 3; i++) { /* all of that is over: one that was refused begins */
        count = (struct store_count){.item = {{0, 8}, 199}, .name = 3, .value = 6};
        changes.position += 40;
        time_s += 8 * DAY_S;
        trends_apply(trends, &changes, time_s, time_s);
        assert_int_equal(trends_top(trends, 199, 3, TREND_HOUR, time_s, found, 5, &found_count),
                         STATUS_OK);
        assert_int_equal(found_count, 1);
        assert_int_equal(found[0].value, 6);
        assert_int_equal(stats_of(trends).boards, 1);
        assert_int_equal(stats_of(trends).refused, 0);
        assert_true(stats_of(trends).exact);
    }
    trends_free(trends);
}

/* The budget of the process may be spent when the boards' own share is not. */
static void test_no_memory_at_all(void **state)
{
    (void)state;
    struct trends *trends = boards(MIB(64), 0);
    struct ranked found[8];
    size_t count;
    uint32_t time_s = START_S;
    for (int i = 0; i < 50; i++, time_s += 200)
        trends_apply(trends, model_next(&model, 200, time_s), time_s, time_s);
    uint64_t before = memory_used(&budget);
    budget.limit = before;
    assert_int_equal(trends_top(trends, 0, 0, TREND_DAY, time_s, found, 8, &count),
                     STATUS_NO_MEMORY);
    for (int i = 0; i < 200; i++, time_s += 200) {
        trends_apply(trends, model_next(&model, 200, time_s), time_s, time_s);
        assert_true(memory_used(&budget) <= before);
    }
    assert_false(stats_of(trends).exact);
    budget.limit = GIB(1);
    assert_int_equal(trends_top(trends, 0, 0, TREND_DAY, time_s, found, 8, &count), STATUS_OK);
    assert_int_equal(trends_position(trends), model.position);
    trends_free(trends);
    budget.limit = KIB(1);
    const struct trend_options options = {.budget = &budget, .memory = MIB(1)};
    assert_null(trends_new(&options));
}

static void count_one(struct trends *trends, uint8_t name, uint32_t time_s)
{
    struct store_count count = {.item = {.id.lo = 5, .type = 1}, .name = name, .value = 3};
    struct store_changes changes = {
        .item.counts = &count, .item.count_count = 1, .position = trends_position(trends) + 40};
    trends_apply(trends, &changes, time_s, time_s);
}

/* A board that lost all it had is not one on which nothing happened. */
static void test_what_was_lost_is_remembered(void **state)
{
    (void)state;
    struct trends *trends = boards(MIB(64), 0);
    uint32_t time_s = START_S / DAY_S * DAY_S;
    count_one(trends, 0, time_s);
    assert_true(stats_of(trends).exact);
    budget.limit = memory_used(&budget);
    count_one(trends, 0, time_s + TREND_SLICE_S); /* no slice to carry to, and none to count in */
    budget.limit = GIB(1);
    assert_false(stats_of(trends).exact);
    count_one(trends, 1, time_s + 2 * 3600);
    assert_false(stats_of(trends).exact);
    count_one(trends, 1, time_s + 6 * DAY_S);
    assert_false(stats_of(trends).exact);
    count_one(trends, 1, time_s + 8 * DAY_S); /* no window has it any more */
    assert_true(stats_of(trends).exact);
    assert_int_equal(stats_of(trends).boards, 1);
    trends_free(trends);
}

static void test_beginning_anew(void **state)
{
    (void)state;
    struct trends *trends = boards(MIB(64), 0);
    uint64_t empty = memory_used(&budget);
    struct ranked found[8];
    size_t count;
    for (int i = 0; i < 50; i++)
        trends_apply(trends, model_next(&model, 200, START_S), START_S, START_S);
    model_expect(&model, trends, START_S);
    trends_begin(trends, 4711, START_S);
    assert_int_equal(memory_used(&budget), empty);
    assert_int_equal(trends_position(trends), 4711);
    assert_int_equal(trends_top(trends, 0, 0, TREND_DAY, START_S, found, 8, &count), STATUS_OK);
    assert_int_equal(count, 0);
    assert_int_equal(stats_of(trends).since_s, START_S);
    assert_false(stats_of(trends).exact);
    trends_free(trends);
    trends_free(NULL);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_exact_over_weeks),       CASE(test_pruned_within_bounds),
        CASE(test_zeros_go_first),         CASE(test_slices_turn),
        CASE(test_a_clock_that_falls),     CASE(test_events_from_the_far_future),
        CASE(test_a_clock_that_was_ahead), CASE(test_nothing_is_counted_twice),
        CASE(test_huge_changes),           CASE(test_memory_is_bounded),
        CASE(test_no_memory_at_all),       CASE(test_what_was_lost_is_remembered),
        CASE(test_beginning_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

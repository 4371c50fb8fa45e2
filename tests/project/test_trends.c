/*
 * The windowed boards behind the projector: each event is counted once and in its own slice,
 * whatever is refused, repeated, saved or not saved on the way.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "journal/helper.h"
#include "project/catch_up.h"
#include "stage.h"
#include "strict_store.h"

static char directory[64];
static struct stage stage;

static int setup(void **state)
{
    (void)state;
    directory_make(directory);
    stage_open(&stage, directory, test_seed(), DURABILITY_COMMIT, strict_store_open());
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    stage_close(&stage);
    assert_int_equal(memory_used(&stage.budget), 0);
    directory_remove(directory);
    return 0;
}

static struct catch_up how(struct trends *trends)
{
    return (struct catch_up){.window = {.source = stage.source,
                                        .budget = &stage.budget,
                                        .events_max = 77,
                                        .token_ttl_s = 60},
                             .trends = trends,
                             .now_s = stage.world.now_s};
}

/* What is on disk is enough to have the boards again. */
static void expect_recoverable(uint64_t saved)
{
    const struct trend_options options = {.budget = &stage.budget, .memory = MIB(4)};
    struct trends *trends = trends_new(&options);
    char problem[256] = "";
    assert_int_equal(trends_load(trends, stage.trend_path, problem, sizeof problem), STATUS_OK);
    assert_int_equal(trends_position(trends), saved);
    world_expect_trends(stage.seed, saved, trends);
    const struct catch_up all = how(trends);
    uint64_t position = store_position(&stage.store->applier);
    if (catch_up_trends(&all, position, problem, sizeof problem) != STATUS_OK)
        fail_msg("%s", problem);
    world_expect_trends(stage.seed, position, trends);
    trends_free(trends);
}

static void test_follows_the_store(void **state)
{
    (void)state;
    struct projector_options options = stage_options(&stage);
    options.checkpoint_bytes = KIB(40);
    options.window_events = 100000; /* nothing ends a window but its slice */
    struct projector *projector = stage_projector(&options);
    for (int i = 0; i < 6; i++) {
        stage_append(&stage, 9000);
        stage_wait_durable(&stage);
        stage_run(projector);
        world_expect_trends(stage.seed, stage.world.position, stage.trends);
        if (i > 0)
            expect_recoverable(projector_saved(projector));
    }
    struct projector_stats stats;
    projector_stats(projector, &stats);
    uint32_t slices = stage.world.now_s / TREND_SLICE_S - 1000000 / TREND_SLICE_S;
    assert_in_range(stats.windows, slices + 1, slices + 1 + 6);
    projector_free(projector);
}

/* A time that falls ends no window, and counts as the newest there was. */
static void test_times_that_fall(void **state)
{
    (void)state;
    static const uint32_t times[] = {9000, 8000, 9100, 10, 9299, 9300, 9299, 9300, 9600};
    struct projector_options options = stage_options(&stage);
    struct projector *projector = stage_projector(&options);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        struct event event = {
            .type = EVENT_ADD, .time_s = times[i], .item = {{0, 5}, 1}, .name = 6, .delta = 1};
        stage_append_event(&stage, &event);
    }
    stage_wait_durable(&stage);
    stage_run(projector);
    struct projector_stats stats;
    projector_stats(projector, &stats);
    assert_int_equal(stats.windows, 3);
    struct ranked found[1];
    size_t count;
    static const struct {
        uint32_t now_s;
        int64_t sum;
    } expected[] = {{9600, 9}, {9000 + 3600, 4}, {9300 + 3600, 1}};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(
            trends_top(stage.trends, 1, 6, TREND_HOUR, expected[i].now_s, found, 1, &count),
            STATUS_OK);
        assert_int_equal(found[0].value, expected[i].sum);
    }
    projector_free(projector);
}

static void test_what_the_store_refuses_is_not_counted(void **state)
{
    (void)state;
    struct projector_options options = stage_options(&stage);
    struct projector *projector = stage_projector(&options);
    stage_append(&stage, 80);
    stage_wait_durable(&stage);
    strict_store_refuse_apply(stage.store, STATUS_DISK_FULL, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(projector_step(projector), STEP_WAIT);
        assert_int_equal(trends_position(stage.trends), 0);
    }
    stage_run(projector);
    world_expect_trends(stage.seed, stage.world.position, stage.trends);
    projector_free(projector);
}

/* Without the file, the journal stays from where the last one stands. */
static void test_boards_not_saved(void **state)
{
    (void)state;
    struct projector_options options = stage_options(&stage);
    options.checkpoint_bytes = KIB(20);
    struct projector *projector = stage_projector(&options);
    struct projector_stats stats;
    struct journal_stats journal;
    stage_append(&stage, 1000);
    stage_wait_durable(&stage);
    stage_run(projector);
    uint64_t saved = projector->trend_position;
    assert_true(saved > 0);
    projector->options.trend_path = "/nowhere/at/all";
    stage_append(&stage, 9000);
    stage_wait_durable(&stage);
    stage_run(projector);
    projector_stats(projector, &stats);
    journal_stats(stage.journal, &journal);
    assert_int_equal(stats.checkpoint, saved);
    assert_true(projector->filter_position > saved && journal.first <= saved);
    expect_recoverable(saved);
    projector->options.trend_path = stage.trend_path;
    stage_append(&stage, 1000);
    stage_wait_durable(&stage);
    stage_run(projector);
    journal_stats(stage.journal, &journal);
    assert_true(journal.first > saved);
    expect_recoverable(projector->trend_position);
    projector_free(projector);
}

static void test_without_boards(void **state)
{
    (void)state;
    struct projector_options options = stage_options(&stage);
    options.checkpoint_bytes = KIB(20);
    options.trends = NULL;
    struct projector *projector = stage_projector(&options);
    struct journal_stats journal;
    stage_append(&stage, 9000);
    stage_wait_durable(&stage);
    stage_run(projector);
    journal_stats(stage.journal, &journal);
    assert_true(journal.first > 0);
    assert_int_equal(trends_position(stage.trends), 0);
    assert_int_not_equal(access(stage.trend_path, F_OK), 0);
    char problem[256] = ""; /* the journal does not go back so far any more */
    const struct catch_up all = how(stage.trends);
    assert_int_not_equal(
        catch_up_trends(&all, store_position(&stage.store->applier), problem, sizeof problem),
        STATUS_OK);
    assert_true(problem[0] != '\0');
    projector_free(projector);
}

/* Taken along with the store, or with filters that stand for the same position. */
static void test_catching_up(void **state)
{
    (void)state;
    char problem[256] = "";
    const struct catch_up all = how(stage.trends);
    stage_append(&stage, 3000);
    stage_wait_durable(&stage);
    uint64_t half = stage.world.position;
    stage_append(&stage, 3000);
    stage_wait_durable(&stage);
    uint64_t end = stage.world.position;
    assert_int_equal(
        catch_up_store(&all, &stage.store->applier, stage.filters, half, problem, sizeof problem),
        STATUS_OK);
    world_expect_trends(stage.seed, half, stage.trends);
    struct filters *filters = filters_new(&stage.budget, 3);
    assert_int_equal(catch_up_filters(&all, filters, 0, half, problem, sizeof problem), STATUS_OK);
    world_expect_trends(stage.seed, half, stage.trends); /* they were there already */
    assert_int_equal(catch_up_filters(&all, filters, half, end, problem, sizeof problem),
                     STATUS_OK);
    world_expect_trends(stage.seed, end, stage.trends);
    filters_free(filters);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_follows_the_store),
        CASE(test_times_that_fall),
        CASE(test_what_the_store_refuses_is_not_counted),
        CASE(test_boards_not_saved),
        CASE(test_without_boards),
        CASE(test_catching_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

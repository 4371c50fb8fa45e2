/*
 * The projector step by step against a strict store: what it applies, what it reports, when the journal may be
 * removed, and what it does when the store refuses. test_projector_thread.c has the thread.
 */
#include <stdio.h>

#include "filter/filters_priv.h"
#include "projector_test.h"

static void expect_caught_up(struct projector *projector)
{
    struct projector_stats stats;
    projector_stats(projector, &stats);
    assert_int_equal(stats.state, PROJECTOR_OK);
    assert_string_equal(stats.sentence, "ok");
    assert_int_equal(stats.position, stage.world.position);
    assert_int_equal(stats.events, stage.world.events);
    assert_int_equal(stats.lag_bytes, 0);
    assert_int_equal(stats.lag_events, 0);
    assert_int_equal(stats.lag_ms, 0);
    assert_int_equal(stage.moved, stage.world.position);
    world_expect_store(&stage.world, stage.store);
    world_expect_filters(&stage.world, stage.filters);
    struct filter_stats live;
    struct filter_stats known;
    struct store_stats store;
    filters_stats(stage.filters, &live, &known);
    store_stats(&stage.store->admin, &store);
    assert_int_equal(live.keys, store.reactions);
}

static void project_windows(void)
{
    struct projector_options options = stage_options(&stage);
    struct projector *projector = stage_projector(&options);
    assert_int_equal(projector_step(projector), STEP_IDLE);
    uint64_t windows = 0;
    for (uint64_t events = 1; events < 700; events = events * 3 + 1) {
        stage_append(&stage, events);
        stage_wait_durable(&stage);
        stage_run(projector);
        windows += (events + options.window_events - 1) / options.window_events;
        expect_caught_up(projector);
    }
    struct projector_stats stats;
    projector_stats(projector, &stats);
    assert_int_equal(stats.windows, windows);
    assert_int_equal(stats.checkpoints, 0);
    projector_free(projector);
}

static void test_windows(void **state)
{
    (void)state;
    open_stage(DURABILITY_COMMIT);
    project_windows();
    struct journal_stats journal;
    journal_stats(stage.journal, &journal);
    assert_in_range(strict_store_applied(stage.store), journal.events / 100, journal.events);
}

static uint64_t moves(void)
{
    struct filters_move_stats stats;
    filters_move_stats(stage.filters, &stats);
    return stats.moves;
}

/* Filters that are outgrown at once come into one segment between windows, and never amid one. */
static void test_filters_are_tidied_between_windows(void **state)
{
    (void)state;
    open_stage(DURABILITY_COMMIT);
    filters_free(stage.filters);
    stage.filters = filters_new_small(&stage.budget, 99, 4);
    struct projector_options options = stage_options(&stage);
    struct projector *projector = stage_projector(&options);
    struct filter_stats live, known;
    stage_append(&stage, 500);
    stage_wait_durable(&stage);
    strict_store_refuse_apply(stage.store, STATUS_DISK_FULL, 1);
    assert_int_equal(projector_step(projector), STEP_WAIT);
    projector_tidy(projector, false);
    assert_int_equal(moves(), 0);
    stage_run(projector);
    filters_stats(stage.filters, &live, &known);
    assert_true(live.segments > 1);
    assert_int_equal(projector_checkpoint(projector), STEP_MOVED);
    assert_false(projector_has_unsaved(projector));
    for (int i = 0; i < 20 && moves() == 0; i++) {
        projector->tidy_next_ns = 0;
        projector_tidy(projector, false);
    }
    assert_int_equal(moves(), 1);
    assert_true(projector_has_unsaved(projector)); /* though no event is */
    assert_int_equal(projector_checkpoint(projector), STEP_MOVED);
    assert_false(projector_has_unsaved(projector));
    for (int i = 0; i < 20; i++) {
        projector->tidy_next_ns = 0;
        projector_tidy(projector, i % 2 == 0);
        stage_append(&stage, 50);
        stage_wait_durable(&stage);
        stage_run(projector);
        world_expect_filters(&stage.world, stage.filters);
    }
    assert_true(moves() > 0);
    projector->tidy_next_ns = UINT64_MAX; /* not yet */
    uint64_t before = moves();
    projector_tidy(projector, false);
    assert_int_equal(moves(), before);
    expect_caught_up(projector);
    projector_free(projector);
}

static void test_windows_memory(void **state)
{
    (void)state;
    open_stage_memory(DURABILITY_COMMIT);
    project_windows();
}

static void test_like_and_unlike_writes_nothing(void **state)
{
    (void)state;
    open_stage(DURABILITY_COMMIT);
    struct projector_options options = stage_options(&stage);
    struct projector *projector = stage_projector(&options);
    struct event event = {.type = EVENT_SET, .time_s = 5, .user = {.lo = 1}, .item = {{0, 2}, 0}};
    stage_append_event(&stage, &event);
    event.type = EVENT_CLEAR;
    stage_append_event(&stage, &event);
    stage_wait_durable(&stage);
    stage_run(projector);
    assert_int_equal(strict_store_rows(stage.store), 0);
    assert_int_equal(store_position(&stage.store->applier), journal_durable(stage.journal));
    assert_int_equal(stage.moved, journal_durable(stage.journal));
    projector_free(projector);
}

/* Another projector goes on where the store is. */
static void test_goes_on(void **state)
{
    (void)state;
    open_stage(DURABILITY_COMMIT);
    struct projector_options options = stage_options(&stage);
    stage_append(&stage, 450);
    stage_wait_durable(&stage);
    for (int i = 0; i < 3; i++) {
        struct projector *projector = stage_projector(&options);
        assert_int_equal(projector_step(projector), STEP_MOVED);
        projector_free(projector);
    }
    assert_int_equal(strict_store_applied(stage.store), 3);
    struct projector *projector = stage_projector(&options);
    stage_run(projector);
    assert_int_equal(strict_store_applied(stage.store), 5);
    world_expect_store(&stage.world, stage.store);
    world_expect_filters(&stage.world, stage.filters);
    projector_free(projector);
}

static void test_checkpoints(void **state)
{
    (void)state;
    open_stage(DURABILITY_COMMIT);
    struct projector_options options = stage_options(&stage);
    options.checkpoint_bytes = KIB(20);
    struct projector *projector = stage_projector(&options);
    struct projector_stats stats;
    struct journal_stats journal;
    struct store_stats store;
    for (int i = 0; i < 40; i++) {
        stage_append(&stage, 500);
        stage_wait_durable(&stage);
        stage_run(projector);
        projector_stats(projector, &stats);
        store_stats(&stage.store->admin, &store);
        assert_int_equal(stats.checkpoint, store.durable);
        assert_true(stats.checkpoint <= stats.position);
        assert_true(stats.position - stats.checkpoint < options.checkpoint_bytes);
        expect_recoverable(stats.checkpoint);
    }
    journal_stats(stage.journal, &journal);
    assert_true(journal.first > 0);
    assert_true(stats.checkpoints > 20);
    expect_caught_up(projector);
    projector_free(projector);
}

static void test_journal_may_be_kept(void **state)
{
    (void)state;
    open_stage(DURABILITY_COMMIT);
    struct projector_options options = stage_options(&stage);
    options.checkpoint_bytes = KIB(20);
    options.keep_journal = true;
    struct projector *projector = stage_projector(&options);
    stage_append(&stage, 8000);
    stage_wait_durable(&stage);
    stage_run(projector);
    struct journal_stats journal;
    journal_stats(stage.journal, &journal);
    assert_int_equal(journal.first, 0);
    assert_true(journal.segments > 2);
    projector_free(projector);
}

/* What is kept beyond need is at least the history, and at most a segment more. */
static void test_journal_has_a_history(void **state)
{
    (void)state;
    open_stage(DURABILITY_COMMIT);
    struct projector_options options = stage_options(&stage);
    options.checkpoint_bytes = KIB(20);
    options.history_bytes = KIB(100);
    struct projector *projector = stage_projector(&options);
    stage_append(&stage, 12000);
    stage_wait_durable(&stage);
    stage_run(projector);
    struct journal_stats journal;
    journal_stats(stage.journal, &journal);
    uint64_t saved = projector_saved(projector);
    assert_true(saved > KIB(200));
    assert_true(journal.first > 0 && journal.first + options.history_bytes <= saved);
    assert_true(journal.first + options.history_bytes + 2 * SMALL_SEGMENT > saved);
    projector_free(projector);
}

struct staged {
    unsigned calls;
    uint64_t position;
    uint64_t first; /* of the journal during the call */
};

static void note_staged(void *context, uint64_t position)
{
    struct staged *staged = context;
    struct journal_stats journal;
    journal_stats(stage.journal, &journal);
    staged->calls++;
    staged->position = position;
    staged->first = journal.first;
}

/* A requested checkpoint is made at once, and calls back once; others do not. */
static void test_checkpoint_on_request(void **state)
{
    (void)state;
    struct staged staged = {.calls = 0};
    open_stage(DURABILITY_COMMIT);
    struct projector_options options = stage_options(&stage);
    options.checkpoint_bytes = KIB(20);
    options.staged = note_staged;
    options.context = &staged;
    options.moved = NULL;
    options.save = NULL;
    options.failed = NULL;
    struct projector *projector = stage_projector(&options);
    stage_append(&stage, 3000);
    stage_wait_durable(&stage);
    stage_run(projector);
    assert_int_equal(staged.calls, 0);
    uint64_t made = projector->stats.checkpoints;
    projector_request_checkpoint(projector);
    strict_store_refuse_flush(stage.store, STATUS_DISK_FULL, 1);
    assert_int_equal(projector_step(projector), STEP_WAIT);
    assert_int_equal(staged.calls, 0);
    assert_int_equal(projector_step(projector), STEP_IDLE);
    assert_int_equal(staged.calls, 1);
    assert_int_equal(staged.position, stage.world.position);
    assert_true(staged.first <= staged.position);
    assert_int_equal(projector->stats.checkpoints, made + 1);
    assert_int_equal(projector_step(projector), STEP_IDLE);
    assert_int_equal(staged.calls, 1);
    assert_int_equal(projector->stats.checkpoints, made + 1);
    projector_free(projector);
}

/* Without a filter file, the journal stays from where the last one stands. */
static void test_filters_not_saved(void **state)
{
    (void)state;
    open_stage(DURABILITY_COMMIT);
    struct projector_options options = stage_options(&stage);
    options.checkpoint_bytes = KIB(20);
    struct projector *projector = stage_projector(&options);
    stage_append(&stage, 1000);
    stage_wait_durable(&stage);
    stage_run(projector);
    uint64_t saved = projector->filter_position;
    assert_true(saved > 0);
    projector->options.filter_path = "/nowhere/at/all";
    stage_append(&stage, 9000);
    stage_wait_durable(&stage);
    stage_run(projector);
    struct projector_stats stats;
    projector_stats(projector, &stats);
    assert_int_equal(stats.checkpoint, saved);
    expect_recoverable(saved);
    expect_caught_up(projector);
    projector->options.filter_path = stage.filter_path;
    stage_append(&stage, 1000);
    stage_wait_durable(&stage);
    stage_run(projector);
    projector_stats(projector, &stats);
    assert_true(stats.checkpoint > saved);
    struct journal_stats journal;
    journal_stats(stage.journal, &journal);
    assert_true(journal.first > 0);
    expect_recoverable(stats.checkpoint);
    projector_free(projector);
}

/* A full disk: the same window again, and the filters are told once only. */
static void test_disk_full(void **state)
{
    (void)state;
    open_stage(DURABILITY_COMMIT);
    struct projector_options options = stage_options(&stage);
    options.checkpoint_bytes = KIB(1);
    struct projector *projector = stage_projector(&options);
    struct projector_stats stats;
    stage_append(&stage, 250);
    stage_wait_durable(&stage);
    strict_store_refuse_apply(stage.store, STATUS_DISK_FULL, 3);
    strict_store_refuse_flush(stage.store, STATUS_DISK_FULL, 2);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(projector_step(projector), STEP_WAIT);
        projector_stats(projector, &stats);
        assert_int_equal(stats.state, PROJECTOR_DISK_FULL);
        assert_non_null(strstr(stats.sentence, "disk"));
        assert_int_equal(stats.position, 0);
        assert_int_equal(stage.moved_calls, 1);
    }
    assert_true(stats.lag_bytes > 0);
    assert_int_equal(projector_step(projector), STEP_MOVED);
    uint64_t position = store_position(&stage.store->applier);
    for (int i = 0; i < 2; i++) { /* applied, then not flushed */
        assert_int_equal(projector_step(projector), STEP_WAIT);
        projector_stats(projector, &stats);
        assert_int_equal(stats.position, position);
        assert_int_equal(stats.state, PROJECTOR_DISK_FULL);
        assert_non_null(strstr(stats.sentence, "disk"));
        assert_int_equal(stats.checkpoint, 0);
    }
    stage_run(projector);
    expect_caught_up(projector);
    projector_stats(projector, &stats);
    assert_true(stats.checkpoint > 0);
    projector_free(projector);
}

static unsigned failures;

static void note_failure(void *context, const char *why)
{
    assert_ptr_equal(context, &stage);
    assert_non_null(strstr(why, "events could not be written to the store"));
    failures++;
}

static void test_store_fails(void **state)
{
    (void)state;
    open_stage(DURABILITY_COMMIT);
    struct projector_options options = stage_options(&stage);
    options.failed = note_failure;
    struct projector *projector = stage_projector(&options);
    struct projector_stats stats;
    stage_append(&stage, 250);
    stage_wait_durable(&stage);
    assert_int_equal(projector_step(projector), STEP_MOVED);
    uint64_t position = store_position(&stage.store->applier);
    strict_store_refuse_apply(stage.store, STATUS_IO_FAILED, 1);
    assert_int_equal(failures, 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(projector_step(projector), STEP_FAILED);
        projector_stats(projector, &stats);
        assert_non_null(strstr(stats.sentence, "events could not be written to the store"));
        assert_int_equal(stats.position, position);
        assert_int_equal(store_position(&stage.store->applier), position);
    }
    assert_int_equal(stage.moved_calls, 2); /* once moved, once failed */
    assert_int_equal(failures, 1);
    projector_free(projector);
}

static void test_flush_fails(void **state)
{
    (void)state;
    open_stage(DURABILITY_COMMIT);
    struct projector_options options = stage_options(&stage);
    options.checkpoint_bytes = 1;
    struct projector *projector = stage_projector(&options);
    struct projector_stats stats;
    stage_append(&stage, 250);
    stage_wait_durable(&stage);
    strict_store_refuse_flush(stage.store, STATUS_IO_FAILED, 1);
    assert_int_equal(projector_step(projector), STEP_MOVED);
    assert_int_equal(projector_step(projector), STEP_FAILED);
    assert_int_equal(projector_step(projector), STEP_FAILED);
    projector_stats(projector, &stats);
    assert_int_equal(stats.state, PROJECTOR_FAILED);
    assert_non_null(strstr(stats.sentence, "could not be flushed"));
    assert_int_equal(stats.checkpoint, 0);
    assert_int_not_equal(access(stage.filter_path, F_OK), 0);
    projector_free(projector);
}

static void test_contradiction(void **state)
{
    (void)state;
    open_stage(DURABILITY_COMMIT);
    struct projector_options options = stage_options(&stage);
    struct projector *projector = stage_projector(&options);
    struct projector_stats stats;
    struct event event = {.type = EVENT_SET, .time_s = 5, .user = {.lo = 1}, .item = {{0, 2}, 0}};
    stage_append_event(&stage, &event);
    stage_append_event(&stage, &event);
    stage_wait_durable(&stage);
    assert_int_equal(projector_step(projector), STEP_FAILED);
    projector_stats(projector, &stats);
    assert_non_null(strstr(stats.sentence, "position 32 "));
    assert_int_equal(store_position(&stage.store->applier), 0);
    projector_free(projector);
}

static uint64_t test_wall_ms;

static uint64_t test_wall(void)
{
    return test_wall_ms;
}

static void test_lag(void **state)
{
    (void)state;
    open_stage(DURABILITY_COMMIT);
    struct projector_options options = stage_options(&stage);
    struct projector *projector = stage_projector(&options);
    struct projector_stats stats;
    test_wall_ms = (uint64_t)stage.world.now_s * 1000;
    projector->wall_ms = test_wall;
    assert_int_equal(projector_step(projector), STEP_IDLE);
    test_wall_ms += 700;
    projector_stats(projector, &stats);
    assert_int_equal(stats.lag_ms, 0);
    stage_append(&stage, 150);
    stage_wait_durable(&stage);
    projector_stats(projector, &stats);
    assert_int_equal(stats.lag_ms, 700); /* at most so old: nothing was there when it looked last */
    assert_int_equal(stats.lag_bytes, stage.world.position);
    assert_in_range(stats.lag_events, 100, 250);
    assert_int_equal(projector_step(projector), STEP_MOVED);
    test_wall_ms = (uint64_t)stage.world.now_s * 1000 + 5000;
    projector_stats(projector, &stats);
    assert_in_range(stats.lag_ms, 5000, 30000); /* by the time of the event that waits */
    assert_in_range(stats.lag_events, 30, 70);
    stage_run(projector);
    projector_stats(projector, &stats);
    assert_int_equal(stats.lag_ms, 0);
    projector_free(projector);
}

/* What waits when it begins is as old as it is. */
static void test_lag_at_start(void **state)
{
    (void)state;
    open_stage(DURABILITY_COMMIT);
    stage_append(&stage, 1);
    uint64_t first_ms = (uint64_t)stage.world.now_s * 1000;
    stage_append(&stage, 1000);
    stage_wait_durable(&stage);
    struct projector_options options = stage_options(&stage);
    struct projector_stats stats;
    struct projector *projector = stage_projector(&options);
    projector->wall_ms = test_wall;
    test_wall_ms = (uint64_t)stage.world.now_s * 1000 + 5000;
    projector_stats(projector, &stats);
    assert_int_equal(stats.lag_ms, test_wall_ms - first_ms);
    stage_run(projector);
    expect_caught_up(projector);
    projector_free(projector);
}

static void test_little_memory(void **state)
{
    (void)state;
    open_stage(DURABILITY_COMMIT);
    struct projector_options options = stage_options(&stage);
    options.trends = NULL;
    options.window_events = 100000;
    uint64_t limit = stage.budget.limit;
    stage.budget.limit = memory_used(&stage.budget) + KIB(18); /* the least, and no growing */
    struct projector *projector = stage_projector(&options);
    stage_append(&stage, 3000);
    stage_wait_durable(&stage);
    stage_run(projector);
    assert_true(strict_store_applied(stage.store) > 3);
    expect_caught_up(projector);
    projector_free(projector);
    stage.budget.limit = limit;
}

static void test_cannot_start(void **state)
{
    (void)state;
    open_stage(DURABILITY_COMMIT);
    struct projector_options options = stage_options(&stage);
    options.trends = NULL;
    char problem[256] = "";
    stage_append(&stage, 10);
    stage_wait_durable(&stage);
    const struct store_changes ahead = {.position = GIB(1)};
    assert_int_equal(store_apply(&stage.store->applier, &ahead), STATUS_OK);
    assert_null(projector_start(&options, problem, sizeof problem));
    assert_true(problem[0] != '\0');
    uint64_t limit = stage.budget.limit;
    stage.budget.limit = 0;
    assert_null(projector_start(&options, problem, sizeof problem));
    assert_non_null(strstr(problem, "memory"));
    stage.budget.limit = limit;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_windows),
        CASE(test_windows_memory),
        CASE(test_filters_are_tidied_between_windows),
        CASE(test_like_and_unlike_writes_nothing),
        CASE(test_goes_on),
        CASE(test_checkpoints),
        CASE(test_journal_may_be_kept),
        CASE(test_journal_has_a_history),
        CASE(test_checkpoint_on_request),
        CASE(test_filters_not_saved),
        CASE(test_disk_full),
        CASE(test_store_fails),
        CASE(test_flush_fails),
        CASE(test_contradiction),
        CASE(test_lag),
        CASE(test_lag_at_start),
        CASE(test_little_memory),
        CASE(test_cannot_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

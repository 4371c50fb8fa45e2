/* The projector as the thread that it is: it keeps up, it can be asked to reach a position, and it stops. */
#include "projector_test.h"

static void thread_test(enum durability durability)
{
    struct projector_options options = stage_options(&stage);
    options.checkpoint_bytes = KIB(50);
    struct projector *projector = stage_start(&options);
    for (int i = 0; i < 30; i++) {
        stage_append(&stage, 200);
        stage_wait_moved(&stage, stage.world.position);
    }
    stage_append(&stage, 1000);
    if (durability == DURABILITY_COMMIT)
        stage_wait_durable(&stage);
    else
        stage_wait_moved(&stage, stage.world.position);
    projector_stop(projector);
    assert_int_equal(stage.moved, stage.world.position);
    world_expect_store(&stage.world, stage.store);
    world_expect_filters(&stage.world, stage.filters);
    struct store_stats store;
    store_stats(&stage.store->admin, &store);
    assert_int_equal(store.durable, stage.world.position);
    expect_recoverable(stage.world.position);
}

/* Long windows: nothing but being asked makes it begin one. */
static void test_thread_can_be_asked_to_reach(void **state)
{
    (void)state;
    open_stage_memory(DURABILITY_NONE);
    struct projector_options options = stage_options(&stage);
    options.window_ms = 600000;
    options.window_events = 1 << 20;
    struct projector *projector = stage_start(&options);
    for (int i = 0; i < 20; i++) {
        stage_append(&stage, 50);
        uint64_t position = journal_appended(stage.journal);
        assert_true(projector_reach(projector, position, 60000));
        assert_true(store_position(&stage.store->applier) >= position);
        assert_true(projector_reach(projector, position, 0));
    }
    assert_false(projector_reach(projector, journal_appended(stage.journal) + 1, 5));
    projector_stop(projector);
}

static void test_thread(void **state)
{
    (void)state;
    open_stage(DURABILITY_COMMIT);
    thread_test(DURABILITY_COMMIT);
}

static void test_thread_memory(void **state)
{
    (void)state;
    open_stage_memory(DURABILITY_COMMIT);
    thread_test(DURABILITY_COMMIT);
}

/* Nobody syncs but at the projector's wish. */
static void test_thread_asks_for_syncs(void **state)
{
    (void)state;
    open_stage(DURABILITY_NONE);
    thread_test(DURABILITY_NONE);
}

/* Whatever the durability, what was appended is in the store after a stop. */
static void test_thread_stops_with_all_applied(void **state)
{
    (void)state;
    open_stage(DURABILITY_NONE);
    struct projector_options options = stage_options(&stage);
    options.window_ms = 3600000;
    struct projector *projector = stage_start(&options);
    stage_append(&stage, 50);
    projector_stop(projector);
    assert_int_equal(store_position(&stage.store->applier), stage.world.position);
    world_expect_store(&stage.world, stage.store);
    struct store_stats stats;
    store_stats(&stage.store->admin, &stats);
    assert_int_equal(stats.durable, stage.world.position);
}

static void test_thread_stops_after_failing(void **state)
{
    (void)state;
    open_stage(DURABILITY_COMMIT);
    struct projector_options options = stage_options(&stage);
    strict_store_refuse_apply(stage.store, STATUS_IO_FAILED, UINT32_MAX);
    struct projector *projector = stage_start(&options);
    stage_append(&stage, 10);
    pthread_mutex_lock(&stage.lock);
    while (stage.moved_calls == 0)
        pthread_cond_wait(&stage.heard, &stage.lock);
    pthread_mutex_unlock(&stage.lock);
    struct projector_stats stats;
    projector_stats(projector, &stats);
    assert_non_null(strstr(stats.sentence, "could not be written"));
    projector_stop(projector);
    assert_int_not_equal(access(stage.filter_path, F_OK), 0);
}

static void test_thread_stops_on_a_full_disk(void **state)
{
    (void)state;
    open_stage(DURABILITY_COMMIT);
    struct projector_options options = stage_options(&stage);
    strict_store_refuse_apply(stage.store, STATUS_DISK_FULL, UINT32_MAX);
    stage_append(&stage, 10);
    stage_wait_durable(&stage);
    struct projector *projector = stage_start(&options);
    projector_stop(projector);
    assert_int_equal(store_position(&stage.store->applier), 0);
    assert_int_not_equal(access(stage.filter_path, F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_thread_can_be_asked_to_reach),
        CASE(test_thread),
        CASE(test_thread_memory),
        CASE(test_thread_asks_for_syncs),
        CASE(test_thread_stops_with_all_applied),
        CASE(test_thread_stops_after_failing),
        CASE(test_thread_stops_on_a_full_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

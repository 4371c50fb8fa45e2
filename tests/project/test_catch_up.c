/* A store and its filters brought to the journal's end at a start: window by window, told, or stopped. */
#include "project/catch_up.h"

#include "journal/helper.h"
#include "stage.h"
#include "strict_store.h"

static char directory[64];
static struct stage stage;

static int setup(void **state)
{
    (void)state;
    directory_make(directory);
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

struct progress {
    uint64_t calls;
    uint64_t last;
    uint64_t end;
    uint64_t stop_at; /* it says to give up then; 0: never */
};

static bool note_progress(void *context, uint64_t position, uint64_t end)
{
    struct progress *progress = context;
    assert_true(position > progress->last);
    progress->calls++;
    progress->last = position;
    progress->end = end;
    return progress->calls != progress->stop_at;
}

static void test_catch_up(void **state)
{
    (void)state;
    stage_open(&stage, directory, test_seed(), DURABILITY_COMMIT, strict_store_open());
    struct progress progress = {0};
    const struct catch_up how = {.window = {.source = stage.source,
                                            .budget = &stage.budget,
                                            .events_max = 100,
                                            .token_ttl_s = 60,
                                            .changes_ttl_s = WORLD_CHANGES_TTL_S},
                                 .progress = note_progress,
                                 .context = &progress};
    char problem[256] = "";
    assert_int_equal(
        catch_up_store(&how, &stage.store->applier, stage.filters, 0, problem, sizeof problem),
        STATUS_OK);
    assert_int_equal(progress.calls, 0);
    stage_append(&stage, 1950);
    stage_wait_durable(&stage);
    uint64_t end = stage.world.position;
    strict_store_refuse_apply(stage.store, STATUS_DISK_FULL, 1);
    assert_int_equal(
        catch_up_store(&how, &stage.store->applier, NULL, end, problem, sizeof problem),
        STATUS_DISK_FULL);
    assert_true(problem[0] != '\0');
    progress.stop_at = 3;
    assert_int_equal(
        catch_up_store(&how, &stage.store->applier, stage.filters, end, problem, sizeof problem),
        STATUS_STOPPING);
    assert_int_equal(progress.calls, 3);
    assert_int_equal(store_position(&stage.store->applier), progress.last);
    assert_int_equal(
        catch_up_store(&how, &stage.store->applier, stage.filters, end, problem, sizeof problem),
        STATUS_OK);
    assert_in_range(progress.calls, 20, 22); /* a slice may end one early */
    assert_int_equal(progress.last, end);
    assert_int_equal(progress.end, end);
    world_expect_store(&stage.world, stage.store);
    world_expect_filters(&stage.world, stage.filters);
    assert_int_not_equal(
        catch_up_store(&how, &stage.store->applier, NULL, end + GIB(1), problem, sizeof problem),
        STATUS_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_catch_up, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

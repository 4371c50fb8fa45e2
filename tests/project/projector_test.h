/*
 * What the tests of the projector share: a stage in a directory of its own, with a strict store or the store
 * in memory.
 */
#ifndef LAUD_PROJECT_PROJECTOR_TEST_H
#define LAUD_PROJECT_PROJECTOR_TEST_H

#include <string.h>
#include <unistd.h>

#include "journal/helper.h"
#include "project/catch_up.h"
#include "stage.h"
#include "store/memory/store_memory.h"
#include "strict_store.h"

static char directory[64];
static struct stage stage;

static struct memory_budget store_budget = {.limit = MIB(64)};

static void open_stage(enum durability durability)
{
    stage_open(&stage, directory, test_seed(), durability, strict_store_open());
}

static void open_stage_memory(enum durability durability)
{
    struct store *store = store_memory_open(&store_budget);
    assert_non_null(store);
    stage_open(&stage, directory, test_seed(), durability, store);
}

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
    assert_int_equal(memory_used(&store_budget), 0);
    directory_remove(directory);
    return 0;
}

/* What is on disk is enough to have everything again: file and journal reach to each other. */
static void expect_recoverable(uint64_t filter_position)
{
    struct filters *filters = filters_new(&stage.budget, 1);
    char problem[256] = "";
    uint64_t from = 0;
    enum status status =
        filters_load(filters, stage.filter_path, &from, NULL, NULL, problem, sizeof problem);
    if (filter_position == 0)
        assert_int_equal(status, STATUS_MORE);
    else
        assert_int_equal(status, STATUS_OK);
    assert_int_equal(from, filter_position);
    struct journal_stats stats;
    journal_stats(stage.journal, &stats);
    assert_true(stats.first <= filter_position);
    const struct catch_up how = {
        .window = {.source = stage.source, .budget = &stage.budget, .events_max = 77}};
    status = catch_up_filters(&how, filters, from, store_position(&stage.store->applier), problem,
                              sizeof problem);
    if (status != STATUS_OK)
        fail_msg("%s", problem);
    world_expect_filters(&stage.world, filters);
    filters_free(filters);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif

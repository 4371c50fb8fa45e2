/*
 * Lists while everything moves: one thread sets and clears, one projects, and meanwhile lists are
 * walked as an I/O thread and worker would. What nobody touches is in each walk exactly once, and
 * every page is in order.
 */
#include "support.h"

enum { STABLE = 60, MOVING = 40, PAGE = 7, TYPE = 1 };

static struct bed bed;
static _Atomic bool ended;
static const struct id user = {.lo = 5};

static void change_as_worker(enum hot_action action, uint32_t number, uint32_t time_s,
                             struct hot_scratch *scratch)
{
    struct item item = {id_number(number), TYPE};
    struct hot_request request = {
        .action = action, .user = user, .items = &item, .item_count = 1, .time_s = time_s};
    if (hot_try(bed.hot, &request, 1, scratch) == 0)
        hot_memory_run_blocking(bed.hot, 1, &request, 1, scratch);
    if (request.status != STATUS_OK)
        abort();
}

static void *changer(void *argument)
{
    struct chance chance = {*(const uint64_t *)argument};
    struct hot_scratch scratch = {0};
    for (uint32_t time_s = 100; !atomic_load(&ended); time_s += chance_below(&chance, 2))
        change_as_worker(chance_below(&chance, 2) ? HOT_SET : HOT_CLEAR,
                         STABLE + chance_below(&chance, MOVING), time_s, &scratch);
    return NULL;
}

static void *projecting(void *argument)
{
    (void)argument;
    while (!atomic_load(&ended))
        bed_project_all(&bed);
    return NULL;
}

static uint32_t stable_number(struct id id)
{
    for (uint32_t i = 0; i < STABLE; i++)
        if (id_equal(id_number(i), id))
            return i;
    return STABLE;
}

static void walk(struct hot_scratch *scratch)
{
    uint8_t seen[STABLE] = {0};
    struct hot_request request = {
        .action = HOT_LIST_REACTIONS, .user = user, .list.type = TYPE, .list.limit = PAGE};
    do {
        scratch->listed_used = 0;
        if (hot_try(bed.hot, &request, 1, scratch) == 0)
            hot_memory_run_blocking(bed.hot, 0, &request, 1, scratch);
        assert_int_equal(request.status, STATUS_OK);
        for (uint32_t i = 0; i < request.list.count; i++) {
            struct store_listed listed = scratch->listed[request.list.first + i];
            if (request.list.after.time_s != 0)
                assert_true(store_listed_order(request.list.after, listed) < 0);
            request.list.after = listed;
            if (stable_number(listed.id) < STABLE)
                seen[stable_number(listed.id)]++;
        }
    } while (request.list.more);
    for (uint32_t i = 0; i < STABLE; i++)
        assert_int_equal(seen[i], 1);
}

static void test_walks_while_all_moves(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    struct hot_memory_options options = bed_options();
    options.shelf_max = 24;
    bed_open_stored(&bed, GIB(1), options);
    bed.changes_ttl_s = 100; /* what was cleared must not pile up: it never ends */
    struct hot_scratch scratch = {0};
    for (uint32_t i = 0; i < STABLE; i++)
        change_as_worker(HOT_SET, i, 10 + i / 4, &scratch);
    pthread_t threads[2];
    crew_start(threads, (crew_fn *const[]){changer, projecting}, 2, &seed);
    for (uint64_t i = test_operations(2000); i > 0; i--)
        walk(&scratch);
    atomic_store(&ended, true);
    crew_join(threads, 2);
    free(scratch.listed);
    bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_walks_while_all_moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Threads that serve beside others that ask: run under the thread sanitizer, this shows that nothing
 * is read while it is written. Meters are read at the same time, and never fall.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "chance.h"
#include "metrics/hotkeys.h"
#include "metrics/meter.h"

#define SERVERS 3
#define BATCHES 4000
#define BATCH   32
#define HOT     42

static struct memory_budget budget = {.limit = MIB(64)};
static struct hotkeys *hotkeys;
static struct meter meters[SERVERS];
static _Atomic uint64_t now_ns;
static _Atomic unsigned serving;

static void *serve(void *context)
{
    unsigned number = (unsigned)(uintptr_t)context;
    struct chance chance = {number};
    for (int i = 0; i < BATCHES; i++) {
        struct item items[BATCH];
        struct hot_request requests[BATCH];
        for (uint32_t k = 0; k < BATCH; k++) {
            uint64_t id = k % 2 == 0 ? HOT : chance_next(&chance);
            items[k] = (struct item){.id = {.lo = id}};
            requests[k] =
                (struct hot_request){.user = {.lo = id}, .items = &items[k], .item_count = 1};
        }
        uint64_t now = atomic_fetch_add(&now_ns, 1000000);
        hotkeys_offer(hotkeys, number, requests, BATCH, 1, BATCH, BATCH, now);
        meter_ran(&meters[number], 0, 1000, BATCH);
        meter_failed(&meters[number], 0, STATUS_LAGGING, i % 2 == 0);
    }
    atomic_fetch_sub(&serving, 1);
    return NULL;
}

static uint64_t read_meters(struct meter_total *total)
{
    *total = (struct meter_total){0};
    for (int i = 0; i < SERVERS; i++)
        meter_read(&meters[i], total);
    return buckets_count(&total->operations[0].times);
}

static void serving_and_asking(void **state)
{
    (void)state;
    pthread_t threads[SERVERS];
    static struct hotkeys_top top;
    static struct meter_total total;
    uint64_t before = 0;
    hotkeys = hotkeys_new(SERVERS, test_seed(), 0, &budget);
    assert_non_null(hotkeys);
    atomic_store(&serving, SERVERS);
    for (uintptr_t i = 0; i < SERVERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, serve, (void *)i), 0);
    while (atomic_load(&serving) > 0) {
        assert_int_equal(hotkeys_top(hotkeys, atomic_load(&now_ns), &top), STATUS_OK);
        uint64_t ran = read_meters(&total);
        assert_true(ran >= before);
        before = ran;
    }
    for (int i = 0; i < SERVERS; i++)
        pthread_join(threads[i], NULL);
    uint64_t end_ns = atomic_load(&now_ns) + HOTKEYS_KEEP_NS;
    assert_int_equal(hotkeys_top(hotkeys, end_ns, &top), STATUS_OK);
    assert_int_equal(top.items[0].item.id.lo, HOT);
    assert_int_equal(top.users[0].item.id.lo, HOT);
    assert_int_equal(read_meters(&total), (uint64_t)SERVERS * BATCHES * BATCH);
    assert_int_equal(total.operations[0].failed, SERVERS * BATCHES / 2);
    assert_int_equal(total.operations[0].refused, SERVERS * BATCHES / 2);
    assert_int_equal(total.statuses[STATUS_LAGGING], SERVERS * BATCHES);
    hotkeys_free(hotkeys);
    assert_int_equal(memory_used(&budget), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(serving_and_asking)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

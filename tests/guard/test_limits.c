/* Rates and bursts against a model, a full table, threads; time is whatever the test says. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "chance.h"
#include "guard/limits.h"

#define SECOND 1000000000ULL
#define START  (1000 * SECOND)
#define TABLE  KIB(256)

static struct memory_budget budget;
static const uint64_t seed[2] = {0x1234, 0x5678};

static bool shared = true;

static int by_one_thread(void **state)
{
    (void)state;
    shared = false;
    return 0;
}

static int by_many_again(void **state)
{
    (void)state;
    shared = true;
    return 0;
}

static void begin(struct limits *limits)
{
    budget = (struct memory_budget){.limit = MIB(64)};
    limits_init(limits, seed, shared, &budget);
}

static struct limit_rates rates_of(enum limit_by by, uint64_t per_s, uint64_t burst)
{
    struct limit_rates rates = {.dry_run = false};
    rates.by[by][0] = rates.by[by][1] = (struct rate){per_s, burst};
    return rates;
}

static struct limit_ask ask_of(enum limit_by by, uint64_t who)
{
    struct limit_ask ask = {.known = 1U << by};
    ask.who[by].lo = who;
    return ask;
}

/* One request of a connection that asks no more. */
static uint64_t take_by(struct limits *limits, const struct limit_ask *ask, bool writes,
                        uint64_t now_ns, enum limit_by *by)
{
    struct limit_lease leases[LIMIT_BY_TOTAL] = {{.left = 0}};
    uint64_t wait_ns = limits_take(limits, limits_active(limits), ask, writes, now_ns, leases, by);
    limits_return(limits, leases);
    return wait_ns;
}

static uint64_t take(struct limits *limits, enum limit_by by, uint64_t who, bool writes,
                     uint64_t now_ns)
{
    struct limit_ask ask = ask_of(by, who);
    enum limit_by refused = LIMIT_BY_TOTAL;
    uint64_t wait_ns = take_by(limits, &ask, writes, now_ns, &refused);
    assert_int_equal(refused, wait_ns > 0 ? by : LIMIT_BY_TOTAL);
    return wait_ns;
}

static void without_rates_nothing_is_kept(void **state)
{
    (void)state;
    struct limits limits;
    struct limit_rates none = {.dry_run = false};
    begin(&limits);
    assert_int_equal(limits_active(&limits), 0);
    assert_true(limits_set(&limits, &none, TABLE));
    assert_int_equal(limits_active(&limits), 0);
    assert_int_equal(memory_used(&budget), 0);
    limits_free(&limits);
}

/* A bucket of `burst` tokens that fills by one an interval, in exact nanoseconds. */
struct bucket {
    uint64_t interval_ns, burst;
    uint64_t level_ns; /* what is in it, as time */
    uint64_t at_ns;
};

static bool bucket_take(struct bucket *bucket, uint64_t now_ns)
{
    uint64_t full_ns = bucket->interval_ns * bucket->burst;
    bucket->level_ns += now_ns - bucket->at_ns;
    if (bucket->level_ns > full_ns)
        bucket->level_ns = full_ns;
    bucket->at_ns = now_ns;
    if (bucket->level_ns < bucket->interval_ns)
        return false;
    bucket->level_ns -= bucket->interval_ns;
    return true;
}

static void every_arrival_is_judged_as_a_bucket_of_tokens_would(void **state)
{
    (void)state;
    static const struct rate rates[] = {
        {1, 1}, {1, 100}, {3, 2}, {1000, 10}, {LIMIT_RATE, LIMIT_RATE}};
    struct chance chance = {test_seed()};
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        struct limits limits;
        begin(&limits);
        struct limit_rates set = rates_of(LIMIT_BY_USER, rates[i].per_s, rates[i].burst);
        assert_true(limits_set(&limits, &set, TABLE));
        uint64_t interval_ns = SECOND / rates[i].per_s, now_ns = START;
        struct bucket buckets[5];
        for (size_t who = 0; who < 5; who++)
            buckets[who] =
                (struct bucket){interval_ns, rates[i].burst, interval_ns * rates[i].burst, now_ns};
        for (unsigned step = 0; step < 40000; step++) {
            uint64_t most_ns = chance_below(&chance, 100) == 0 ? 3 * interval_ns * rates[i].burst
                                                               : interval_ns / 2;
            now_ns += chance_next(&chance) % (most_ns + 1);
            uint64_t who = chance_below(&chance, 5);
            bool passes = bucket_take(&buckets[who], now_ns);
            uint64_t wait_ns = take(&limits, LIMIT_BY_USER, who, false, now_ns);
            assert_int_equal(wait_ns == 0, passes);
            if (!passes)
                assert_int_equal(wait_ns, interval_ns - buckets[who].level_ns);
        }
        limits_free(&limits);
        assert_int_equal(memory_used(&budget), 0);
    }
}

static void the_wait_that_is_told_is_the_wait_that_helps(void **state)
{
    (void)state;
    struct limits limits;
    begin(&limits);
    struct limit_rates rates = rates_of(LIMIT_BY_IP, 10, 3);
    assert_true(limits_set(&limits, &rates, TABLE));
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(take(&limits, LIMIT_BY_IP, 1, true, START), 0);
    uint64_t wait_ns = take(&limits, LIMIT_BY_IP, 1, true, START);
    assert_int_equal(wait_ns, SECOND / 10);
    assert_int_equal(take(&limits, LIMIT_BY_IP, 1, true, START + wait_ns - 1), 1);
    assert_int_equal(take(&limits, LIMIT_BY_IP, 1, true, START + wait_ns), 0);
    assert_true(take(&limits, LIMIT_BY_IP, 1, true, START + wait_ns) > 0);
    limits_free(&limits);
}

static void reads_writes_and_dimensions_do_not_touch_each_other(void **state)
{
    (void)state;
    struct limits limits;
    struct limit_rates rates = {.dry_run = false};
    begin(&limits);
    for (unsigned by = 0; by < LIMIT_BY_TOTAL; by++)
        rates.by[by][0] = rates.by[by][1] = (struct rate){1, 1};
    assert_true(limits_set(&limits, &rates, TABLE));
    for (enum limit_by by = LIMIT_BY_IP; by < LIMIT_BY_TOTAL; by++) {
        for (int writes = 0; writes < 2; writes++) {
            assert_int_equal(take(&limits, by, 7, writes, START), 0);
            assert_true(take(&limits, by, 7, writes, START) > 0);
        }
    }
    limits_free(&limits);
}

static void what_one_limit_refuses_is_taken_of_none(void **state)
{
    (void)state;
    struct limits limits;
    struct limit_rates rates = rates_of(LIMIT_BY_IP, 1, 5);
    rates.by[LIMIT_BY_DEVICE][0] = (struct rate){1, 1};
    begin(&limits);
    assert_true(limits_set(&limits, &rates, TABLE));
    struct limit_ask ask = {.known = 7};
    ask.who[LIMIT_BY_IP].lo = 1;
    ask.who[LIMIT_BY_DEVICE].lo = 2;
    enum limit_by by = LIMIT_BY_TOTAL;
    assert_int_equal(take_by(&limits, &ask, false, START, &by), 0);
    for (unsigned i = 0; i < 1000; i++) {
        assert_true(take_by(&limits, &ask, false, START, &by) > 0);
        assert_int_equal(by, LIMIT_BY_DEVICE);
    }
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(take(&limits, LIMIT_BY_IP, 1, false, START), 0);
    assert_true(take(&limits, LIMIT_BY_IP, 1, false, START) > 0);
    limits_free(&limits);
}

/* Far more keys than cells, all made up: one that is held back stays so. */
static void a_full_table_keeps_those_that_are_held_back(void **state)
{
    (void)state;
    struct limits limits;
    struct limit_rates rates = rates_of(LIMIT_BY_USER, 10, 100);
    begin(&limits);
    assert_true(limits_set(&limits, &rates, KIB(64)));
    uint64_t used = memory_used(&budget), cells = limits_cells(&limits);
    assert_in_range(used, 1, KIB(64));
    uint64_t bot_ns = START;
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(take(&limits, LIMIT_BY_USER, 1, false, bot_ns), 0);
    for (uint64_t i = 0; i < 100 * cells; i++)
        assert_int_equal(take(&limits, LIMIT_BY_USER, 1000 + i, false, START), 0);
    assert_true(take(&limits, LIMIT_BY_USER, 1, false, bot_ns) > 0);
    assert_int_equal(atomic_load(&limits.cells_used), cells);
    assert_true(atomic_load(&limits.cells_lost) > 0);
    assert_int_equal(memory_used(&budget), used);
    limits_free(&limits);
}

static void no_memory_changes_nothing(void **state)
{
    (void)state;
    struct limits limits;
    struct limit_rates rates = rates_of(LIMIT_BY_USER, 10, 100);
    begin(&limits);
    budget.limit = KIB(32);
    assert_false(limits_set(&limits, &rates, KIB(64)));
    assert_int_equal(limits_active(&limits), 0);
    assert_int_equal(memory_used(&budget), 0);
    limits_free(&limits);
}

static void a_new_rate_holds_at_once(void **state)
{
    (void)state;
    struct limits limits;
    struct limit_rates slow = rates_of(LIMIT_BY_USER, 1, 1000), none = {.dry_run = false};
    struct limit_rates fast = rates_of(LIMIT_BY_USER, 1000, 10);
    begin(&limits);
    assert_true(limits_set(&limits, &slow, TABLE));
    for (unsigned i = 0; i < 1000; i++)
        assert_int_equal(take(&limits, LIMIT_BY_USER, 1, false, START), 0);
    assert_int_equal(take(&limits, LIMIT_BY_USER, 1, false, START), SECOND);
    assert_true(limits_set(&limits, &fast, TABLE));
    assert_int_equal(take(&limits, LIMIT_BY_USER, 1, false, START), SECOND / 1000);
    assert_true(limits_set(&limits, &none, TABLE));
    assert_int_equal(limits_active(&limits), 0);
    assert_int_equal(take(&limits, LIMIT_BY_USER, 1, false, START), 0);
    limits_free(&limits);
}

#define THREADS 4
#define ROUNDS  20000

struct taker {
    struct limits *limits;
    uint64_t passed;
};

/* All threads take of the same few keys, at the same moment. */
static void *take_many(void *context)
{
    struct taker *taker = context;
    for (uint64_t i = 0; i < ROUNDS; i++) {
        struct limit_ask ask = ask_of(LIMIT_BY_USER, i % 8);
        enum limit_by by;
        taker->passed += take_by(taker->limits, &ask, false, START, &by) == 0;
    }
    return NULL;
}

static void threads_share_a_burst_exactly(void **state)
{
    (void)state;
    struct limits limits;
    struct limit_rates rates = rates_of(LIMIT_BY_USER, 1, 1000);
    struct taker takers[THREADS];
    pthread_t threads[THREADS];
    begin(&limits);
    assert_true(limits_set(&limits, &rates, TABLE));
    for (unsigned i = 0; i < THREADS; i++) {
        takers[i] = (struct taker){.limits = &limits};
        assert_int_equal(pthread_create(&threads[i], NULL, take_many, &takers[i]), 0);
    }
    for (unsigned i = 0; i < 200; i++)
        assert_true(limits_set(&limits, &rates, TABLE)); /* while they take */
    uint64_t passed = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        passed += takers[i].passed;
    }
    assert_int_equal(passed, 8 * 1000);
    limits_free(&limits);
}

/* However requests of one address are spread over runs of connections, a burst is a burst. */
static void leases_take_no_more_than_a_burst(void **state)
{
    (void)state;
    struct limits limits;
    struct limit_rates rates = rates_of(LIMIT_BY_IP, 1, 100);
    rates.by[LIMIT_BY_USER][0] = rates.by[LIMIT_BY_USER][1] = (struct rate){1, 3};
    struct limit_lease leases[LIMIT_BY_TOTAL] = {{.left = 0}};
    enum limit_by by = LIMIT_BY_TOTAL;
    begin(&limits);
    assert_true(limits_set(&limits, &rates, TABLE));
    uint32_t active = limits_active(&limits), passed[2][2] = {{0}};
    struct limit_ask ask = {.known = 3};
    for (unsigned i = 0; i < 4000; i++) {
        unsigned address = i / 3 % 2, writes = i / 7 % 2;
        ask.who[LIMIT_BY_IP].lo = address;
        ask.who[LIMIT_BY_USER].lo = 1000 + i;
        passed[address][writes] +=
            limits_take(&limits, active, &ask, writes, START, leases, &by) == 0;
        if (i % 5 == 0)
            limits_return(&limits, leases);
    }
    limits_return(&limits, leases);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(passed[i / 2][i % 2], 100);
    limits_free(&limits);
}

/* One that its user's limit refuses leaves its address what it had, in a lease or out of it. */
static void a_refusal_goes_back_into_the_lease(void **state)
{
    (void)state;
    struct limits limits;
    struct limit_rates rates = rates_of(LIMIT_BY_IP, 1, 40);
    rates.by[LIMIT_BY_USER][0] = (struct rate){1, 3};
    struct limit_lease leases[LIMIT_BY_TOTAL] = {{.left = 0}};
    enum limit_by by = LIMIT_BY_TOTAL;
    begin(&limits);
    assert_true(limits_set(&limits, &rates, TABLE));
    uint32_t active = limits_active(&limits), passed = 0;
    struct limit_ask ask = {.known = 3};
    for (unsigned i = 0; i < 500; i++)
        passed += limits_take(&limits, active, &ask, false, START, leases, &by) == 0;
    assert_int_equal(passed, 3);
    assert_int_equal(by, LIMIT_BY_USER);
    limits_return(&limits, leases);
    for (unsigned i = 0; i < 40 - 3; i++)
        assert_int_equal(take(&limits, LIMIT_BY_IP, 0, false, START), 0);
    assert_int_equal(take(&limits, LIMIT_BY_IP, 0, false, START), SECOND);
    limits_free(&limits);
}

/* A rate a minute, for one user, beside the limit of all writes of the user. */
static void texts_have_a_rate_of_their_own(void **state)
{
    (void)state;
    struct limits limits;
    struct limit_rates rates = {.dry_run = false};
    rates.by[LIMIT_BY_COMMENT][1] = (struct rate){.per_s = 6, .burst = 2};
    rates.by[LIMIT_BY_USER][1] = (struct rate){.per_s = 1000, .burst = 1000};
    begin(&limits);
    assert_true(limits_set(&limits, &rates, TABLE));
    struct limit_ask like = ask_of(LIMIT_BY_USER, 7), text = like;
    text.known |= 1U << LIMIT_BY_COMMENT;
    text.who[LIMIT_BY_COMMENT].lo = 7;
    enum limit_by by = LIMIT_BY_TOTAL;
    assert_int_equal(take_by(&limits, &text, true, START, &by), 0);
    assert_int_equal(take_by(&limits, &text, true, START, &by), 0);
    assert_int_equal(take_by(&limits, &text, true, START, &by), 10 * SECOND);
    assert_int_equal(by, LIMIT_BY_COMMENT);
    assert_int_equal(take_by(&limits, &like, true, START, &by), 0);
    assert_int_equal(take_by(&limits, &text, false, START, &by), 0); /* it is no limit of reads */
    assert_true(take_by(&limits, &text, true, START + 10 * SECOND - 1, &by) > 0);
    assert_int_equal(take_by(&limits, &text, true, START + 10 * SECOND, &by), 0);
    text.who[LIMIT_BY_COMMENT].lo = text.who[LIMIT_BY_USER].lo = 8;
    assert_int_equal(take_by(&limits, &text, true, START, &by), 0);
    limits_free(&limits);
}

static void a_device_is_a_printable_word(void **state)
{
    (void)state;
    struct limits limits;
    struct id one, other;
    char text[LIMIT_DEVICE_LENGTH + 1];
    begin(&limits);
    memset(text, 'x', sizeof text);
    assert_true(limits_device(&limits, (struct text){"phone-1", 7}, &one));
    assert_true(limits_device(&limits, (struct text){"phone-2", 7}, &other));
    assert_false(id_equal(one, other));
    assert_true(limits_device(&limits, (struct text){"phone-1", 7}, &other));
    assert_true(id_equal(one, other));
    assert_true(limits_device(&limits, (struct text){text, LIMIT_DEVICE_LENGTH}, &one));
    assert_false(limits_device(&limits, (struct text){text, sizeof text}, &one));
    assert_false(limits_device(&limits, (struct text){"", 0}, &one));
    assert_false(limits_device(&limits, (struct text){"a b", 3}, &one));
    assert_false(limits_device(&limits, (struct text){"a\0b", 3}, &one));
    assert_false(limits_device(&limits, (struct text){"\xc3\xa4", 2}, &one));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_rates_nothing_is_kept),
        cmocka_unit_test(every_arrival_is_judged_as_a_bucket_of_tokens_would),
        cmocka_unit_test_setup_teardown(every_arrival_is_judged_as_a_bucket_of_tokens_would,
                                        by_one_thread, by_many_again),
        cmocka_unit_test_setup_teardown(leases_take_no_more_than_a_burst, by_one_thread,
                                        by_many_again),
        cmocka_unit_test(the_wait_that_is_told_is_the_wait_that_helps),
        cmocka_unit_test(reads_writes_and_dimensions_do_not_touch_each_other),
        cmocka_unit_test(what_one_limit_refuses_is_taken_of_none),
        cmocka_unit_test(a_full_table_keeps_those_that_are_held_back),
        cmocka_unit_test(no_memory_changes_nothing),
        cmocka_unit_test(a_new_rate_holds_at_once),
        cmocka_unit_test(threads_share_a_burst_exactly),
        cmocka_unit_test(leases_take_no_more_than_a_burst),
        cmocka_unit_test(a_refusal_goes_back_into_the_lease),
        cmocka_unit_test(texts_have_a_rate_of_their_own),
        cmocka_unit_test(a_device_is_a_printable_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

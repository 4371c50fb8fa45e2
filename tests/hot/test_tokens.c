#include "support.h"

enum { VIEW = 9, TTL_S = 100 };

static struct hot_memory_options token_options(uint64_t token_max)
{
    struct hot_memory_options options = bed_options();
    options.token_ttl_s = TTL_S;
    options.token_max = token_max;
    return options;
}

static struct hot_request token_request(const struct item *item, uint64_t token, uint32_t time_s)
{
    return (struct hot_request){.action = HOT_ADD,
                                .name = VIEW,
                                .items = item,
                                .item_count = 1,
                                .change.delta = 1,
                                .change.has_token = true,
                                .change.token = {token, token * 3},
                                .time_s = time_s};
}

static int64_t add(struct bed *bed, struct item item, uint64_t token, uint32_t time_s)
{
    struct hot_request request = token_request(&item, token, time_s);
    assert_int_equal(bed_run(bed, &request), STATUS_OK);
    return request.change.value;
}

/* Without a token. */
static void add_plainly(struct bed *bed, struct item item, uint32_t time_s)
{
    struct hot_request request = token_request(&item, 0, time_s);
    request.change.has_token = false;
    assert_int_equal(bed_run(bed, &request), STATUS_OK);
}

static uint64_t token_count(struct bed *bed)
{
    struct hot_stats stats;
    hot_collect(bed->hot, &stats);
    return stats.tokens;
}

static void test_a_token_adds_once(void **state)
{
    (void)state;
    struct bed bed;
    struct item item = item_number(1);
    bed_open(&bed, MIB(64), token_options(1000));
    assert_int_equal(add(&bed, item, 1, 1000), 1);
    assert_int_equal(add(&bed, item, 1, 1000), 1);
    assert_int_equal(add(&bed, item, 2, 1050), 2);
    assert_int_equal(add(&bed, item, 1, 1000 + TTL_S), 2);
    assert_int_equal(bed.recorder.count, 2);
    assert_int_equal(add(&bed, item, 1, 1001 + TTL_S), 3);
    assert_int_equal(add(&bed, item, 1, 1001 + TTL_S), 3);
    assert_int_equal(bed.recorder.count, 3);
    assert_true(bed.recorder.events[2].has_token);
    bed_close(&bed);
}

static void test_a_refused_or_empty_addition_keeps_no_token(void **state)
{
    (void)state;
    struct bed bed;
    struct item item = item_number(1);
    bed_open(&bed, MIB(64), token_options(1000));
    struct hot_request request = token_request(&item, 5, 1000);
    request.change.delta = 0;
    assert_int_equal(bed_run(&bed, &request), STATUS_OK);
    assert_int_equal(request.change.value, 0);
    request.change.delta = INT64_MAX;
    assert_int_equal(bed_run(&bed, &request), STATUS_OK);
    assert_true(request.change.value == INT64_MAX);
    request = token_request(&item, 6, 1000);
    assert_int_equal(bed_run(&bed, &request), STATUS_COUNTER_OVERFLOW);
    assert_int_equal(token_count(&bed), 1);
    request.change.delta = -1;
    assert_int_equal(bed_run(&bed, &request), STATUS_OK);
    assert_true(request.change.value == INT64_MAX - 1);
    bed_close(&bed);
}

static void test_time_that_goes_back(void **state)
{
    (void)state;
    struct bed bed;
    struct item item = item_number(1);
    bed_open(&bed, MIB(64), token_options(1000));
    assert_int_equal(add(&bed, item, 1, 100000), 1);
    /* a jitter between threads neither ages nor renews */
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(add(&bed, item, 1, 100000 - i % 2), 1);
    /* what is recorded does not go back with a time, and tokens go by that */
    assert_int_equal(add(&bed, item, 1, 100000 - 86400), 1);
    assert_int_equal(add(&bed, item, 2, 100000 - 86400), 2);
    assert_int_equal(bed.recorder.events[1].time_s, 100000);
    assert_int_equal(add(&bed, item, 1, 100000 + TTL_S), 2);
    assert_int_equal(add(&bed, item, 2, 100000 + TTL_S), 2);
    assert_int_equal(add(&bed, item, 1, 100000 + TTL_S + 1), 3);
    assert_int_equal(add(&bed, item, 2, 100000 + TTL_S + 1), 4);
    bed_close(&bed);
}

/*
 * Memory forgot tokens at a time that is never recorded, because the clock was ahead for a moment. What
 * comes in their place is recorded as of that time: else a start would find both, which do not fit.
 */
static void test_what_is_forgotten_stays_so(void **state)
{
    (void)state;
    enum { MOST = 500, AHEAD_S = 1001 + TTL_S };
    struct bed bed;
    struct hot_memory_options options = token_options(MOST);
    options.token_bytes = MOST * TOKEN_BYTES;
    bed_open_stored(&bed, MIB(64), options);
    for (uint32_t i = 0; i < MOST; i++)
        add(&bed, item_number(i), i, 1000);
    bed_keep(&bed, 1000);
    bed_keep(&bed, AHEAD_S);
    assert_int_equal(token_count(&bed), 0);
    for (uint32_t i = 0; i < MOST; i++)
        add(&bed, item_number(i), MOST + i, 1001);
    assert_int_equal(bed.recorder.events[MOST].time_s, AHEAD_S);
    bed_project_all(&bed);
    bed_flush(&bed);
    bed_crash(&bed, 1002);
    assert_int_equal(token_count(&bed), MOST);
    for (uint32_t i = 0; i < MOST; i++)
        assert_int_equal(add(&bed, item_number(i), MOST + i, 1002), 2);
    bed_close(&bed);
}

/* A fresh tier that replays what the other recorded. */
static void open_from_events(struct bed *again, const struct bed *bed, uint32_t count,
                             uint32_t now_s)
{
    bed_open_quiet(again, MIB(64), token_options(1000));
    assert_int_equal(hot_memory_apply(again->hot, bed->recorder.events, count, count, now_s),
                     STATUS_OK);
    hot_memory_set_journal(again->hot, &again->recorder.journal);
}

/*
 * The clock was ahead by far more than tokens are remembered, and is set right: what comes then is
 * remembered over a restart all the same, whether the store has it or only the journal.
 */
static void test_a_restart_after_time_went_back(void **state)
{
    (void)state;
    enum { AHEAD_S = 100000, NOW_S = AHEAD_S - 3600, CASES = 8 };
    for (unsigned i = 0; i < CASES; i++) {
        bool liked = i & 1, stored = i & 2, restarted = i & 4;
        struct bed bed;
        struct item item = item_number(1);
        bed_open_stored(&bed, MIB(64), token_options(1000));
        if (liked) /* who was ahead: a reaction, or an addition */
            bed_change(&bed, HOT_SET, id_number(1), 0, item, AHEAD_S);
        else
            add_plainly(&bed, item, AHEAD_S);
        if (restarted) { /* the clock was set right in between */
            bed_crash(&bed, NOW_S);
            bed_project_all(&bed);
        }
        int64_t value = add(&bed, item, 1, NOW_S);
        assert_int_equal(add(&bed, item, 1, NOW_S), value);
        if (stored) {
            bed_project_all(&bed);
            bed_flush(&bed);
        }
        bed_crash(&bed, NOW_S + 1);
        assert_int_equal(add(&bed, item, 1, NOW_S + 1), value);
        assert_int_equal(add(&bed, item, 2, NOW_S + 1), value + 1);
        bed_project_all(&bed);
        bed_flush(&bed);
        bed_crash(&bed, NOW_S + 2);
        assert_int_equal(add(&bed, item, 2, NOW_S + 2), value + 1);
        /* they age by what is recorded, in memory too */
        assert_int_equal(add(&bed, item, 2, AHEAD_S + TTL_S), value + 1);
        assert_int_equal(add(&bed, item, 2, AHEAD_S + TTL_S + 1), value + 2);
        bed_close(&bed);
    }
}

/* And forward: what was remembered before is as old as the clock says. */
static void test_a_restart_after_time_went_ahead(void **state)
{
    (void)state;
    struct bed bed;
    struct item item = item_number(1);
    bed_open_stored(&bed, MIB(64), token_options(1000));
    assert_int_equal(add(&bed, item, 1, 1000), 1);
    assert_int_equal(add(&bed, item, 2, 1000 + TTL_S), 2);
    bed_project_all(&bed);
    bed_flush(&bed);
    bed_crash(&bed, 1001 + TTL_S);
    assert_int_equal(add(&bed, item, 2, 1001 + TTL_S), 2);
    assert_int_equal(add(&bed, item, 1, 1001 + TTL_S), 3);
    assert_int_equal(add(&bed, item, 2, 1001 + 2 * TTL_S), 4);
    bed_close(&bed);
}

/* A request that waited for a worker brings an old time, while those of others are of now. */
static void test_a_late_request_ages_nothing(void **state)
{
    (void)state;
    struct bed bed;
    struct bed again;
    struct item item = item_number(1);
    bed_open(&bed, MIB(64), token_options(1000));
    assert_int_equal(add(&bed, item, 1, 100000), 1);
    for (uint32_t i = 0; i < 10; i++) {
        struct hot_request late = token_request(&item, 10 + i, 100000 - TTL_S + i);
        struct hot_scratch scratch = {0};
        hot_memory_run_blocking(bed.hot, 0, &late, 1, &scratch);
        assert_int_equal(late.status, STATUS_OK);
        assert_int_equal(add(&bed, item, 10 + i, 100000), 2 + i);
    }
    assert_int_equal(add(&bed, item, 1, 100001), 11);
    assert_int_equal(token_count(&bed), 11);
    open_from_events(&again, &bed, 11, 100001);
    assert_int_equal(add(&again, item, 1, 100001), 11);
    bed_close(&again);
    bed_close(&bed);
}

static void test_full_is_said_and_passes(void **state)
{
    (void)state;
    enum { MOST = 500 };
    struct bed bed;
    bed_open(&bed, MIB(64), token_options(MOST));
    for (uint32_t i = 0; i < MOST; i++)
        assert_int_equal(add(&bed, item_number(i), i, 1000), 1);
    struct item item = item_number(MOST);
    struct hot_request request = token_request(&item, MOST, 1001);
    assert_int_equal(bed_run(&bed, &request), STATUS_TOKENS_FULL);
    assert_int_equal(bed_count(&bed, item, VIEW), 0);
    assert_int_equal(token_count(&bed), MOST);
    assert_int_equal(bed.recorder.count, MOST);
    /* what is remembered still answers, and without a token there is no limit */
    assert_int_equal(add(&bed, item_number(3), 3, 1001), 1);
    request.change.has_token = false;
    assert_int_equal(bed_run(&bed, &request), STATUS_OK);
    /* expired tokens make room whatever shard they are in */
    for (uint32_t i = 0; i < MOST; i++)
        assert_int_equal(add(&bed, item, MOST + i, 1001 + TTL_S), 2 + i);
    assert_int_equal(token_count(&bed), MOST);
    bed_close(&bed);
}

static void test_many_tokens_on_one_item(void **state)
{
    (void)state;
    struct bed bed;
    struct item item = item_number(0);
    bed_open(&bed, MIB(64), token_options(20000));
    for (uint32_t i = 0; i < 20000; i++)
        assert_int_equal(add(&bed, item, i, 1000), i + 1);
    /* all expired: never too full, and let go of bit by bit */
    for (uint32_t i = 0; i < 20000; i++)
        assert_int_equal(add(&bed, item, i, 2000), 20001 + i);
    assert_int_equal(token_count(&bed), 20000);
    bed_close(&bed);
}

static void test_replay_leaves_old_tokens_out(void **state)
{
    (void)state;
    struct bed bed;
    struct bed again;
    struct item item = item_number(1);
    bed_open(&bed, MIB(64), token_options(1000));
    assert_int_equal(add(&bed, item, 1, 1000), 1);
    assert_int_equal(add(&bed, item, 2, 1050), 2);
    open_from_events(&again, &bed, 2, 1050 + TTL_S);
    assert_int_equal(token_count(&again), 1);
    assert_int_equal(add(&again, item, 2, 1050 + TTL_S), 2);
    assert_int_equal(add(&again, item, 1, 1050 + TTL_S), 3);
    bed_close(&again);
    bed_close(&bed);
}

/* A store gives them back in any order: each is remembered for what is left of its time. */
static void test_restored_in_any_order(void **state)
{
    (void)state;
    enum { COUNT = 500 };
    struct chance chance = {test_seed()};
    struct item item = item_number(1);
    struct bed bed;
    uint32_t times[COUNT];
    bed_open_quiet(&bed, MIB(64), token_options(1000));
    for (uint64_t i = 0; i < COUNT; i++) {
        times[i] = 1000 + chance_below(&chance, TTL_S * 2);
        assert_int_equal(
            hot_memory_restore_token(bed.hot, item, (uint64_t[2]){i, i * 3}, times[i], 0),
            STATUS_OK);
    }
    hot_memory_set_journal(bed.hot, &bed.recorder.journal);
    uint32_t now_s = 1000 + TTL_S * 2;
    int64_t value = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        now_s += i % 8 == 0;
        value += now_s - times[i] > TTL_S;
        assert_int_equal(add(&bed, item, i, now_s), value);
    }
    assert_true(value > 0 && value < COUNT);
    for (uint32_t i = 0; i < COUNT; i++) /* all expire */
        add(&bed, item, COUNT + i, now_s + TTL_S + 1);
    assert_int_equal(token_count(&bed), COUNT);
    bed_close(&bed);
}

/* Past their memory new ones are refused, whatever else --token-max would allow. */
static void test_tokens_have_their_share(void **state)
{
    (void)state;
    enum { MOST = 500 };
    struct bed bed;
    struct hot_memory_options options = token_options(MOST + 1);
    options.token_bytes = MOST * TOKEN_BYTES;
    bed_open_stored(&bed, MIB(64), options);
    for (uint32_t i = 0; i < MOST; i++)
        assert_int_equal(add(&bed, item_number(i), i, 1000), 1);
    struct item item = item_number(MOST);
    struct hot_request request = token_request(&item, MOST, 1000);
    assert_int_equal(bed_run(&bed, &request), STATUS_TOKENS_FULL);
    /* a start may find some more, but not any number */
    for (uint64_t i = MOST; i < MOST + MOST / 4; i++)
        assert_int_equal(hot_memory_restore_token(bed.hot, item, (uint64_t[2]){i, i * 3}, 1000, 0),
                         STATUS_OK);
    assert_int_equal(hot_memory_restore_token(bed.hot, item, (uint64_t[2]){7, 7}, 1000, 0),
                     STATUS_NO_MEMORY);
    assert_int_equal(add(&bed, item_number(3), 3, 1000), 1);
    bed_close(&bed);
}

/* One takes about as much memory as is said. */
static void test_the_memory_of_a_token(void **state)
{
    (void)state;
    enum { COUNT = 1000000 };
    struct bed bed;
    bed_open(&bed, GIB(1), token_options(COUNT));
    for (uint32_t i = 0; i < 1000; i++)
        add(&bed, item_number(i), i, 1000);
    uint64_t before = memory_used(&bed.budget);
    for (uint32_t i = 1000; i < COUNT; i++)
        add(&bed, item_number(i % 1000), i, 1000);
    uint64_t each = (memory_used(&bed.budget) - before) / (COUNT - 1000);
    print_message("%llu bytes a token\n", (unsigned long long)each);
    assert_true(each > TOKEN_BYTES / 2 && each <= TOKEN_BYTES);
    bed_close(&bed);
}

/* They go when their time is over, also if nobody adds anything any more. */
static void test_the_keeper_lets_tokens_go(void **state)
{
    (void)state;
    struct bed bed;
    bed_open_stored(&bed, MIB(64), token_options(1000));
    for (uint32_t i = 0; i < 500; i++)
        add(&bed, item_number(i), i, 1000 + i / 250);
    bed_keep(&bed, 1000 + TTL_S);
    bed_keep(&bed, 1001 + TTL_S);
    assert_int_equal(token_count(&bed), 250);
    bed_keep(&bed, 900); /* a clock that goes back forgets nothing, and keeps nothing longer */
    assert_int_equal(token_count(&bed), 250);
    bed_keep(&bed, 1002 + TTL_S);
    bed_keep(&bed, 1003 + TTL_S);
    assert_int_equal(token_count(&bed), 0);
    bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_token_adds_once),
        cmocka_unit_test(test_a_refused_or_empty_addition_keeps_no_token),
        cmocka_unit_test(test_time_that_goes_back),
        cmocka_unit_test(test_what_is_forgotten_stays_so),
        cmocka_unit_test(test_a_restart_after_time_went_back),
        cmocka_unit_test(test_a_restart_after_time_went_ahead),
        cmocka_unit_test(test_a_late_request_ages_nothing),
        cmocka_unit_test(test_full_is_said_and_passes),
        cmocka_unit_test(test_many_tokens_on_one_item),
        cmocka_unit_test(test_replay_leaves_old_tokens_out),
        cmocka_unit_test(test_restored_in_any_order),
        cmocka_unit_test(test_tokens_have_their_share),
        cmocka_unit_test(test_the_memory_of_a_token),
        cmocka_unit_test(test_the_keeper_lets_tokens_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

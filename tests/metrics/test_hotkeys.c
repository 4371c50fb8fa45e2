/* Hot keys against exact counts, with the time passed in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <math.h>

#include <cmocka.h>

#include "chance.h"
#include "metrics/hotkeys.h"
#include "op/op.h"

#define SECOND 1000000000ULL
#define START  (100 * SECOND)
#define LIKE   0 /* has a user */
#define COUNTS 1 /* has none */

static struct memory_budget budget = {.limit = MIB(64)};
static struct hotkeys *hotkeys;
static struct hotkeys_top top;

static void begin(unsigned threads)
{
    hotkeys = hotkeys_new(threads, test_seed(), START, &budget);
    assert_non_null(hotkeys);
}

static void end(void)
{
    hotkeys_free(hotkeys);
    assert_int_equal(memory_used(&budget), 0);
}

static void offer(unsigned thread, const struct hot_request *requests, uint32_t count,
                  uint64_t now_ns)
{
    uint64_t items = 0, users = 0;
    for (uint32_t i = 0; i < count; i++) {
        items += requests[i].item_count;
        users += requests[i].op == LIKE;
    }
    hotkeys_offer(hotkeys, thread, requests, count, 1 << LIKE, items, users, now_ns);
}

static void like(unsigned thread, uint64_t user, uint64_t id, uint64_t now_ns)
{
    struct item item = {.id = {.lo = id}};
    struct hot_request request = {
        .op = LIKE, .user = {.lo = user}, .items = &item, .item_count = 1};
    offer(thread, &request, 1, now_ns);
}

static void ask(uint64_t now_ns)
{
    assert_int_equal(hotkeys_top(hotkeys, now_ns, &top), STATUS_OK);
}

static void few_are_exact(void **state)
{
    (void)state;
    begin(2);
    ask(START);
    assert_int_equal(top.item_count, 0);
    assert_int_equal(top.user_count, 0);
    for (uint64_t i = 0; i < 60; i++)
        like(i % 2, i % 3, i % 2 == 0 ? 42 : i, START + SECOND);
    ask(START + 2 * SECOND);
    assert_int_equal(top.item_count, 31);
    assert_int_equal(top.items[0].item.id.lo, 42);
    assert_true(top.items[0].rate == 15); /* 30 in 2 seconds */
    assert_true(top.items[1].rate == 0.5);
    assert_int_equal(top.items[1].item.id.lo, 1); /* of the same rate, the lowest id first */
    assert_int_equal(top.user_count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(top.users[i].item.id.lo, i);
        assert_true(top.users[i].rate == 10);
    }
    end();
}

static void the_window_slides(void **state)
{
    (void)state;
    begin(1);
    for (int i = 0; i < 100; i++)
        like(0, 1, 42, START + SECOND);
    like(0, 2, 7, START + 5 * SECOND); /* the second half */
    ask(START + 6 * SECOND);           /* the window is the last 5 seconds: 4/5 of the first half */
    assert_int_equal(top.items[0].item.id.lo, 42);
    assert_true(fabs(top.items[0].rate - 100 * 0.8 / 5) < 1e-9);
    assert_true(fabs(top.items[1].rate - 0.2) < 1e-9);
    ask(START + 9 * SECOND);
    assert_true(fabs(top.items[0].rate - 100 * 0.2 / 5) < 1e-9);
    ask(START + 10 * SECOND); /* nobody has offered since, yet the first half is gone */
    assert_int_equal(top.item_count, 1);
    assert_int_equal(top.items[0].item.id.lo, 7);
    ask(START + 15 * SECOND);
    assert_int_equal(top.item_count, 0);
    end();
}

static void an_answer_is_given_again_for_a_moment(void **state)
{
    (void)state;
    begin(1);
    like(0, 1, 42, START);
    ask(START + SECOND);
    like(0, 1, 43, START + SECOND);
    ask(START + SECOND + HOTKEYS_KEEP_NS - 1);
    assert_int_equal(top.item_count, 1);
    ask(START + SECOND + HOTKEYS_KEEP_NS);
    assert_int_equal(top.item_count, 2);
    end();
}

static void items_of_a_page_count_each_and_its_user_once(void **state)
{
    (void)state;
    begin(1);
    struct item items[20];
    for (uint64_t i = 0; i < 20; i++)
        items[i] = (struct item){.id = {.lo = i % 10}, .type = i == 19 ? TYPE_UNKNOWN : 0};
    struct hot_request requests[] = {
        {.op = LIKE, .user = {.lo = 5}, .items = items, .item_count = 20},
        {.op = COUNTS, .user = {.lo = 6}, .items = items, .item_count = 1},
        {.op = LIKE, .user = {.lo = 5}, .items = NULL, .item_count = 0},
    };
    offer(0, requests, 3, START);
    ask(START + SECOND);
    assert_int_equal(top.item_count, 10);
    assert_int_equal(top.items[0].item.id.lo, 0);
    assert_true(top.items[0].rate == 3);
    assert_int_equal(top.items[9].item.id.lo, 9); /* one of its two uses was of an unknown type */
    assert_true(top.items[9].rate == 1);
    assert_int_equal(top.user_count, 1);
    assert_int_equal(top.users[0].item.id.lo, 5);
    assert_true(top.users[0].rate == 2);
    end();
}

/* Far more than there are samples: a skewed stream on two threads, in batches, over one half. */
static void a_skewed_stream_within_its_error(void **state)
{
    (void)state;
    enum { STREAM = 400000, KEYS = 1000, BATCH = 32 };
    static uint64_t item_counts[KEYS], user_counts[KEYS];
    static double cumulated[KEYS];
    double sum = 0;
    begin(2);
    struct chance chance = {test_seed()};
    memset(item_counts, 0, sizeof item_counts);
    memset(user_counts, 0, sizeof user_counts);
    for (int i = 0; i < KEYS; i++)
        cumulated[i] = sum += 1.0 / (i + 1);
    for (uint32_t done = 0; done < STREAM; done += BATCH) {
        struct item items[BATCH];
        struct hot_request requests[BATCH];
        for (uint32_t i = 0; i < BATCH; i++) {
            double drawn = (double)chance_below(&chance, UINT32_MAX) / UINT32_MAX * sum;
            uint64_t key = 0;
            while (key + 1 < KEYS && cumulated[key] < drawn)
                key++;
            uint64_t user = chance_below(&chance, 10) == 0 ? 7 : chance_below(&chance, KEYS);
            items[i] = (struct item){.id = {.lo = key}};
            requests[i] = (struct hot_request){
                .op = LIKE, .user = {.lo = user}, .items = &items[i], .item_count = 1};
            item_counts[key]++;
            user_counts[user]++;
        }
        /* One thread serves three times as much as the other. */
        offer(done / BATCH % 4 == 0, requests, BATCH, START + 4 * SECOND * done / STREAM);
    }
    ask(START + 5 * SECOND - 1);
    assert_int_equal(top.item_count, HOTKEYS_MAX);
    assert_int_equal(top.items[0].item.id.lo, 0);
    assert_int_equal(top.users[0].item.id.lo, 7);
    double worst = 0;
    for (uint32_t i = 0; i < 10; i++) {
        assert_true(i == 0 || top.items[i].rate <= top.items[i - 1].rate);
        double exact = (double)item_counts[top.items[i].item.id.lo] / 5;
        double share = exact * 5 / STREAM;
        /* Of the busier thread's samples, at least half are there; they stand for three quarters. */
        double error = sqrt(share / (HOTKEYS_SAMPLES / 4.0)) * STREAM / 5;
        double off = fabs(top.items[i].rate - exact) / error;
        worst = off > worst ? off : worst;
    }
    print_message("at worst %.1f standard errors off\n", worst);
    assert_true(worst < 8); /* counts of a few are not normal: 5 comes once in a million */
    double user_error = sqrt(0.1 / (HOTKEYS_SAMPLES / 4.0)) * STREAM / 5;
    assert_true(fabs(top.users[0].rate - (double)user_counts[7] / 5) < 8 * user_error);
    end();
}

static void names_and_rates_as_shown(void **state)
{
    (void)state;
    struct names *names = names_new();
    uint16_t type;
    char text[HOTKEYS_TEXT];
    assert_int_equal(names_intern(names, NAME_TYPE, "video", 5, &type), STATUS_OK);
    struct hotkeys_rank rank = {.item = {.id = {.lo = 42}, .type = type}, .rate = 2.5};
    hotkeys_name(&rank, names, text);
    assert_string_equal(text, "video:42");
    hotkeys_name(&rank, NULL, text);
    assert_string_equal(text, "42");
    assert_int_equal(hotkeys_rate(&rank), 3);
    rank.rate = 0.001;
    assert_int_equal(hotkeys_rate(&rank), 1);
    names_free(names);
}

static void little_memory_is_said(void **state)
{
    (void)state;
    struct memory_budget little = {.limit = KIB(1)};
    assert_null(hotkeys_new(1, 1, START, &little));
    assert_int_equal(memory_used(&little), 0);
    begin(LIMIT_THREADS);
    uint64_t limit = budget.limit;
    budget.limit = memory_used(&budget); /* nothing left to count with */
    like(LIMIT_THREADS - 1, 1, 42, START);
    assert_int_equal(hotkeys_top(hotkeys, START + SECOND, &top), STATUS_NO_MEMORY);
    budget.limit = limit;
    ask(START + SECOND);
    assert_int_equal(top.item_count, 1);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_are_exact),
        cmocka_unit_test(the_window_slides),
        cmocka_unit_test(an_answer_is_given_again_for_a_moment),
        cmocka_unit_test(items_of_a_page_count_each_and_its_user_once),
        cmocka_unit_test(a_skewed_stream_within_its_error),
        cmocka_unit_test(names_and_rates_as_shown),
        cmocka_unit_test(little_memory_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Replies byte by byte, in both protocol versions, and no reply past the memory budget. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "op/shape.h"
#include "resp/reply.h"
#include "resp/write.h"

static struct memory_budget budget = {.limit = 1 << 20};

static void expect(struct buffer *out, const char *expected)
{
    assert_int_equal(out->length, strlen(expected));
    assert_memory_equal(out->bytes, expected, out->length);
    out->length = 0;
}

static void writes_numbers(void **state)
{
    (void)state;
    struct buffer out = {.budget = &budget};
    const int64_t values[] = {0,   1,   9,    10,    11,        99,        100,
                              101, 999, 1000, 12345, INT64_MAX, INT64_MIN, INT64_MIN + 1,
                              -1,  -10, -99};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char expected[32];
        snprintf(expected, sizeof expected, ":%lld\r\n", (long long)values[i]);
        assert_true(resp_integer(&out, values[i]));
        expect(&out, expected);
    }
    int64_t power = 1;
    for (int i = 0; i < 19; i++, power *= 10) {
        char expected[64];
        snprintf(expected, sizeof expected, ":%lld\r\n:%lld\r\n", (long long)power,
                 (long long)power - 1);
        assert_true(resp_integer(&out, power) && resp_integer(&out, power - 1));
        expect(&out, expected);
        if (power > INT64_MAX / 10)
            break;
    }
    buffer_free(&out);
}

static void writes_every_type(void **state)
{
    (void)state;
    struct buffer out = {.budget = &budget};
    assert_true(resp_array(&out, 2) && resp_bulk(&out, "a\r\nb", 4) && resp_text(&out, ""));
    expect(&out, "*2\r\n$4\r\na\r\nb\r\n$0\r\n\r\n");
    assert_true(resp_map(&out, 2, false) && resp_map(&out, 2, true));
    expect(&out, "*4\r\n%2\r\n");
    assert_true(resp_null(&out, false) && resp_null(&out, true) && resp_simple(&out, "OK"));
    expect(&out, "$-1\r\n_\r\n+OK\r\n");
    assert_true(resp_error(&out, "ERR", "one line\r\n+OK"));
    expect(&out, "-ERR one line  +OK\r\n");
    assert_true(resp_error(&out, "ERR", "a\x1b[2Jb\x7f\xc3\xa9\xff~"));
    expect(&out, "-ERR a [2Jb????~\r\n");
    buffer_free(&out);
}

static void refuses_past_the_budget(void **state)
{
    (void)state;
    struct memory_budget tight = {.limit = 512};
    struct buffer out = {.budget = &tight};
    int written = 0;
    while (resp_integer(&out, 7))
        assert_true(++written < 1000);
    assert_int_equal(out.length, 4 * (size_t)written);
    assert_int_equal(memory_used(&tight), 512);
    buffer_free(&out);
    assert_int_equal(memory_used(&tight), 0);
}

static void writes_answers(void **state)
{
    (void)state;
    struct buffer out = {.budget = &budget};
    struct names *names = names_new();
    uint16_t view;
    assert_int_equal(names_intern(names, NAME_COUNTER, "view", 4, &view), STATUS_OK);
    struct hot_counter counters[] = {{3, NAME_INDEX_LIKE}, {-7, (uint8_t)view}};
    struct hot_scratch scratch = {.counters = counters, .used = 2, .capacity = 2};
    struct hot_answer answers[2] = {{.first = 0, .count = 2}, {.first = 2, .count = 0}};
    kind_set_add(&answers[0].kinds, NAME_INDEX_LIKE);
    struct hot_request request = {
        .action = HOT_FEED, .name = NAME_INDEX_LIKE, .item_count = 2, .read.answers = answers};

    request = with_op(request);
    assert_true(reply_write(&out, &request, &scratch, names, false));
    expect(&out, "*2\r\n*2\r\n*1\r\n$4\r\nlike\r\n*4\r\n$4\r\nlike\r\n:3\r\n$4\r\nview\r\n:-7\r\n"
                 "*2\r\n*0\r\n*0\r\n");
    request.action = HOT_COUNTS;
    request = with_op(request);
    assert_true(reply_write(&out, &request, &scratch, names, true));
    expect(&out, "*2\r\n%2\r\n$4\r\nlike\r\n:3\r\n$4\r\nview\r\n:-7\r\n%0\r\n");
    request.action = HOT_ASK;
    request = with_op(request);
    assert_true(reply_write(&out, &request, &scratch, names, true));
    expect(&out, "*2\r\n:1\r\n:0\r\n");
    request.action = HOT_ADD;
    request.change.value = 42;
    request = with_op(request);
    assert_true(reply_write(&out, &request, &scratch, names, true));
    expect(&out, ":42\r\n");
    names_free(names);
    buffer_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_numbers),
        cmocka_unit_test(writes_every_type),
        cmocka_unit_test(refuses_past_the_budget),
        cmocka_unit_test(writes_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

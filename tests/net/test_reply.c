/* Answers of the hot tier as RESP2 and RESP3; counters of 0 are not shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "net/reply.h"

#define LIKE    NAME_INDEX_LIKE
#define COMMENT NAME_INDEX_COMMENT

static struct names *names;
static struct memory_budget budget = {.limit = UINT64_MAX};

static void expect(const struct hot_request *request, const struct hot_scratch *scratch, bool resp3,
                   const char *reply)
{
    struct buffer out = {.budget = &budget};
    assert_true(reply_write(&out, request, scratch, names, resp3));
    assert_true(buffer_append(&out, "", 1));
    assert_string_equal(out.bytes, reply);
    buffer_free(&out);
}

static void numbers_and_flags(void **state)
{
    (void)state;
    struct hot_scratch scratch = {0};
    struct hot_request request = {.action = HOT_SET, .value = 1};
    expect(&request, &scratch, false, ":1\r\n");
    request = (struct hot_request){.action = HOT_ADD, .value = INT64_MIN};
    expect(&request, &scratch, true, ":-9223372036854775808\r\n");
    struct hot_answer answers[3] = {{.count = 0}};
    kind_set_add(&answers[1].kinds, LIKE);
    kind_set_add(&answers[2].kinds, COMMENT);
    request =
        (struct hot_request){.action = HOT_ASK, .name = LIKE, .item_count = 3, .answers = answers};
    expect(&request, &scratch, false, "*3\r\n:0\r\n:1\r\n:0\r\n");
    request.name = UINT8_MAX; /* an unknown kind */
    expect(&request, &scratch, false, "*3\r\n:0\r\n:0\r\n:0\r\n");
}

static void counters_and_kinds(void **state)
{
    (void)state;
    struct hot_counter counters[] = {{7, COMMENT}, {-12, LIKE}};
    struct hot_scratch scratch = {.counters = counters, .used = 2, .capacity = 2};
    struct hot_answer answers[] = {
        {.count = 0}, {.first = 0, .count = 1}, {.first = 1, .count = 1}, {.count = 0}};
    struct hot_request request = {.action = HOT_COUNTS, .item_count = 4, .answers = answers};
    expect(&request, &scratch, false,
           "*4\r\n*0\r\n*2\r\n$7\r\ncomment\r\n:7\r\n*2\r\n$4\r\nlike\r\n:-12\r\n*0\r\n");
    expect(&request, &scratch, true,
           "*4\r\n%0\r\n%1\r\n$7\r\ncomment\r\n:7\r\n%1\r\n$4\r\nlike\r\n:-12\r\n%0\r\n");
    request.action = HOT_FEED;
    request.item_count = 2;
    kind_set_add(&answers[1].kinds, LIKE);
    expect(&request, &scratch, false,
           "*2\r\n*2\r\n*0\r\n*0\r\n*2\r\n*1\r\n$4\r\nlike\r\n*2\r\n$7\r\ncomment\r\n:7\r\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_and_flags),
        cmocka_unit_test(counters_and_kinds),
    };
    names = names_new();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    names_free(names);
    return failed;
}

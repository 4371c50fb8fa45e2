/* Answers of the hot tier as RESP2 and RESP3; counters of 0 are not shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "op/cursor.h"
#include "op/shape.h"
#include "resp/reply.h"

#define LIKE    NAME_INDEX_LIKE
#define COMMENT NAME_INDEX_COMMENT

static struct names *names;
static struct memory_budget budget = {.limit = UINT64_MAX};

static void expect(const struct hot_request *request, const struct hot_scratch *scratch, bool resp3,
                   const char *reply)
{
    struct buffer out = {.budget = &budget};
    struct hot_request decoded = with_op(*request);
    assert_true(reply_write(&out, &decoded, scratch, names, resp3));
    assert_true(buffer_append(&out, "", 1));
    assert_string_equal(out.bytes, reply);
    buffer_free(&out);
}

static void numbers_and_flags(void **state)
{
    (void)state;
    struct hot_scratch scratch = {0};
    struct hot_request request = {.action = HOT_SET, .change.value = 1};
    expect(&request, &scratch, false, ":1\r\n");
    request = (struct hot_request){.action = HOT_ADD, .change.value = INT64_MIN};
    expect(&request, &scratch, true, ":-9223372036854775808\r\n");
    struct hot_answer answers[3] = {{.count = 0}};
    kind_set_add(&answers[1].kinds, LIKE);
    kind_set_add(&answers[2].kinds, COMMENT);
    request = (struct hot_request){
        .action = HOT_ASK, .name = LIKE, .item_count = 3, .read.answers = answers};
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
    struct hot_request request = {.action = HOT_COUNTS, .item_count = 4, .read.answers = answers};
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

static void friends(void **state)
{
    (void)state;
    struct store_listed listed[] = {
        {.time_s = 4}, {.time_s = 9, .id.lo = 7}, {.time_s = 8, .id = {.hi = 1, .lo = 2}},
        {.time_s = 1}, {.time_s = 5, .id.lo = 3}, {.time_s = 0}};
    struct hot_scratch scratch = {.listed = listed, .listed_used = 6, .listed_capacity = 6};
    struct hot_answer answers[2] = {{.count = 0}};
    struct hot_request request = {
        .action = HOT_FEED, .item_count = 2, .read = {.answers = answers, .friends = 2}};
    expect(&request, &scratch, false,
           "*2\r\n*3\r\n*0\r\n*0\r\n*3\r\n:4\r\n$1\r\n7\r\n"
           "$36\r\n00000000-0000-0001-0000-000000000002\r\n"
           "*3\r\n*0\r\n*0\r\n*2\r\n:1\r\n$1\r\n3\r\n");
    expect(&request, &scratch, true,
           "*2\r\n*3\r\n*0\r\n%0\r\n*3\r\n:4\r\n$1\r\n7\r\n"
           "$36\r\n00000000-0000-0001-0000-000000000002\r\n"
           "*3\r\n*0\r\n%0\r\n*2\r\n:1\r\n$1\r\n3\r\n");
    const char *second = "*6\r\n$1\r\n7\r\n:9\r\n$36\r\n00000000-0000-0001-0000-000000000002\r\n"
                         "$1\r\n0\r\n:1\r\n$1\r\n3\r\n";
    request = (struct hot_request){.action = HOT_FRIENDS,
                                   .list = {.count = 2, .first = 1, .second = true}};
    expect(&request, &scratch, false, second);
    expect(&request, &scratch, true, second);
    request.list.count = 1;
    request.list.first = 4;
    expect(&request, &scratch, false, "*3\r\n$1\r\n3\r\n:5\r\n$0\r\n\r\n");
    request.list.count = 0;
    expect(&request, &scratch, false, "*0\r\n");
}

static void changes(void **state)
{
    (void)state;
    struct store_listed listed[] = {
        {.time_s = 5, .id.lo = 42},
        {.time_s = 6, .kind = COMMENT, .cleared = true, .id = {.hi = 1, .lo = 2}},
    };
    struct hot_scratch scratch = {.listed = listed, .listed_used = 2, .listed_capacity = 2};
    struct hot_request request = {
        .action = HOT_CHANGES, .user.lo = 1, .changes = {.until_s = 7, .count = 2}};
    char cursor[CURSOR_ROUND_TEXT + 1] = "", reply[512];
    cursor[cursor_write_round(&request, cursor)] = '\0';
    snprintf(reply, sizeof reply,
             "*10\r\n$24\r\n%s\r\n:0\r\n$4\r\nlike\r\n$8\r\nvideo:42\r\n:1\r\n:5\r\n"
             "$7\r\ncomment\r\n$42\r\nvideo:00000000-0000-0001-0000-000000000002\r\n:0\r\n:6\r\n",
             cursor);
    expect(&request, &scratch, false, reply);
    expect(&request, &scratch, true, reply);
    request.changes.count = 0;
    request.changes.more = true;
    request.changes.after = listed[1];
    cursor[cursor_write_round(&request, cursor)] = '\0';
    snprintf(reply, sizeof reply, "*2\r\n$80\r\n%s\r\n:1\r\n", cursor);
    expect(&request, &scratch, false, reply);
}

static void boards_are_flat(void **state)
{
    (void)state;
    struct ranked ranked[] = {{{0, 9}, 1},
                              {{0, UINT64_MAX}, INT64_MAX},
                              {{0x0190163d8694739bULL, 0xaea5966c26f8ad91ULL}, -3}};
    uint16_t type;
    assert_int_equal(names_intern(names, NAME_TYPE, "video", 5, &type), STATUS_OK);
    struct hot_scratch scratch = {.ranked = ranked, .ranked_used = 3, .ranked_capacity = 3};
    struct hot_request request = {.action = HOT_TOP, .top = {.type = type, .first = 1, .count = 2}};
    const char *reply = "*4\r\n$26\r\nvideo:18446744073709551615\r\n:9223372036854775807\r\n"
                        "$42\r\nvideo:0190163d-8694-739b-aea5-966c26f8ad91\r\n:-3\r\n";
    expect(&request, &scratch, false, reply);
    expect(&request, &scratch, true, reply);
    request = (struct hot_request){.action = HOT_TOP, .top.type = UINT16_MAX};
    expect(&request, &scratch, true, "*0\r\n");
}

static void names_are_flat(void **state)
{
    (void)state;
    struct hot_scratch scratch = {0};
    struct hot_request request = {.action = HOT_NAMES};
    struct names *kept = names;
    uint16_t index;
    names = names_new();
    assert_int_equal(names_intern(names, NAME_TYPE, "video", 5, &index), STATUS_OK);
    names_note_use(names, 0, NAME_INDEX_LIKE);
    names_set_group(names, NAME_INDEX_LIKE, 2);
    const char *reply = "*19\r\n:1\r\n:1024\r\n:2\r\n:250\r\n"
                        "$5\r\nvideo\r\n$4\r\ntype\r\n:1\r\n:1\r\n:0\r\n"
                        "$4\r\nlike\r\n$4\r\nkind\r\n:1\r\n:1\r\n:2\r\n"
                        "$7\r\ncomment\r\n$8\r\nreserved\r\n:0\r\n:0\r\n:0\r\n";
    expect(&request, &scratch, false, reply);
    expect(&request, &scratch, true, reply);
    names_free(names);
    names = kept;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_and_flags), cmocka_unit_test(counters_and_kinds),
        cmocka_unit_test(changes),           cmocka_unit_test(boards_are_flat),
        cmocka_unit_test(friends),           cmocka_unit_test(names_are_flat),
    };
    names = names_new();
    uint16_t video;
    if (names == NULL || names_intern(names, NAME_TYPE, "video", 5, &video) != STATUS_OK)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    names_free(names);
    return failed;
}

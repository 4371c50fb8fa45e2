/* What the hot tier answers, as JSON that can be read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "http/answer.h"
#include "op/cursor.h"
#include "op/shape.h"

static struct memory_budget budget = {.limit = MIB(4)};
static struct names *names;
static struct hot_counter counters[] = {
    {3, NAME_INDEX_LIKE}, {0, NAME_INDEX_COMMENT}, {INT64_MIN, 2}};
static struct store_listed listed[] = {{.id = {0, 7}, .time_s = 9}, {.id = {1, 2}, .time_s = 8}};
static struct hot_scratch scratch = {.counters = counters, .listed = listed};
static struct hot_answer answers[2];
static const struct text items[] = {{"video:1", 7}, {"video:02", 8}};

static void expect_text(struct buffer *out, const char *wanted)
{
    json_error_t error;
    assert_true(buffer_append(out, "", 1));
    assert_string_equal(out->bytes, wanted);
    json_t *json = json_loads(out->bytes, JSON_REJECT_DUPLICATES, &error);
    assert_non_null(json);
    json_decref(json);
    buffer_free(out);
}

static void expect(const struct hot_request *request, bool single, const char *wanted)
{
    struct buffer out = {.budget = &budget};
    struct hot_request decoded = with_op(*request);
    assert_true(answer_write(&out, &decoded, &scratch, names, items, single));
    expect_text(&out, wanted);
}

static struct hot_request ask(enum hot_action action, uint32_t count)
{
    answers[0] = (struct hot_answer){.first = 0, .count = 3};
    answers[1] = (struct hot_answer){.first = 1, .count = 1};
    kind_set_add(&answers[0].kinds, NAME_INDEX_LIKE);
    struct hot_request request = {.action = action, .item_count = count};
    hot_request_set_answers(&request, answers);
    return with_op(request);
}

static void flags_and_numbers(void **state)
{
    (void)state;
    struct hot_request request = ask(HOT_SET, 1);
    expect(&request, false, "{\"changed\":false}");
    request.change.value = 1;
    expect(&request, false, "{\"changed\":true}");
    request = ask(HOT_ADD, 1);
    request.change.value = INT64_MIN;
    expect(&request, true, "{\"value\":-9223372036854775808}");
    request = ask(HOT_DROP, 1);
    request.remove.removed = 7;
    expect(&request, true, "{\"removed\":7,\"more\":false}");
    request.remove.more = true;
    expect(&request, true, "{\"removed\":7,\"more\":true}");
    request = ask(HOT_ASK, 2);
    expect(&request, false, "{\"set\":[true,false]}");
    request = ask(HOT_ASK, 1);
    expect(&request, true, "{\"set\":true}");
    request.name = UINT8_MAX;
    expect(&request, true, "{\"set\":false}");
}

static void changes_with_their_count(void **state)
{
    (void)state;
    struct buffer out = {.budget = &budget};
    struct hot_request change = ask(HOT_CLEAR, 1), count = ask(HOT_COUNTS, 1);
    change.change.value = 1;
    assert_true(answer_write(&out, &change, &scratch, names, items, true));
    assert_true(answer_write_count(&out, &count, &scratch, NAME_INDEX_LIKE));
    expect_text(&out, "{\"changed\":true,\"count\":3}");
    assert_true(answer_write(&out, &change, &scratch, names, items, true));
    assert_true(answer_write_count(&out, &count, &scratch, 99));
    expect_text(&out, "{\"changed\":true,\"count\":0}");
    count.status = STATUS_IO_FAILED;
    assert_true(answer_write(&out, &change, &scratch, names, items, true));
    assert_true(answer_write_count(&out, &count, &scratch, NAME_INDEX_LIKE));
    expect_text(&out, "{\"changed\":true,\"count\":null}");
}

static void counts_and_feeds(void **state)
{
    (void)state;
    struct hot_request request = ask(HOT_COUNTS, 1);
    expect(&request, true,
           "{\"item\":\"video:1\",\"counts\":{\"like\":3,\"view\":-9223372036854775808}}");
    request = ask(HOT_COUNTS, 2);
    expect(
        &request, false,
        "{\"items\":[{\"item\":\"video:1\",\"counts\":{\"like\":3,\"view\":-9223372036854775808}},"
        "{\"item\":\"video:02\",\"counts\":{}}]}");
    request = ask(HOT_FEED, 2);
    expect(
        &request, false,
        "{\"items\":[{\"item\":\"video:1\",\"reactions\":[\"like\"],\"counts\":{\"like\":3,"
        "\"view\":-9223372036854775808}},{\"item\":\"video:02\",\"reactions\":[],\"counts\":{}}]}");
}

static void friends(void **state)
{
    (void)state;
    struct store_listed found[] = {{.time_s = 4},
                                   {.id = {0, 7}, .time_s = 9},
                                   {.id = {1, 2}, .time_s = 8},
                                   {.time_s = 0},
                                   {.time_s = 0},
                                   {.time_s = 0}};
    struct store_listed *before = scratch.listed;
    struct hot_request request = ask(HOT_FEED, 2);
    scratch.listed = found;
    answers[0].count = 1;
    request.read.friends = 2;
    expect(&request, false,
           "{\"items\":[{\"item\":\"video:1\",\"reactions\":[\"like\"],\"counts\":{\"like\":3},"
           "\"friends\":{\"count\":4,\"users\":[\"7\",\"00000000-0000-0001-0000-000000000002\"]}},"
           "{\"item\":\"video:02\",\"reactions\":[],\"counts\":{},"
           "\"friends\":{\"count\":0,\"users\":[]}}]}");
    request = (struct hot_request){.action = HOT_FRIENDS,
                                   .list = {.count = 2, .first = 1, .second = true}};
    expect(&request, true,
           "{\"users\":[{\"user\":\"7\",\"time\":9,"
           "\"via\":\"00000000-0000-0001-0000-000000000002\"},"
           "{\"user\":\"0\",\"time\":0,\"via\":null}]}");
    request.list.count = 0;
    expect(&request, true, "{\"users\":[]}");
    scratch.listed = before;
}

static void lists(void **state)
{
    (void)state;
    struct hot_request request = {.action = HOT_FRIENDS, .list.count = 2};
    const char *users = "{\"users\":[{\"user\":\"7\",\"time\":9},"
                        "{\"user\":\"00000000-0000-0001-0000-000000000002\",\"time\":8}]";
    char wanted[400], cursor[CURSOR_TEXT];
    snprintf(wanted, sizeof wanted, "%s}", users);
    expect(&request, true, wanted);
    struct item item = {.id = {0, 1}};
    request = (struct hot_request){
        .action = HOT_LIST_REACTORS, .list.count = 2, .items = &item, .item_count = 1};
    snprintf(wanted, sizeof wanted, "%s,\"cursor\":null}", users);
    expect(&request, true, wanted);
    request.list.more = true;
    size_t length = cursor_write(&request, listed[1], cursor);
    snprintf(wanted, sizeof wanted, "%s,\"cursor\":\"%.*s\"}", users, (int)length, cursor);
    expect(&request, true, wanted);
    request = (struct hot_request){.action = HOT_LIST_REACTIONS, .list.count = 1};
    expect(&request, true, "{\"items\":[{\"item\":\"video:7\",\"time\":9}],\"cursor\":null}");
    request.list.count = 0;
    request.list.type = UINT16_MAX;
    expect(&request, true, "{\"items\":[],\"cursor\":null}");
}

static void all_names(void **state)
{
    (void)state;
    struct hot_request request = {.action = HOT_NAMES};
    names_note_use(names, 0, 2);
    names_set_group(names, NAME_INDEX_LIKE, 2);
    expect(&request, true,
           "{\"names\":[{\"name\":\"video\",\"role\":\"type\",\"allowed\":true,\"used\":true},"
           "{\"name\":\"like\",\"role\":\"kind\",\"allowed\":true,\"used\":false,\"exclusive\":2},"
           "{\"name\":\"comment\",\"role\":\"reserved\",\"allowed\":false,\"used\":false},"
           "{\"name\":\"view\",\"role\":\"counter\",\"allowed\":true,\"used\":true}],"
           "\"types\":{\"count\":1,\"most\":1024},"
           "\"kinds_and_counters\":{\"count\":3,\"most\":250}}");
}

static void errors_are_escaped(void **state)
{
    (void)state;
    struct buffer out = {.budget = &budget};
    assert_true(answer_write_error(&out, STATUS_BAD_JSON, "a \"b\" \\ \n \xff\x7f"));
    expect_text(&out, "{\"error\":{\"code\":\"BAD_JSON\",\"message\":\"a \\\"b\\\" \\\\ ? ??\"}}");
}

/* A batch sets so much aside for each. */
static void plain_errors_are_short(void **state)
{
    (void)state;
    for (int i = 0; i < STATUS_COUNT; i++) {
        struct buffer out = {.budget = &budget};
        assert_true(answer_write_error(&out, (enum status)i, status_sentence((enum status)i)));
        assert_true(out.length + 1 <= LIMIT_HTTP_ERROR);
        buffer_free(&out);
    }
}

/* Fails at every place memory can run out, and leaves nothing behind. */
static void no_memory(void **state)
{
    (void)state;
    struct memory_budget small = {.limit = 0};
    for (enum hot_action action = HOT_SET; action <= HOT_NAMES; action++) {
        struct buffer out = {.budget = &small};
        struct hot_request request = ask(action, 1);
        assert_false(answer_write(&out, &request, &scratch, names, items, true));
        buffer_free(&out);
    }
    assert_int_equal(memory_used(&small), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flags_and_numbers),
        cmocka_unit_test(changes_with_their_count),
        cmocka_unit_test(counts_and_feeds),
        cmocka_unit_test(friends),
        cmocka_unit_test(lists),
        cmocka_unit_test(errors_are_escaped),
        cmocka_unit_test(plain_errors_are_short),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(all_names),
    };
    uint16_t index;
    names = names_new();
    if (names_intern(names, NAME_TYPE, "video", 5, &index) != STATUS_OK || index != 0 ||
        names_intern(names, NAME_COUNTER, "view", 4, &index) != STATUS_OK || index != 2)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    names_free(names);
    return failed;
}

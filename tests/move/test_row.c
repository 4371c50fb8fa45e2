/* Lines of JSON and CSV: what they say, every way of being bad, and bytes that are neither. */
#include <stdio.h>
#include <string.h>

#include "chance.h"
#include "move/row.h"

static char problem[256];

static void expect_text(struct text text, const char *wanted)
{
    assert_int_equal(text.length, strlen(wanted));
    assert_memory_equal(text.bytes, wanted, text.length);
}

static struct row json(const char *line)
{
    struct row row;
    if (row_parse_json(text_from(line), &row, problem, sizeof problem) != STATUS_OK)
        fail_msg("%s: %s", line, problem);
    return row;
}

static struct row csv(const char *line)
{
    struct row row;
    if (row_parse_csv(text_from(line), false, &row, problem, sizeof problem) != STATUS_OK)
        fail_msg("%s: %s", line, problem);
    return row;
}

static void expect_reaction(struct row row, const char *user, const char *kind, const char *item,
                            uint32_t time_s)
{
    assert_int_equal(row.shape, ROW_REACTION);
    expect_text(row.user, user);
    expect_text(row.name, kind);
    expect_text(row.item, item);
    assert_int_equal(row.time_s, time_s);
}

static void expect_counter(struct row row, const char *item, const char *counter, int64_t value)
{
    assert_int_equal(row.shape, ROW_COUNTER);
    expect_text(row.item, item);
    expect_text(row.name, counter);
    assert_true(row.value == value);
}

static const char like[] =
    "{\"user\":\"1\",\"kind\":\"like\",\"item\":\"video:2\",\"time\":1700000000}";

static void test_json(void **state)
{
    (void)state;
    expect_reaction(json(like), "1", "like", "video:2", 1700000000);
    expect_reaction(
        json(" {\t\"time\" : 4294967295 , \"item\":\"a:0\", \"user\":7,\"kind\":\"k\" } "), "7",
        "k", "a:0", UINT32_MAX);
    expect_reaction(json("{\"kind\":\"\",\"user\":\"\",\"time\":0,\"item\":\"\"}"), "", "", "", 0);
    expect_counter(json("{\"item\":\"v:2\",\"counter\":\"view\",\"value\":-5}"), "v:2", "view", -5);
    expect_counter(json("{\"value\":9223372036854775807,\"item\":\"v:2\",\"counter\":\"view\"}"),
                   "v:2", "view", INT64_MAX);
    expect_counter(json("{\"value\":-9223372036854775808,\"item\":\"v:2\",\"counter\":\"view\"}"),
                   "v:2", "view", INT64_MIN);
    struct row row = json("{\"define\":\"counter\",\"name\":\"view\"}");
    assert_int_equal(row.shape, ROW_DEFINE);
    assert_int_equal(row.role, NAME_COUNTER);
    expect_text(row.name, "view");
    assert_int_equal(json("{\"name\":\"x\",\"define\":\"type\"}").role, NAME_TYPE);
    assert_int_equal(json("{\"name\":\"x\",\"define\":\"kind\"}").role, NAME_KIND);
    assert_int_equal(json("").shape, ROW_NONE);
    assert_int_equal(json(" \t").shape, ROW_NONE);
}

static void expect_bad_json(const char *line, const char *word)
{
    struct row row;
    problem[0] = '\0';
    if (row_parse_json(text_from(line), &row, problem, sizeof problem) != STATUS_BAD_ARGUMENT)
        fail_msg("taken: %s", line);
    if (strstr(problem, word) == NULL)
        fail_msg("%s: expected '%s' in: %s", line, word, problem);
}

static void test_bad_json(void **state)
{
    (void)state;
    expect_bad_json("x", "expected '{', not 'x'");
    expect_bad_json("[1]", "'{'");
    expect_bad_json("{}", "a key, not '}'");
    expect_bad_json("{\"user\"}", "':'");
    expect_bad_json("{\"user\":}", "a string or a whole number");
    expect_bad_json("{\"user\":-}", "a string or a whole number");
    expect_bad_json("{\"user\":true}", "a string or a whole number, not 't'");
    expect_bad_json("{\"user\":null}", "a string or a whole number");
    expect_bad_json("{\"user\":{}}", "a string or a whole number");
    expect_bad_json("{\"user\":\"1\"", "',' or '}', but the line ends");
    expect_bad_json("{\"user\":\"1\",}", "a key, not '}'");
    expect_bad_json("{\"user\":\"1\",\"user\":\"1\"}", "'user' comes twice");
    expect_bad_json("{\"users\":\"1\"}", "no key 'users'");
    expect_bad_json("{\"\":\"1\"}", "no key ''");
    expect_bad_json("{\"user\":\"1\"}", "expected the keys");
    expect_bad_json("{\"user\":\"1\",\"item\":\"a:1\",\"time\":1}", "expected the keys");
    expect_bad_json("{\"item\":\"a:1\",\"counter\":\"view\",\"value\":1,\"user\":\"1\"}",
                    "expected the keys");
    expect_bad_json("{\"user\":\"\\u0031\"}", "plain characters of an id or a name, not '\\'");
    expect_bad_json("{\"user\":\"\xc3\xa9\"}", "not the byte 0xc3");
    expect_bad_json("{\"user\":\"a\tb\"}", "not the byte 0x09");
    expect_bad_json("{\"user\":\"1}", "ends a string");
    expect_bad_json("{\"user\":\"1\",\"kind\":\"like\",\"item\":\"a:2\",\"time\":17e8}",
                    "',' or '}'");
    expect_bad_json("{\"user\":\"1\",\"kind\":\"like\",\"item\":\"a:2\",\"time\":1.5}",
                    "',' or '}'");
    expect_bad_json("{\"user\":\"1\",\"kind\":\"like\",\"item\":\"a:2\",\"time\":-5}",
                    "seconds since");
    expect_bad_json("{\"user\":\"1\",\"kind\":\"like\",\"item\":\"a:2\",\"time\":4294967296}",
                    "not 4294967296");
    expect_bad_json("{\"user\":\"1\",\"kind\":\"like\",\"item\":\"a:2\",\"time\":\"5\"}",
                    "'time' should be a whole number");
    expect_bad_json("{\"user\":\"1\",\"kind\":5,\"item\":\"a:2\",\"time\":5}",
                    "'kind' should be a string");
    expect_bad_json("{\"item\":7,\"counter\":\"view\",\"value\":1}", "'item' should be a string");
    expect_bad_json("{\"item\":\"a:1\",\"counter\":\"view\",\"value\":9223372036854775808}",
                    "signed 64-bit");
    expect_bad_json("{\"item\":\"a:1\",\"counter\":\"view\",\"value\":-9223372036854775809}",
                    "signed 64-bit");
    expect_bad_json("{\"item\":\"a:1\",\"counter\":\"view\",\"value\":99999999999999999999999}",
                    "signed 64-bit");
    expect_bad_json("{\"define\":\"kept\",\"name\":\"comment\"}", "type, kind or counter");
    expect_bad_json("{\"define\":5,\"name\":\"comment\"}", "'define' should be a string");
    char more[sizeof like + 8];
    snprintf(more, sizeof more, "%s x", like);
    expect_bad_json(more, "the end of the line, not 'x'");
    snprintf(more, sizeof more, "%s}", like);
    expect_bad_json(more, "the end of the line");
}

static void test_csv(void **state)
{
    (void)state;
    struct row row;
    expect_reaction(csv("1,like,video:2,1700000000"), "1", "like", "video:2", 1700000000);
    expect_reaction(csv("\"1\",\"like\",video:2,\"17\""), "1", "like", "video:2", 17);
    expect_reaction(csv(",,,0"), "", "", "", 0);
    expect_counter(csv("video:2,view,-5"), "video:2", "view", -5);
    expect_counter(csv("\"video:2\",\"view\",\"5\""), "video:2", "view", 5);
    assert_int_equal(csv("").shape, ROW_NONE);
    static const char *const headers[] = {"user,kind,item,time", "item,counter,value",
                                          "\"User\",KIND,\"item\",time"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(row_parse_csv(text_from(headers[i]), true, &row, problem, sizeof problem),
                         STATUS_OK);
        assert_int_equal(row.shape, ROW_NONE);
        assert_int_equal(row_parse_csv(text_from(headers[i]), false, &row, problem, sizeof problem),
                         STATUS_BAD_ARGUMENT);
    }
}

static void expect_bad_csv(const char *line, const char *word)
{
    struct row row;
    problem[0] = '\0';
    if (row_parse_csv(text_from(line), true, &row, problem, sizeof problem) != STATUS_BAD_ARGUMENT)
        fail_msg("taken: %s", line);
    if (strstr(problem, word) == NULL)
        fail_msg("%s: expected '%s' in: %s", line, word, problem);
}

/* The caller has a time for them, or refuses them. */
static void test_timeless(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "{\"user\":\"1\",\"kind\":\"like\",\"item\":\"video:2\"}",
        "{\"user\":\"1\",\"time\": null ,\"kind\":\"like\",\"item\":\"video:2\"}",
    };
    for (size_t i = 0; i < 2; i++) {
        expect_reaction(json(lines[i]), "1", "like", "video:2", 0);
        assert_true(json(lines[i]).timeless);
    }
    assert_false(json(like).timeless);
    static const char *const csv_lines[] = {"1,like,video:2", "1,like,video:2,",
                                            "\"1\",like,\"video:2\",\"\""};
    for (size_t i = 0; i < 3; i++) {
        expect_reaction(csv(csv_lines[i]), "1", "like", "video:2", 0);
        assert_true(csv(csv_lines[i]).timeless);
    }
    assert_false(csv("1,like,video:2,0").timeless);
    struct row row;
    assert_int_equal(
        row_parse_csv(text_from("user,kind,item"), true, &row, problem, sizeof problem), STATUS_OK);
    assert_int_equal(row.shape, ROW_NONE);
    expect_bad_json("{\"user\":\"1\",\"kind\":\"like\",\"item\":\"a:2\",\"time\":nul}",
                    "a string or a whole number");
    expect_bad_json("{\"user\":null,\"kind\":\"like\",\"item\":\"a:2\",\"time\":1}",
                    "a string or a whole number");
    expect_bad_json("{\"user\":\"1\",\"time\":null,\"time\":1}", "'time' comes twice");
    expect_bad_json("{\"item\":\"a:1\",\"counter\":\"view\",\"value\":null}",
                    "a string or a whole number");
    expect_bad_csv("1,like,video", "signed 64-bit");
}

static void test_bad_csv(void **state)
{
    (void)state;
    expect_bad_csv("1", "expected user,kind,item,time");
    expect_bad_csv("1,like", "expected user,kind,item,time");
    expect_bad_csv("1,like,video:2,17,x", "more than 4 fields");
    expect_bad_csv("1,like,video:2,17,", "more than 4 fields");
    expect_bad_csv("1,like,video:2,-1", "seconds since 1970");
    expect_bad_csv("1,like,video:2, 17", "seconds since 1970");
    expect_bad_csv("video:2,view,x", "signed 64-bit");
    expect_bad_csv("video:2,view,", "signed 64-bit");
    expect_bad_csv("video:2,view,--1", "signed 64-bit");
    expect_bad_csv("\"1,like,video:2,17", "field 1");
    expect_bad_csv("1,\"like\"x,video:2,17", "field 2");
    expect_bad_csv("1,like,video:2,\"17", "field 4");
    expect_bad_csv("user,kind,item,when", "not 'when'");
    expect_bad_csv("1,like,video:2,\x1b[2J\xff", "not '?[2J?'");
}

/* No beginning of a line passes for a line; each is a block of its own, so that reading on shows. */
static void test_beginnings(void **state)
{
    (void)state;
    struct row row;
    for (size_t length = 1; length < sizeof like - 1; length++) {
        char *copy = malloc(length);
        memcpy(copy, like, length);
        assert_int_equal(row_parse_json((struct text){copy, length}, &row, problem, sizeof problem),
                         STATUS_BAD_ARGUMENT);
        free(copy);
    }
}

static bool is_within(struct text part, const char *block, size_t length)
{
    return part.length == 0 || (part.bytes >= block && part.bytes + part.length <= block + length);
}

static void expect_sane(enum status status, const struct row *row, const char *block, size_t length)
{
    if (status != STATUS_OK) {
        assert_int_equal(status, STATUS_BAD_ARGUMENT);
        assert_true(strlen(problem) > 0);
        return;
    }
    assert_true(is_within(row->user, block, length) && is_within(row->item, block, length) &&
                is_within(row->name, block, length));
}

/* Lines with a few bytes changed, and bytes that were never a line. */
static void test_any_bytes(void **state)
{
    (void)state;
    static const char *const seeds[] = {
        like, "{\"item\":\"v:2\",\"counter\":\"view\",\"value\":-5}",
        "{\"define\":\"kind\",\"name\":\"x\"}", "1,like,\"video:2\",17", "video:2,view,-5"};
    static const char alphabet[] =
        "{}[]\",:\\ \t-0123456789abcdefituserkindcountervalue\x00\x80\xff\n";
    struct chance chance = {test_seed()};
    struct row row;
    for (int i = 0; i < 200000; i++) {
        const char *seed = seeds[chance_below(&chance, 5)];
        size_t length = 1 + chance_below(&chance, (uint32_t)strlen(seed));
        char *block = malloc(length);
        memcpy(block, seed, length);
        uint32_t changes =
            chance_below(&chance, 8) == 0 ? (uint32_t)length : chance_below(&chance, 4);
        for (uint32_t c = 0; c < changes; c++)
            block[chance_below(&chance, (uint32_t)length)] =
                alphabet[chance_below(&chance, sizeof alphabet - 1)];
        struct text line = {block, length};
        problem[0] = '\0';
        expect_sane(row_parse_json(line, &row, problem, sizeof problem), &row, block, length);
        problem[0] = '\0';
        expect_sane(row_parse_csv(line, i % 2, &row, problem, sizeof problem), &row, block, length);
        free(block);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json),      cmocka_unit_test(test_bad_json),
        cmocka_unit_test(test_csv),       cmocka_unit_test(test_bad_csv),
        cmocka_unit_test(test_timeless),  cmocka_unit_test(test_beginnings),
        cmocka_unit_test(test_any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

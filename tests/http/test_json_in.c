/* JSON within its bounds is read, and its memory charged; all else is refused and leaves nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "http/json_in.h"

static struct memory_budget budget = {.limit = MIB(8)};
static char sentence[256];

static enum status read_text(const char *bytes, size_t length)
{
    struct json_in in;
    char *copy = malloc(length ? length : 1); /* no byte behind it */
    assert_non_null(copy);
    memcpy(copy, bytes, length);
    sentence[0] = '\0';
    enum status status =
        json_in_read(&in, (struct text){copy, length}, &budget, sentence, sizeof sentence);
    assert_int_equal(status == STATUS_OK, in.root != NULL);
    assert_int_equal(status == STATUS_OK, memory_used(&budget) > 0);
    assert_int_equal(status == STATUS_OK, sentence[0] == '\0');
    json_in_free(&in, &budget);
    json_in_free(&in, &budget);
    assert_int_equal(memory_used(&budget), 0);
    free(copy);
    return status;
}

#define EXPECT(bytes, wanted) assert_int_equal(read_text(bytes, sizeof(bytes) - 1), wanted)

static void good(void **state)
{
    (void)state;
    EXPECT("{}", STATUS_OK);
    EXPECT(" [1, \"a\\\"]]]]]]]]\", {\"b\":null}] ", STATUS_OK);
    EXPECT("{\"a\":\"\xc3\xa9\",\"b\":\"\\u00e9\\ud83d\\ude00\"}", STATUS_OK);
    EXPECT("[\"[[[[[[[[[[[[[[[[[[[[[[[[\"]", STATUS_OK);
}

/* A text may have NUL: its length counts. */
static void a_string_may_have_nul(void **state)
{
    (void)state;
    static const char text[] = "[\"a\\u0000b\"]";
    struct json_in in;
    assert_int_equal(
        json_in_read(&in, (struct text){text, sizeof text - 1}, &budget, sentence, sizeof sentence),
        STATUS_OK);
    const json_t *value = json_array_get(in.root, 0);
    assert_int_equal(json_string_length(value), 3);
    assert_memory_equal(json_string_value(value), "a\0b", 3);
    json_in_free(&in, &budget);
}

/* The text of a member is found where a parser would find it, whatever is around it. */
static void members_as_they_were_sent(void **state)
{
    (void)state;
    static const struct {
        const char *text, *member; /* NULL: it is not found */
    } cases[] = {
        {"{\"extra\":1}", "1"},
        {" { \"extra\" : 1.50e+2 } ", "1.50e+2"},
        {"{\"a\":\"\\\"extra\\\":2\",\"extra\":[1, {\"extra\":\"]}\"}] ,\"b\":2}",
         "[1, {\"extra\":\"]}\"}]"},
        {"{\"a\":{\"extra\":1},\"extra\":\"x,}\\\"\"}", "\"x,}\\\"\""},
        {"{\"extra\":{}}", "{}"},
        {"{\"extra\":null\n}", "null"},
        {"{\"a\":{\"extra\":1}}", NULL},
        {"{\"\\u0065xtra\":1}", NULL},
        {"{\"extras\":1,\"extr\":2}", NULL},
        {"{}", NULL},
        {"[\"extra\",1]", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct text found = {NULL, 0};
        assert_int_equal(read_text(cases[i].text, strlen(cases[i].text)), STATUS_OK);
        bool has = json_in_member(text_from(cases[i].text), text_from("extra"), &found);
        assert_int_equal(has, cases[i].member != NULL);
        if (!has)
            continue;
        assert_int_equal(found.length, strlen(cases[i].member));
        assert_memory_equal(found.bytes, cases[i].member, found.length);
    }
}

static void bad(void **state)
{
    (void)state;
    EXPECT("", STATUS_BAD_JSON);
    EXPECT(" ", STATUS_BAD_JSON);
    EXPECT("{", STATUS_BAD_JSON);
    EXPECT("{}x", STATUS_BAD_JSON);
    EXPECT("{}\0", STATUS_BAD_JSON);
    EXPECT("{\"a\":1,\"a\":1}", STATUS_BAD_JSON);
    EXPECT("{\"a\":{\"b\":1,\"b\":2}}", STATUS_BAD_JSON);
    EXPECT("{\"a\":1,\"\\u0061\":1}", STATUS_BAD_JSON);
    EXPECT("[\"\xff\"]", STATUS_BAD_JSON);
    EXPECT("[\"\xc0\xaf\"]", STATUS_BAD_JSON);
    EXPECT("[\"\xed\xa0\x80\"]", STATUS_BAD_JSON);
    EXPECT("[\"\xc3\"]", STATUS_BAD_JSON);
    EXPECT("[\"a\0b\"]", STATUS_BAD_JSON);
    EXPECT("[\"\\ud800\"]", STATUS_BAD_JSON);
    EXPECT("[\"\n\"]", STATUS_BAD_JSON);
    EXPECT("[\"a\\", STATUS_BAD_JSON);
    EXPECT("[1e999]", STATUS_BAD_JSON);
    EXPECT("[99999999999999999999]", STATUS_BAD_JSON);
    EXPECT("[NaN]", STATUS_BAD_JSON);
    EXPECT("['a']", STATUS_BAD_JSON);
    EXPECT("[1,]", STATUS_BAD_JSON);
    EXPECT("\xef\xbb\xbf{}", STATUS_BAD_JSON);
}

#define EXPECT_SAID(bytes, wanted)                                                                 \
    do {                                                                                           \
        EXPECT(bytes, STATUS_BAD_JSON);                                                            \
        assert_string_equal(sentence, wanted);                                                     \
    } while (0)

/* The sentence says what is wrong and where, and nothing of the library that found it. */
static void said(void **state)
{
    (void)state;
    EXPECT_SAID("", "the body is empty, it must be JSON");
    EXPECT_SAID("{\"a\":1", "the body ends before its JSON is complete, near line 1, column 6");
    EXPECT_SAID("{\"a\":1}x",
                "the body has something after the end of its JSON, near line 1, column 8");
    EXPECT_SAID("{\"a\\u0000\":1}", "the name of a member has the character \\u0000, which is not "
                                    "allowed, near line 1, column 10");
    EXPECT_SAID("{\"a\":1,\n\"a\":2}", "the body has the same member twice, near line 2, column 3");
    EXPECT_SAID("[\"\xff\"]", "the body has a byte that is not UTF-8, near line 1, column 2");
    EXPECT_SAID("[99999999999999999999]", "the body has a number that is too large, integers must "
                                          "fit into 64 bits, near line 1, column 21");
    EXPECT_SAID("[1e999]",
                "the body has a number that is too large, integers must fit into 64 bits, "
                "near line 1, column 6");
    EXPECT_SAID("[1,]", "the body is not JSON: unexpected token near ']', line 1, column 4");
}

static void depth(void **state)
{
    (void)state;
    char bytes[2 * LIMIT_JSON_DEPTH + 3];
    for (size_t deep = LIMIT_JSON_DEPTH; deep <= LIMIT_JSON_DEPTH + 1; deep++) {
        memset(bytes, '[', deep);
        memset(bytes + deep, ']', deep);
        assert_int_equal(read_text(bytes, 2 * deep),
                         deep > LIMIT_JSON_DEPTH ? STATUS_BAD_JSON : STATUS_OK);
    }
    static char flood[KIB(256)];
    memset(flood, '[', sizeof flood);
    assert_int_equal(read_text(flood, sizeof flood), STATUS_BAD_JSON);
}

static void values(void **state)
{
    (void)state;
    static char bytes[3 * LIMIT_JSON_VALUES];
    size_t length = 0;
    bytes[length++] = '[';
    for (int i = 0; i < LIMIT_JSON_VALUES; i++) {
        bytes[length++] = '1';
        bytes[length++] = ',';
    }
    bytes[length - 1] = ']';
    assert_int_equal(read_text(bytes, length), STATUS_BAD_JSON);
    assert_non_null(strstr(sentence, "values"));
}

static void no_memory(void **state)
{
    (void)state;
    budget.limit = 100;
    EXPECT("[1,2,3]", STATUS_NO_MEMORY);
    budget.limit = MIB(8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good),
        cmocka_unit_test(a_string_may_have_nul),
        cmocka_unit_test(members_as_they_were_sent),
        cmocka_unit_test(bad),
        cmocka_unit_test(depth),
        cmocka_unit_test(values),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

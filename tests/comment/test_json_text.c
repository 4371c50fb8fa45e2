/* A text is JSON by the same rules as another parser's, byte by byte, and the first wrong byte is named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/limits.h"
#include "chance.h"
#include "comment/json_text.h"

static void valid_texts(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "null",
        "true",
        " false\r\n",
        "0",
        "-0",
        "-12.5e-3",
        "1E9",
        "123456789012345678901234567890",
        "\"\"",
        "\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\u0000\\ud83d\\ude00\"",
        "\"\xe4\xbd\xa0\xe5\xa5\xbd \xf0\x9f\x98\x80\"",
        "[]",
        "[ ]",
        "{}",
        "{ \"a\" : [1, 2, {\"b\":null}] , \"a\":3 }",
        "[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        size_t at = 0;
        if (!json_text_is_valid(text_from(texts[i]), &at))
            fail_msg("'%s' is JSON, but byte %zu is refused", texts[i], at);
    }
}

static void other_texts(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t at;
    } cases[] = {
        {"", 0},
        {"  ", 2},
        {"nul", 3},
        {"nulL", 3},
        {"True", 0},
        {"01", 1},
        {"1 2", 2},
        {"-", 1},
        {"-a", 1},
        {"1.", 2},
        {".5", 0},
        {"1e", 2},
        {"1e+", 3},
        {"+1", 0},
        {"\"", 1},
        {"\"a\nb\"", 2},
        {"\"\\x\"", 2},
        {"\"\\u12g4\"", 5},
        {"\"\\ud800\"", 7},
        {"\"\\ud800\\n\"", 8},
        {"\"\\udc00\"", 7},
        {"\"\\ud800\\u0041\"", 13},
        {"'a'", 0},
        {"[1,]", 3},
        {"[1 2]", 3},
        {"[1", 2},
        {"]", 0},
        {"[}", 1},
        {"{]", 1},
        {"{1:2}", 1},
        {"{\"a\"}", 4},
        {"{\"a\":}", 5},
        {"{\"a\":1,}", 7},
        {"{\"a\":1", 6},
        {"{\"a\" 1}", 5},
        {"[1}", 2},
        {"\"\xc3\"", 1},
        {"[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]", 16},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t at = SIZE_MAX;
        assert_false(json_text_is_valid(text_from(cases[i].text), &at));
        if (at != cases[i].at)
            fail_msg("'%s': byte %zu is refused instead of %zu", cases[i].text, at, cases[i].at);
    }
    size_t at;
    assert_false(json_text_is_valid((struct text){"\"a\0\"", 4}, &at));
    assert_int_equal(at, 2);
}

static bool jansson_reads(const char *bytes, size_t length)
{
    json_t *value = json_loadb(bytes, length, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    json_decref(value);
    return value != NULL;
}

/* Does the text have a number that is perhaps too large for jansson? */
static bool is_large(const char *bytes, size_t length)
{
    return memchr(bytes, 'e', length) != NULL || memchr(bytes, 'E', length) != NULL;
}

/* Random texts of signs that matter. */
static void the_same_as_another_parser(void **state)
{
    (void)state;
    static const char signs[] = "{}[]\"\",,::\\\\un0019dd88cc-+.eE trfalsn\n\x01\xc3\xa9";
    struct chance chance = {.state = test_seed()};
    size_t valid = 0;
    for (int i = 0; i < 2000000 / SANITIZED_PART; i++) {
        char text[12];
        size_t length = chance_below(&chance, sizeof text + 1), at = 0;
        for (size_t j = 0; j < length; j++)
            text[j] = signs[chance_below(&chance, sizeof signs - 1)];
        bool ours = json_text_is_valid((struct text){text, length}, &at);
        assert_true(at <= length);
        if (ours != jansson_reads(text, length) && !(ours && is_large(text, length)))
            fail_msg("'%.*s' is %s", (int)length, text, ours ? "accepted" : "refused");
        valid += ours;
    }
    assert_true(valid > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_texts),
        cmocka_unit_test(other_texts),
        cmocka_unit_test(the_same_as_another_parser),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

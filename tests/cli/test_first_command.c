#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "cli/first_command.h"

#define READER "read nHqk3v0Yw2cVQm1tqT8o\n"
#define WRITER "write Zp5xkD0a8Qm6s4uJb7eR clip,video\n"
#define AWK    "REDISCLI_AUTH=\"$(awk '$1 ~ /^"

static char said[FIRST_COMMAND_MAX];
static const char *types = "";

static const char *say(const char *tokens, const char *path, const char *host)
{
    struct access access = {.count = 0};
    char problem[256];
    if (tokens[0] != '\0')
        assert_true(access_parse(&access, tokens, strlen(tokens), problem, sizeof problem));
    first_command(&access, path, types, host, 5283, said);
    access_free(&access);
    return said;
}

static void test_without_tokens(void **state)
{
    (void)state;
    assert_string_equal(say("", "", "10.0.0.1"),
                        "a first like: redis-cli -h 10.0.0.1 -p 5283 LIKE 1 video:42");
    assert_string_equal(say("", "", "0.0.0.0"),
                        "a first like: redis-cli -h 127.0.0.1 -p 5283 LIKE 1 video:42");
    assert_string_equal(say("", "", "::"),
                        "a first like: redis-cli -h ::1 -p 5283 LIKE 1 video:42");
}

/* The first token that may write, with a type that it may write to; or else one that reads. */
static void test_with_tokens(void **state)
{
    (void)state;
    assert_string_equal(say(READER WRITER "admin 5mW2uT9rLx1cA7yGd3Kf\n", "/t", "h"),
                        "a first like: " AWK "(write|admin)$/ {print $2; exit}' '/t')\" "
                        "redis-cli -h h -p 5283 LIKE 1 clip:42");
    assert_null(strstr(said, "Zp5x"));
    assert_string_equal(say(READER, "/t", "h"),
                        "a first read: " AWK "read$/ {print $2; exit}' '/t')\" "
                        "redis-cli -h h -p 5283 COUNTS video:42");
}

static void assert_item(const char *allowed, const char *tokens, const char *item)
{
    types = allowed;
    say(tokens, "/t", "h");
    types = "";
    assert_string_equal(strrchr(said, ' ') + 1, item);
}

/* With --types, one that the server takes; of those that the token is for, if it is for some alone. */
static void test_type_is_allowed(void **state)
{
    (void)state;
    assert_item(" post , clip", "", "post:42");
    assert_item("post,video", "", "video:42");
    assert_item("post,video", WRITER, "video:42");
    assert_item("post,clip", WRITER, "clip:42");
    assert_item("post", WRITER, "clip:42");
    assert_item("post", "admin 5mW2uT9rLx1cA7yGd3Kf\n", "post:42");
}

static void test_path_is_one_word(void **state)
{
    (void)state;
    say(WRITER, "/a b/it's $HOME", "h");
    assert_non_null(strstr(said, " '/a b/it'\"'\"'s $HOME')\" "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_tokens),
        cmocka_unit_test(test_with_tokens),
        cmocka_unit_test(test_type_is_allowed),
        cmocka_unit_test(test_path_is_one_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Targets come apart into segments and parameters; what could mean another path is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "http/target.h"
#include "say.h"

/* The target as text: segments between slashes, then name=value, each with a bar behind. */
static void expect(const char *bytes, const char *wanted)
{
    char got[512] = "";
    size_t length = strlen(bytes);
    char *copy = malloc(length ? length : 1); /* no byte behind it */
    struct target target;
    assert_non_null(copy);
    memcpy(copy, bytes, length);
    const char *problem = target_read(&target, copy, length, (struct text){"a:1", 3});
    for (unsigned i = 0; !problem && i < target.segment_count && i < TARGET_SEGMENTS; i++)
        say(got, sizeof got, "/%.*s", (int)target.segments[i].length, target.segments[i].bytes);
    for (unsigned i = 0; !problem && i < target.parameter_count; i++)
        say(got, sizeof got, " %.*s=%.*s|", (int)target.parameters[i].name.length,
            target.parameters[i].name.bytes, (int)target.parameters[i].value.length,
            target.parameters[i].value.bytes);
    assert_string_equal(problem ? "bad" : target.asterisk ? "*" : got, wanted);
    free(copy);
}

static void good_targets(void **state)
{
    (void)state;
    expect("*", "*");
    expect("/", "/");
    expect("/v1/items/video:42", "/v1/items/video:42");
    expect("/v1/items/video%3A42", "/v1/items/video:42");
    expect("/a//b/", "/a//b/");
    expect("/a?", "/a");
    expect("/a?b", "/a b=|");
    expect("/a?b=&c=d%3d=e&f", "/a b=| c=d==e| f=|");
    expect("/a?&", "/a =| =|");
    expect("http://a:1/b?c=d", "/b c=d|");
    expect("HTTP://A:1/b", "/b");
    expect("/1/2/3/4/5/6/7/8/9", "/1/2/3/4/5/6/7/8");
    expect("/%2e%2E/..", "/../..");
}

static void bad_targets(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "a",
        "**",
        "a:1",
        "//%",
        "/%",
        "/%4",
        "/%4g",
        "/%g4",
        "/a%2Fb",
        "/a%2fb",
        "/a%00",
        "/a%0a",
        "/a%0d%0ab",
        "/a%20b",
        "/a%7f",
        "/a%80",
        "/a%C3%A9",
        "/a%5Cb",
        "/a?b=%",
        "/a?b=%2",
        "/a?%00=b",
        "/a?b=%0A",
        "http://a:1",
        "http://b:1/",
        "http://a:12/",
        "http://a:/b",
        "http:///b",
        "https://a:1/",
        "http://x@a:1/",
        "/a?1&2&3&4&5&6&7&8&9",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        expect(bad[i], "bad");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_targets),
        cmocka_unit_test(bad_targets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "http/origin.h"

static char problem[512];

static void test_good(void **state)
{
    (void)state;
    static const char *const good[] = {
        "",
        "*",
        "https://a.example",
        "https://a.example,https://b.example:8443",
        "http://localhost:3000 http://127.0.0.1:8080",
        "https://[2001:db8::1]:8443",
        "chrome-extension://abcdefghijklmnop",
        "https://xn--bcher-kva.example, *",
        "http://a.example:443",
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        if (!origins_check(good[i], problem, sizeof problem))
            fail_msg("'%s' was refused: %s", good[i], problem);
}

static void test_bad(void **state)
{
    (void)state;
    static const struct {
        const char *list, *named, *why;
    } bad[] = {
        {"a.example", "'a.example'", "scheme such as https://"},
        {"https://a.example,b.example", "'b.example'", "scheme"},
        {"//a.example", "'//a.example'", "scheme"},
        {"https:a.example", "'https:a.example'", "scheme"},
        {"https://", "'https://'", "no host"},
        {"https://a.example/", "'https://a.example/'", "path"},
        {"https://a.example/x", "/x'", "path"},
        {"https://A.example", "'https://A.example'", "lower case"},
        {"HTTPS://a.example", "'HTTPS://a.example'", "lower case"},
        {"https://a.example:443", ":443'", "of the scheme"},
        {"http://a.example:80", ":80'", "of the scheme"},
        {"https://a.example:0", ":0'", "not a port"},
        {"https://a.example:65536", ":65536'", "not a port"},
        {"https://a.example:x", ":x'", "not a port"},
        {"https://a.example:", ":'", "not a port"},
        {"https://me@a.example", "@a.example'", "not a port"},
        {"https://*.a.example", "'https://*.a.example'", "no host"},
        {"https://[::1", "'https://[::1'", "IPv6"},
        {"null", "'null'", "any site"},
        {"https://a.example?x", "?x'", "not a port"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (origins_check(bad[i].list, problem, sizeof problem))
            fail_msg("'%s' was taken", bad[i].list);
        if (strstr(problem, bad[i].named) == NULL || strstr(problem, bad[i].why) == NULL ||
            strstr(problem, "as in https://a.example") == NULL)
            fail_msg("'%s': %s", bad[i].list, problem);
    }
    char longest[600] = "https://";
    memset(longest + 8, 'a', sizeof longest - 9);
    assert_false(origins_check(longest, problem, sizeof problem));
    assert_non_null(strstr(problem, "too long"));
}

static void test_have(void **state)
{
    (void)state;
    const char *list = "https://a.example, http://localhost:3000";
    assert_true(origins_have(list, "https://a.example"));
    assert_true(origins_have(list, "http://localhost:3000"));
    assert_false(origins_have(list, "https://a.exampl"));
    assert_false(origins_have(list, "https://a.example.org"));
    assert_false(origins_have(list, ""));
    assert_false(origins_have("", "https://a.example"));
    assert_true(origins_have("*", "null"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_have),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

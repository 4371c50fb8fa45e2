/* HTML is for those who name it, and want it no less than JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "http/accept.h"

static struct accept take(const char *value)
{
    struct accept accept = {0};
    accept_take(&accept, (struct text){value, strlen(value)});
    return accept;
}

static void forms(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        bool html;
    } cases[] = {
        {"", false},
        {"*/*", false},
        {"application/json", false},
        {"application/json, text/plain, */*", false},
        {"text/html", true},
        {"TEXT/HTML ; charset=utf-8", true},
        {"text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8", true},
        {"text/html;level=1;q=0.4, application/json;q=0.5", false},
        {"application/json;q=0.5, text/html; q = 0.5", true},
        {"text/html;q=0", false},
        {"text/html;q=0.000", false},
        {"text/html;q=0.001", true},
        {"text/html;q=1.000", true},
        {"text/htmlx", false},
        {"text/html;q=", false},
        {"text/html;q=x", false},
        {"text/html;q=2", false},
        {"text/html;q=0.12345", false},
        {",;,=;q,,text/html", true},
        {"text/html;q=0,text/html", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct accept accept = take(cases[i].value);
        if (accept_prefers_html(&accept) != cases[i].html)
            fail_msg("'%s'", cases[i].value);
    }
}

static void several_headers_add_up(void **state)
{
    (void)state;
    struct accept accept = take("text/html;q=0.3");
    accept_take(&accept, (struct text){"application/json", strlen("application/json")});
    assert_int_equal(accept.html, 300);
    assert_int_equal(accept.json, 1000);
    assert_false(accept_prefers_html(&accept));
}

static void gzip_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        bool gzip;
    } cases[] = {
        {"", false},
        {"gzip", true},
        {"*", false},
        {"identity", false},
        {"deflate", false},
        {"gzip, deflate, br, zstd", true},
        {"br;q=1, GZIP", true},
        {"gzip;q=0", false},
        {"gzip;q=0.5", true},
        {"xgzip", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (accept_takes_gzip((struct text){cases[i].value, strlen(cases[i].value)}) !=
            cases[i].gzip)
            fail_msg("'%s'", cases[i].value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms),
        cmocka_unit_test(several_headers_add_up),
        cmocka_unit_test(gzip_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Heads that can be read in more than one way, or are too large, do not pass; others do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "http/head.h"
#include "say.h"
#include "steps.h"

#define HEAD_MAX KIB(16)

struct checking {
    struct head_scan scan;
    const char *problem;
};

static enum status check_more(void *context, const char *bytes, size_t seen)
{
    struct checking *checking = context;
    return head_check(&checking->scan, bytes, seen, HEAD_MAX, &checking->problem);
}

static enum status check(const char *bytes, size_t length, size_t step, size_t *end)
{
    struct checking checking = {0};
    enum status status = in_steps(bytes, length, step, check_more, &checking);
    if (status != STATUS_OK && status != STATUS_MORE)
        assert_non_null(checking.problem);
    *end = checking.scan.at;
    return status;
}

static void expect(const char *bytes, size_t length, enum status wanted)
{
    static const size_t steps[] = {1, 3, 100000};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        size_t end;
        enum status got = check(bytes, length, steps[i], &end);
        if (got != wanted)
            fail_msg("%s instead of %s for: %s", status_name(got), status_name(wanted), bytes);
        if (got == STATUS_OK)
            assert_int_equal(end, length);
    }
}

#define EXPECT(bytes, wanted) expect(bytes, sizeof(bytes) - 1, wanted)

static void good_heads_pass(void **state)
{
    (void)state;
    EXPECT("GET / HTTP/1.1\r\n\r\n", STATUS_OK);
    EXPECT("GET /a?b=c&d=%20 HTTP/1.0\r\nHost: x\r\n\r\n", STATUS_OK);
    EXPECT("OPTIONS * HTTP/1.1\r\nHost: x:1\r\nA:\r\nB: \t c \t\r\n\r\n", STATUS_OK);
    EXPECT("GET http://[::1]:8/ HTTP/1.1\r\nX-Y_z!#$%&'*+.^`|~: \xc3\xa9 \"<>{}\r\n\r\n",
           STATUS_OK);
}

static void unfinished_heads_wait(void **state)
{
    (void)state;
    EXPECT("G", STATUS_MORE);
    EXPECT("GET / HTTP/1.1", STATUS_MORE);
    EXPECT("GET / HTTP/1.1\r", STATUS_MORE);
    EXPECT("GET / HTTP/1.1\r\n", STATUS_MORE);
    EXPECT("GET / HTTP/1.1\r\nHost: x\r\n", STATUS_MORE);
    EXPECT("GET / HTTP/1.1\r\nHost: x\r\n\r", STATUS_MORE);
}

static void hostile_heads_are_refused(void **state)
{
    (void)state;
    EXPECT("\r\nGET / HTTP/1.1\r\n\r\n", STATUS_BAD_PROTOCOL);
    EXPECT("\n", STATUS_BAD_PROTOCOL);
    EXPECT("GET / HTTP/1.1\n\n", STATUS_BAD_PROTOCOL);
    EXPECT("GET / HTTP/1.1\nHost: x\r\n\r\n", STATUS_BAD_PROTOCOL);
    EXPECT("GET / HTTP/1.1\r\nHost: x\n\r\n", STATUS_BAD_PROTOCOL);
    EXPECT("GET / HTTP/1.1\r\nHost: x\r\n\n", STATUS_BAD_PROTOCOL);
    EXPECT("GET / HTTP/1.1\r\nHost: x\rA: b\r\n\r\n", STATUS_BAD_PROTOCOL);
    EXPECT("GET / HTTP/1.1\r\nHost: x\r\r\n\r\n", STATUS_BAD_PROTOCOL);
    EXPECT("GET / HTTP/1.1\r\nHost: x\r\n y\r\n\r\n", STATUS_BAD_PROTOCOL);
    EXPECT("GET / HTTP/1.1\r\nHost: x\r\n\ty\r\n\r\n", STATUS_BAD_PROTOCOL);
    EXPECT("GET / HTTP/1.1\r\n Host: x\r\n\r\n", STATUS_BAD_PROTOCOL);
    EXPECT("GET / HTTP/1.1\r\nHost : x\r\n\r\n", STATUS_BAD_PROTOCOL);
    EXPECT("GET / HTTP/1.1\r\nHost\t: x\r\n\r\n", STATUS_BAD_PROTOCOL);
    EXPECT("GET / HTTP/1.1\r\n: x\r\n\r\n", STATUS_BAD_PROTOCOL);
    EXPECT("GET / HTTP/1.1\r\nHost\r\n\r\n", STATUS_BAD_PROTOCOL);
    EXPECT("GET / HTTP/1.1\r\nHo st: x\r\n\r\n", STATUS_BAD_PROTOCOL);
    EXPECT("GET / HTTP/1.1\r\nH\xc3st: x\r\n\r\n", STATUS_BAD_PROTOCOL);
    EXPECT("GET / HTTP/1.1\r\nHost: x\0y\r\n\r\n", STATUS_BAD_PROTOCOL);
    EXPECT("GET / HTTP/1.1\r\nHost: \x01\r\n\r\n", STATUS_BAD_PROTOCOL);
    EXPECT("GET / HTTP/1.1\r\nHost: \x7f\r\n\r\n", STATUS_BAD_PROTOCOL);
    EXPECT("G\0T / HTTP/1.1\r\n\r\n", STATUS_BAD_PROTOCOL);
    EXPECT("GET  / HTTP/1.1\r\n\r\n", STATUS_BAD_PROTOCOL);
    EXPECT("GET /  HTTP/1.1\r\n\r\n", STATUS_BAD_PROTOCOL);
    EXPECT("GET / HTTP/1.1 \r\n\r\n", STATUS_BAD_PROTOCOL);
    EXPECT(" GET / HTTP/1.1\r\n\r\n", STATUS_BAD_PROTOCOL);
    EXPECT("GET\t/\tHTTP/1.1\r\n\r\n", STATUS_BAD_PROTOCOL);
    EXPECT("get / HTTP/1.1\r\n\r\n", STATUS_BAD_PROTOCOL);
    EXPECT("GET /\r\n\r\n", STATUS_BAD_PROTOCOL);
    EXPECT("GET\r\n\r\n", STATUS_BAD_PROTOCOL);
    EXPECT("GET / http/1.1\r\n\r\n", STATUS_BAD_PROTOCOL);
    EXPECT("GET / HTTP/1.10\r\n\r\n", STATUS_BAD_PROTOCOL);
    EXPECT("GET / HTTP/1,1\r\n\r\n", STATUS_BAD_PROTOCOL);
    EXPECT("GET /a b HTTP/1.1\r\n\r\n", STATUS_BAD_PROTOCOL);
    EXPECT("GET /\xc3\xa9 HTTP/1.1\r\n\r\n", STATUS_BAD_PROTOCOL);
    EXPECT("GET /#x HTTP/1.1\r\n\r\n", STATUS_BAD_PROTOCOL);
    EXPECT("GET /\\x HTTP/1.1\r\n\r\n", STATUS_BAD_PROTOCOL);
    EXPECT("GET /{x} HTTP/1.1\r\n\r\n", STATUS_BAD_PROTOCOL);
    EXPECT("GET / HTTP/2.0\r\n\r\n", STATUS_BAD_VERSION);
    EXPECT("GET / HTTP/1.2\r\n\r\n", STATUS_BAD_VERSION);
    EXPECT("GET / HTTP/0.9\r\n\r\n", STATUS_BAD_VERSION);
}

/* start, then so many of a byte, then end */
static void expect_long(const char *start, size_t count, const char *end, enum status wanted)
{
    static char bytes[4 * HEAD_MAX], filling[2 * HEAD_MAX];
    size_t where;
    memset(filling, 'a', sizeof filling);
    bytes[0] = '\0';
    say(bytes, sizeof bytes, "%s%.*s%s", start, (int)count, filling, end);
    assert_int_equal(check(bytes, strlen(bytes), 1000, &where), wanted);
}

static void too_much_is_told_apart(void **state)
{
    (void)state;
    const char *end = " HTTP/1.1\r\n\r\n";
    expect_long("GET /", LIMIT_HTTP_LINE - 5 - 11, end, STATUS_OK);
    expect_long("GET /", LIMIT_HTTP_LINE - 5 - 10, end, STATUS_LINE_TOO_LONG);
    expect_long("GET /", LIMIT_HTTP_LINE, "", STATUS_LINE_TOO_LONG);
    expect_long("GET / HTTP/1.1\r\nA: ", HEAD_MAX - 19 - 4, "\r\n\r\n", STATUS_OK);
    expect_long("GET / HTTP/1.1\r\nA: ", HEAD_MAX - 19 - 3, "\r\n\r\n", STATUS_HEAD_TOO_LARGE);
    expect_long("GET / HTTP/1.1\r\nA: ", HEAD_MAX, "", STATUS_HEAD_TOO_LARGE);
    for (unsigned fields = LIMIT_HTTP_HEADERS - 1; fields <= LIMIT_HTTP_HEADERS + 1; fields++) {
        char bytes[1024] = "GET / HTTP/1.1\r\n";
        for (unsigned i = 0; i < fields; i++)
            say(bytes, sizeof bytes, "A: b\r\n");
        say(bytes, sizeof bytes, "\r\n");
        expect(bytes, strlen(bytes),
               fields > LIMIT_HTTP_HEADERS ? STATUS_HEAD_TOO_LARGE : STATUS_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_heads_pass),
        cmocka_unit_test(unfinished_heads_wait),
        cmocka_unit_test(hostile_heads_are_refused),
        cmocka_unit_test(too_much_is_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

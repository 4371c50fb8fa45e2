/* The parser gives the same commands however the bytes are cut, and refuses what it must. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "chance.h"
#include "resp/parse.h"

#define ARGS_MAX 8

static const struct resp_limits limits = {.args_max = ARGS_MAX, .bulk_max = 40};

/* All commands of a stream as text, "<word><word>|<word>|", ended by "!" if it was refused. */
static void transcribe(const char *bytes, size_t length, size_t step, char *out, size_t size)
{
    struct text args[ARGS_MAX];
    struct resp_command command = {.args = args};
    struct resp_parser parser = {0};
    size_t start = 0, seen = step < length ? step : length, at = 0;
    for (;;) {
        const char *problem = NULL;
        enum status status =
            resp_parse(&parser, &limits, bytes + start, seen - start, &command, &problem);
        if (status == STATUS_MORE && seen == length)
            break;
        if (status == STATUS_MORE) {
            seen = seen + step < length ? seen + step : length;
            continue;
        }
        if (status == STATUS_BAD_PROTOCOL) {
            assert_non_null(problem);
            at += (size_t)snprintf(out + at, size - at, "!");
            break;
        }
        assert_int_equal(status, STATUS_OK);
        assert_in_range(command.used, 1, seen - start);
        for (uint32_t i = 0; i < command.count; i++)
            at +=
                (size_t)snprintf(out + at, size - at, "<%.*s>", (int)args[i].length, args[i].bytes);
        at += (size_t)snprintf(out + at, size - at, "|");
        assert_true(at < size);
        start += command.used;
    }
    out[at] = '\0';
}

static void check(const char *bytes, const char *expected)
{
    char out[4096];
    for (size_t step = 1; step <= strlen(bytes); step++) {
        transcribe(bytes, strlen(bytes), step, out, sizeof out);
        assert_string_equal(out, expected);
    }
}

static void reads_arrays_however_cut(void **state)
{
    (void)state;
    check("*1\r\n$4\r\nPING\r\n", "<PING>|");
    check("*3\r\n$4\r\nLIKE\r\n$1\r\n1\r\n$7\r\nvideo:2\r\n*1\r\n$4\r\nPING\r\n",
          "<LIKE><1><video:2>|<PING>|");
    check("*2\r\n$4\r\nECHO\r\n$0\r\n\r\n", "<ECHO><>|");
    check("*2\r\n$4\r\nECHO\r\n$4\r\n\r\n\r\n\r\n", "<ECHO><\r\n\r\n>|");
    check("*0\r\n*1\r\n$1\r\nx\r\n", "|<x>|");
    check("*2\r\n$4\r\nECHO\r\n$3\r\nab", "");
}

static void reads_inline_commands(void **state)
{
    (void)state;
    check("PING\r\n", "<PING>|");
    check("  LIKE 1\tvideo:2  \n\r\nPING\n", "<LIKE><1><video:2>||<PING>|");
    check("PING\r\n*1\r\n$4\r\nPING\r\nPING\n", "<PING>|<PING>|<PING>|");
    check("PING", "");
}

static void refuses_violations(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "*x\r\n",
        "*-1\r\n",
        "*9\r\n",
        "*99999999999999999999\r\n",
        "*\r\n",
        "*1\rx",
        "*1\r\n+OK\r\n",
        "*1\r\n$-1\r\n",
        "*1\r\n$41\r\n",
        "*1\r\n$4294967296\r\n",
        "*1\r\n$+1\r\nx\r\n",
        "*1\r\n$1\r\nxy\r\n",
        "*1\r\n$1\r\nx\n\n",
        "1 2 3 4 5 6 7 8 9\r\n",
        "01234567890123456789012345678901234567890123456789\r\n",
        "POST / HTTP/1.1\r\n",
        "Host: x\r\n",
        "GET / HTTP/1.1\r\n",
        "\x16\x03\x01\x02\x01\x01",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        check(bad[i], "!");
}

static void refuses_endless_lines(void **state)
{
    (void)state;
    char out[16];
    char *line = malloc(LIMIT_INLINE + 1);
    assert_non_null(line);
    memset(line, ' ', LIMIT_INLINE + 1);
    transcribe(line, LIMIT_INLINE - 1, LIMIT_INLINE, out, sizeof out);
    assert_string_equal(out, "");
    transcribe(line, LIMIT_INLINE + 1, 1000, out, sizeof out);
    assert_string_equal(out, "!");
    free(line);
}

/* Bytes a client might send, well-formed or not, cut in every way. */
static void random_streams_do_not_depend_on_cuts(void **state)
{
    (void)state;
    static const char *const pieces[] = {"*",    "$",  "\r\n", "1", "2",      "3",
                                         "PING", "\n", " ",    "-", "*1\r\n", "$4\r\nPING\r\n",
                                         "\r",   "x"};
    struct chance chance = {test_seed()};
    for (int round = 0; round < 20000; round++) {
        char stream[256] = "", whole[4096], cut[4096];
        size_t length = 0;
        for (uint32_t i = chance_below(&chance, 12) + 1; i > 0; i--)
            length +=
                (size_t)snprintf(stream + length, sizeof stream - length, "%s",
                                 pieces[chance_below(&chance, sizeof pieces / sizeof pieces[0])]);
        transcribe(stream, strlen(stream), sizeof stream, whole, sizeof whole);
        transcribe(stream, strlen(stream), 1, cut, sizeof cut);
        assert_string_equal(whole, cut);
        transcribe(stream, strlen(stream), 3, cut, sizeof cut);
        assert_string_equal(whole, cut);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_arrays_however_cut),
        cmocka_unit_test(reads_inline_commands),
        cmocka_unit_test(refuses_violations),
        cmocka_unit_test(refuses_endless_lines),
        cmocka_unit_test(random_streams_do_not_depend_on_cuts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

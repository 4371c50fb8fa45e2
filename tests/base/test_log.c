/* Lines as they are written, and how many. Time is passed in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/log.h"

#define AT 1700000000123ULL /* 2023-11-14T22:13:20.123Z */

static void expect_line(enum log_format format, const char *message, const char *wanted)
{
    char line[LOG_LINE_MAX + 1];
    size_t length = log_line(line, format, LOG_WARN, AT, message);
    assert_true(length <= LOG_LINE_MAX);
    line[length] = '\0';
    assert_string_equal(line, wanted);
}

static void three_formats(void **state)
{
    (void)state;
    expect_line(LOG_TEXT, "a \"word\"", "2023-11-14T22:13:20.123Z warn  a \"word\"\n");
    expect_line(LOG_LOGFMT, "a \"word\"",
                "time=2023-11-14T22:13:20.123Z level=warn msg=\"a \\\"word\\\"\"\n");
    expect_line(LOG_JSON, "a \"word\"",
                "{\"time\":\"2023-11-14T22:13:20.123Z\",\"level\":\"warn\","
                "\"msg\":\"a \\\"word\\\"\"}\n");
}

#define HEAD_TEXT "2023-11-14T22:13:20.123Z warn  "
#define HEAD_JSON "{\"time\":\"2023-11-14T22:13:20.123Z\",\"level\":\"warn\",\"msg\":\""

static void nothing_gets_out_of_its_line(void **state)
{
    (void)state;
    expect_line(LOG_TEXT, "x\r\n2023 error fake\x1b[2J\x7f\\",
                HEAD_TEXT "x\\r\\n2023 error fake\\x1b[2J\\x7f\\\\\n");
    expect_line(LOG_JSON, "x\n\",\"level\":\"\x1b\t\\",
                HEAD_JSON "x\\n\\\",\\\"level\\\":\\\"\\u001b\\t\\\\\"}\n");
    /* Well-formed UTF-8 stays; a control character past ASCII does not. */
    expect_line(LOG_TEXT, "ü€😀", HEAD_TEXT "ü€😀\n");
    expect_line(LOG_TEXT, "\xc2\x9b[2J", HEAD_TEXT "\\xc2\\x9b[2J\n");
    expect_line(LOG_JSON, "\xc2\x9b", HEAD_JSON "\\u009b\"}\n");
    /* A byte that begins nothing, overlong forms, a surrogate, past the end, cut off. */
    static const char *const bad[] = {"\x80",         "\xc0\xaf",         "\xe0\x80\xaf",
                                      "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xf4\x90\x80\x80",
                                      "\xe2\x82"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char bytes[32] = "", marks[32] = "", text[256], json[256];
        for (size_t k = 0; bad[i][k] != '\0'; k++) {
            snprintf(bytes + 4 * k, 5, "\\x%02x", (unsigned char)bad[i][k]);
            snprintf(marks + 6 * k, 7, "\\ufffd");
        }
        snprintf(text, sizeof text, "%s%s\n", HEAD_TEXT, bytes);
        snprintf(json, sizeof json, "%s%s\"}\n", HEAD_JSON, marks);
        expect_line(LOG_TEXT, bad[i], text);
        expect_line(LOG_JSON, bad[i], json);
    }
}

static void a_long_line_is_cut_and_stays_whole(void **state)
{
    (void)state;
    char message[2 * LOG_LINE_MAX], line[LOG_LINE_MAX];
    memset(message, 1, sizeof message - 1);
    message[sizeof message - 1] = '\0';
    for (int format = LOG_TEXT; format <= LOG_JSON; format++) {
        static const char *const ends[] = {"...\n", "...\"\n", "...\"}\n"};
        size_t length = log_line(line, (enum log_format)format, LOG_INFO, AT, message);
        size_t tail = strlen(ends[format]);
        assert_true(length <= LOG_LINE_MAX && length > LOG_LINE_MAX - 64);
        assert_memory_equal(line + length - tail, ends[format], tail);
    }
}

static void a_place_says_ten_things_a_second(void **state)
{
    (void)state;
    static struct log_site site;
    uint64_t before = log_suppressed();
    for (int i = 0; i < LOG_BURST; i++)
        assert_true(log_admit(&site, AT + (uint64_t)i));
    for (int i = 0; i < 5; i++)
        assert_false(log_admit(&site, AT + 999));
    assert_int_equal(log_suppressed() - before, 5);
    assert_true(log_admit(&site, AT + 1000));
    for (int i = 1; i < LOG_BURST; i++)
        assert_true(log_admit(&site, AT + 1500));
    assert_false(log_admit(&site, AT + 1999));
    assert_true(log_admit(&site, AT)); /* the clock was set back */
}

/* All that is written to standard error meanwhile. */
static int saved, ends[2];

static void catch_lines(void)
{
    assert_int_equal(pipe(ends), 0);
    saved = dup(STDERR_FILENO);
    assert_true(dup2(ends[1], STDERR_FILENO) >= 0);
}

static void take_lines(char *out, size_t size)
{
    assert_true(dup2(saved, STDERR_FILENO) >= 0);
    close(saved);
    close(ends[1]);
    ssize_t length = read(ends[0], out, size - 1);
    assert_true(length >= 0);
    out[length] = '\0';
    close(ends[0]);
}

static void what_was_left_out_is_told(void **state)
{
    (void)state;
    char lines[8192];
    catch_lines();
    for (int i = 0; i < 100; i++)
        log_warn("again %d", i);
    log_settle(UINT64_MAX / 2); /* long after */
    log_settle(UINT64_MAX / 2); /* and once only */
    take_lines(lines, sizeof lines);
    assert_non_null(strstr(lines, "warn  again 0\n"));
    const char *told = strstr(lines, " more lines from test_log.c:");
    assert_non_null(told);
    const char *end = strstr(told, " were suppressed\n");
    assert_non_null(end);
    assert_null(strstr(end + strlen(" were suppressed"), "suppressed"));
    while (told[-1] >= '0' && told[-1] <= '9')
        told--;
    long said = 0, left_out = strtol(told, NULL, 10);
    for (const char *at = lines; (at = strstr(at, "again ")) != NULL; at++)
        said++;
    assert_int_equal(said + left_out, 100);
    assert_true(left_out > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_formats),
        cmocka_unit_test(nothing_gets_out_of_its_line),
        cmocka_unit_test(a_long_line_is_cut_and_stays_whole),
        cmocka_unit_test(a_place_says_ten_things_a_second),
        cmocka_unit_test(what_was_left_out_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

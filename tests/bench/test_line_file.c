#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench/line_file.h"

static struct line_file lines;
static char problem[256];

static bool read_text(const char *text)
{
    char path[] = "/tmp/laud-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    bool read = line_file_read(&lines, path, problem, sizeof problem);
    unlink(path);
    return read;
}

static void lines_are_read(void **state)
{
    (void)state;
    assert_true(read_text("abc\ndef\nghi\n"));
    assert_int_equal(lines.count, 3);
    assert_int_equal(lines.length, 3);
    assert_memory_equal(line_file_at(&lines, 2), "ghi", 3);
    line_file_free(&lines);
    assert_true(read_text("abc\ndef")); /* the last line need not be ended */
    assert_int_equal(lines.count, 2);
    assert_memory_equal(line_file_at(&lines, 1), "def", 3);
    line_file_free(&lines);
}

static void expect_refusal(const char *text, const char *word)
{
    assert_false(read_text(text));
    assert_non_null(strstr(problem, word));
    assert_null(lines.bytes);
}

static void other_files_are_refused(void **state)
{
    (void)state;
    expect_refusal("", "no lines");
    expect_refusal("\n\n", "no lines");
    expect_refusal("abc\nde\n", "different lengths");
    expect_refusal("abc\nabcdefg\n", "different lengths");
    expect_refusal("abc\nd\nf\n", "different lengths");
    expect_refusal("abc\nd f\n", "printable");
    assert_false(line_file_read(&lines, "/nonexistent/file", problem, sizeof problem));
    assert_non_null(strstr(problem, "/nonexistent/file"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_read),
        cmocka_unit_test(other_files_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

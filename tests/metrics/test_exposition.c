#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "metrics/exposition.h"

static struct memory_budget budget = {.limit = MIB(1)};

static void expect(struct buffer *out, const char *wanted)
{
    assert_true(buffer_append(out, "", 1));
    assert_string_equal(out->bytes, wanted);
    buffer_free(out);
    assert_int_equal(memory_used(&budget), 0);
}

static void families_and_samples(void **state)
{
    (void)state;
    struct buffer out = {.budget = &budget};
    assert_true(exposition_family(&out, "laud_x", "gauge", "back\\slash\nand a line"));
    assert_true(exposition_sample(&out, "laud_x", "", 7, 0));
    assert_true(exposition_sample(&out, "laud_x", "of=\"a\"", UINT64_MAX, 0));
    assert_true(exposition_sample(&out, "laud_x", "", 1500, 3));
    assert_true(exposition_sample(&out, "laud_x", "", 7, 3));
    assert_true(exposition_sample(&out, "laud_x", "", 2000, 3));
    assert_true(exposition_sample(&out, "laud_x", "", 0, 9));
    assert_true(exposition_sample(&out, "laud_x", "", UINT64_MAX, 9));
    expect(&out, "# HELP laud_x back\\\\slash\\nand a line\n"
                 "# TYPE laud_x gauge\n"
                 "laud_x 7\n"
                 "laud_x{of=\"a\"} 18446744073709551615\n"
                 "laud_x 1.5\n"
                 "laud_x 0.007\n"
                 "laud_x 2\n"
                 "laud_x 0\n"
                 "laud_x 18446744073.709551615\n");
}

static void labels_are_escaped(void **state)
{
    (void)state;
    char labels[EXPOSITION_LABELS] = "";
    exposition_label(labels, "a", "quote \" back \\ line \n end");
    exposition_label(labels, "b", "");
    assert_string_equal(labels, "a=\"quote \\\" back \\\\ line \\n end\",b=\"\"");
    char long_value[2 * EXPOSITION_LABELS];
    memset(long_value, '"', sizeof long_value - 1);
    long_value[sizeof long_value - 1] = '\0';
    exposition_label(labels, "c", long_value); /* no room: left out */
    exposition_label(labels, "d", "1");
    assert_string_equal(labels, "a=\"quote \\\" back \\\\ line \\n end\",b=\"\",d=\"1\"");
}

static void a_histogram_adds_up(void **state)
{
    (void)state;
    struct buckets_total total = {.sum = 12345678901};
    total.counts[0] = 2;
    total.counts[1] = 3;
    total.counts[BUCKETS_BOUNDED - 1] = 4;
    total.counts[BUCKETS_BOUNDED] = 5;
    struct buffer out = {.budget = &budget};
    assert_true(
        exposition_histogram(&out, "laud_t", "operation=\"LIKE\"", &total, BUCKETS_SHIFT_NS, 9));
    assert_true(buffer_append(&out, "", 1));
    static const char *const begin = "laud_t_bucket{operation=\"LIKE\",le=\"0.000001024\"} 2\n"
                                     "laud_t_bucket{operation=\"LIKE\",le=\"0.000002048\"} 5\n"
                                     "laud_t_bucket{operation=\"LIKE\",le=\"0.000004096\"} 5\n";
    static const char *const end = "laud_t_bucket{operation=\"LIKE\",le=\"4.294967296\"} 5\n"
                                   "laud_t_bucket{operation=\"LIKE\",le=\"8.589934592\"} 9\n"
                                   "laud_t_bucket{operation=\"LIKE\",le=\"+Inf\"} 14\n"
                                   "laud_t_sum{operation=\"LIKE\"} 12.345678901\n"
                                   "laud_t_count{operation=\"LIKE\"} 14\n";
    assert_memory_equal(out.bytes, begin, strlen(begin));
    assert_string_equal(out.bytes + strlen(out.bytes) - strlen(end), end);
    buffer_free(&out);
    struct buffer plain = {.budget = &budget};
    assert_true(exposition_histogram(&plain, "laud_n", "", &total, 0, 0));
    static const char *const first = "laud_n_bucket{le=\"1\"} 2\nlaud_n_bucket{le=\"2\"} 5\n";
    assert_memory_equal(plain.bytes, first, strlen(first));
    buffer_free(&plain);
}

static void no_memory_is_said(void **state)
{
    (void)state;
    struct memory_budget none = {.limit = 0};
    struct buffer out = {.budget = &none};
    assert_false(exposition_sample(&out, "laud_x", "", 7, 0));
    buffer_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(families_and_samples),
        cmocka_unit_test(labels_are_escaped),
        cmocka_unit_test(a_histogram_adds_up),
        cmocka_unit_test(no_memory_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bench/zipf.h"

#define SEED  99
#define DRAWS 2000000

static uint64_t drawn[1000];

/* Every one of 1000 ranks is drawn as often as its probability says, within five deviations. */
static void check_shape(double theta)
{
    struct zipf zipf;
    struct random random = {SEED};
    double total = 0;
    print_message("seed %d theta %g\n", SEED, theta);
    memset(drawn, 0, sizeof(drawn));
    zipf_init(&zipf, 1000, theta);
    for (int i = 0; i < DRAWS; i++) {
        uint64_t rank = zipf_draw(&zipf, &random);
        assert_true(rank < 1000);
        drawn[rank]++;
    }
    for (int k = 1; k <= 1000; k++)
        total += pow(k, -theta);
    for (int k = 1; k <= 1000; k++) {
        double expected = DRAWS * pow(k, -theta) / total;
        double off = fabs((double)drawn[k - 1] - expected);
        assert_true(off <= 5 * sqrt(expected) + 2);
    }
}

static void shape_below_one(void **state)
{
    (void)state;
    check_shape(0.5);
    check_shape(0.99);
}

static void shape_at_one(void **state)
{
    (void)state;
    check_shape(1.0);
}

static void shape_above_one(void **state)
{
    (void)state;
    check_shape(1.2);
    check_shape(3.0);
}

static void one_of_one(void **state)
{
    (void)state;
    struct zipf zipf;
    struct random random = {SEED};
    zipf_init(&zipf, 1, 0.99);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(zipf_draw(&zipf, &random), 0);
}

static void huge_counts_stay_in_range(void **state)
{
    (void)state;
    struct zipf zipf;
    struct random random = {SEED};
    const uint64_t count = 10000000000ULL;
    uint64_t highest = 0;
    zipf_init(&zipf, count, 0.8);
    for (int i = 0; i < 100000; i++) {
        uint64_t rank = zipf_draw(&zipf, &random);
        assert_true(rank < count);
        highest = rank > highest ? rank : highest;
    }
    assert_true(highest > count / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shape_below_one),           cmocka_unit_test(shape_at_one),
        cmocka_unit_test(shape_above_one),           cmocka_unit_test(one_of_one),
        cmocka_unit_test(huge_counts_stay_in_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

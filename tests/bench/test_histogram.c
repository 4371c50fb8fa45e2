#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/histogram.h"
#include "bench/random.h"

#define SEED 20240607

static struct histogram histogram;

static int clear(void **state)
{
    (void)state;
    memset(&histogram, 0, sizeof(histogram));
    return 0;
}

static void empty_says_zero(void **state)
{
    (void)state;
    assert_int_equal(histogram_quantile(&histogram, 0.5), 0);
    assert_true(histogram_mean(&histogram) == 0);
}

static void buckets_never_go_back(void **state)
{
    (void)state;
    uint32_t last = histogram_bucket(0);
    assert_int_equal(last, 0);
    for (uint64_t value = 1; value < 1000000; value++) {
        uint32_t bucket = histogram_bucket(value);
        assert_true(bucket == last || bucket == last + 1);
        last = bucket;
    }
    assert_int_equal(histogram_bucket(UINT64_MAX), HISTOGRAM_BUCKETS - 1);
}

/* A lone value is its own maximum, so a larger one beside it shows what the bucket says. */
static void any_value_within_one_percent(void **state)
{
    (void)state;
    struct random random = {SEED};
    print_message("seed %d\n", SEED);
    for (int i = 0; i < 2000; i++) {
        uint64_t value = random_next(&random) >> random_below(&random, 63);
        memset(&histogram, 0, sizeof(histogram));
        histogram_add(&histogram, value);
        histogram_add(&histogram, UINT64_MAX);
        uint64_t said = histogram_quantile(&histogram, 0.5);
        double error = said > value ? (double)(said - value) : (double)(value - said);
        assert_true(error <= (double)value * 0.01);
    }
}

static int compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

static void quantiles_match_sorted_values(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    static uint64_t values[COUNT];
    struct random random = {SEED + 1};
    print_message("seed %d\n", SEED + 1);
    for (int i = 0; i < COUNT; i++) {
        values[i] = 1000 + random_below(&random, 1000000) * random_below(&random, 1000);
        histogram_add(&histogram, values[i]);
    }
    qsort(values, COUNT, sizeof(values[0]), compare);
    const double quantiles[] = {0.01, 0.5, 0.9, 0.99, 0.999};
    for (size_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++) {
        double exact = (double)values[(size_t)(quantiles[i] * COUNT + 0.5) - 1];
        double said = (double)histogram_quantile(&histogram, quantiles[i]);
        assert_true(said >= exact * 0.99 && said <= exact * 1.01);
    }
    assert_int_equal(histogram_quantile(&histogram, 1), values[COUNT - 1]);
    assert_int_equal(histogram.max, values[COUNT - 1]);
}

static void merging_equals_adding(void **state)
{
    (void)state;
    static struct histogram halves[2];
    struct random random = {SEED + 2};
    memset(halves, 0, sizeof(halves));
    for (int i = 0; i < 10000; i++) {
        uint64_t value = random_below(&random, 1u << 30);
        histogram_add(&histogram, value);
        histogram_add(&halves[i % 2], value);
    }
    histogram_merge(&halves[0], &halves[1]);
    assert_memory_equal(&halves[0], &histogram, sizeof(histogram));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(empty_says_zero, clear),
        cmocka_unit_test(buckets_never_go_back),
        cmocka_unit_test_setup(any_value_within_one_percent, clear),
        cmocka_unit_test_setup(quantiles_match_sorted_values, clear),
        cmocka_unit_test_setup(merging_equals_adding, clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

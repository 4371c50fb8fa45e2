#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "bench/digits.h"
#include "bench/random.h"

static void check(uint64_t value)
{
    char expected[32];
    int length = snprintf(expected, sizeof(expected), "%" PRIu64, value);
    assert_int_equal(digits_count(value), length);
}

static void all_small_ones(void **state)
{
    (void)state;
    for (uint64_t value = 0; value < 200000; value++)
        check(value);
}

static void around_powers_of_ten(void **state)
{
    (void)state;
    uint64_t power = 1;
    for (int i = 0; i < 20; i++, power *= 10) {
        check(power - 1);
        check(power);
        check(power + 1);
    }
    check(UINT64_MAX);
}

static void random_ones(void **state)
{
    (void)state;
    struct random random = {7};
    for (int i = 0; i < 100000; i++)
        check(random_next(&random) >> random_below(&random, 64));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_small_ones),
        cmocka_unit_test(around_powers_of_ten),
        cmocka_unit_test(random_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Numbers as text, against the C library's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/decimal.h"
#include "base/hash.h"

static void check(uint64_t value)
{
    char expected[32], got[DECIMAL_MAX + 1];
    int length = snprintf(expected, sizeof expected, "%" PRIu64, value);
    memset(got, '#', sizeof got);
    assert_ptr_equal(decimal_write(got, value), got + length);
    assert_memory_equal(got, expected, length);
    assert_int_equal(got[DECIMAL_MAX], '#');
}

static void check_signed(int64_t value)
{
    char expected[32], got[DECIMAL_MAX + 1];
    int length = snprintf(expected, sizeof expected, "%" PRId64, value);
    assert_ptr_equal(decimal_write_signed(got, value), got + length);
    assert_memory_equal(got, expected, length);
}

static void test_around_powers(void **state)
{
    (void)state;
    for (uint64_t power = 1;; power *= 10) {
        for (uint64_t digit = 1; digit <= 9 && digit <= UINT64_MAX / power; digit++) {
            check(power * digit - 1);
            check(power * digit);
            check(power * digit + 1);
        }
        if (power > UINT64_MAX / 10)
            break;
    }
    check(UINT64_MAX);
    check_signed(INT64_MIN);
    check_signed(INT64_MAX);
    check_signed(-1);
}

static void test_all_short(void **state)
{
    (void)state;
    for (uint64_t value = 0; value < 1100000; value++)
        check(value);
    for (uint64_t value = 99000000; value < 101000000; value += 7)
        check(value);
}

static void test_random(void **state)
{
    (void)state;
    uint64_t seed = (uint64_t)time(NULL);
    print_message("seed %" PRIu64 "\n", seed);
    for (uint64_t i = 0; i < 1000000; i++) {
        uint64_t value = hash_mix(seed + i, 1);
        check(value >> (i & 63));
        check_signed((int64_t)value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_around_powers),
        cmocka_unit_test(test_all_short),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Numbers as text and back, against the C library's. */
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
    uint64_t back;
    int length = snprintf(expected, sizeof expected, "%" PRIu64, value);
    memset(got, '#', sizeof got);
    assert_ptr_equal(decimal_write(got, value), got + length);
    assert_memory_equal(got, expected, length);
    assert_int_equal(got[DECIMAL_MAX], '#');
    assert_true(decimal_read((struct text){got, (size_t)length}, value, &back) && back == value);
}

static void check_signed(int64_t value)
{
    char expected[32], got[DECIMAL_MAX + 1];
    int64_t back;
    int length = snprintf(expected, sizeof expected, "%" PRId64, value);
    assert_ptr_equal(decimal_write_signed(got, value), got + length);
    assert_memory_equal(got, expected, length);
    assert_true(decimal_read_signed((struct text){got, (size_t)length}, &back) && back == value);
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

static void test_read(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "-",
                                      "+1",
                                      "-1",
                                      " 1",
                                      "1 ",
                                      "1a",
                                      "/",
                                      ":",
                                      "0x1",
                                      "18446744073709551616",
                                      "99999999999999999999",
                                      "184467440737095516150"};
    uint64_t value = 7;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(decimal_read(text_from(bad[i]), UINT64_MAX, &value));
        assert_int_equal(value, 7);
    }
    assert_true(decimal_read(text_from("18446744073709551615"), UINT64_MAX, &value));
    assert_true(value == UINT64_MAX);
    assert_true(decimal_read(text_from("000000000000000000000000042"), 42, &value));
    assert_int_equal(value, 42);
    assert_false(decimal_read(text_from("43"), 42, &value));
    assert_true(decimal_read((struct text){"12345", 2}, UINT64_MAX, &value)); /* no byte more */
    assert_int_equal(value, 12);
    assert_int_equal(decimal_digits(text_from("120ms")), 3);
    assert_int_equal(decimal_digits(text_from("ms")), 0);
    assert_int_equal(decimal_digits((struct text){"12345", 2}), 2);
}

static void test_read_signed(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "", "-", "--1", "+1", "- 1", "1-", "9223372036854775808", "-9223372036854775809"};
    int64_t value = 7;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(decimal_read_signed(text_from(bad[i]), &value));
        assert_int_equal(value, 7);
    }
    assert_true(decimal_read_signed(text_from("9223372036854775807"), &value));
    assert_true(value == INT64_MAX);
    assert_true(decimal_read_signed(text_from("-9223372036854775808"), &value));
    assert_true(value == INT64_MIN);
    assert_true(decimal_read_signed(text_from("-0"), &value));
    assert_int_equal(value, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_around_powers), cmocka_unit_test(test_all_short),
        cmocka_unit_test(test_random),        cmocka_unit_test(test_read),
        cmocka_unit_test(test_read_signed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

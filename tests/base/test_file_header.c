#include "base/file_header.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const struct file_format format = {"laud-tst", 0x01020304};

static void test_the_bytes_are_as_described(void **state)
{
    (void)state;
    static const uint8_t expected[16] = {'l', 'a', 'u', 'd', '-', 't', 's', 't',
                                         4,   3,   2,   1,   0,   0,   0,   0};
    uint8_t bytes[25];
    memset(bytes, 0xaa, sizeof bytes);
    file_header_begin(bytes, 16, &format);
    assert_memory_equal(bytes, expected, sizeof expected);
    assert_int_equal(bytes[16], 0xaa);
    uint64_t sum = file_header_seal(bytes, 16);
    for (int i = 0; i < 8; i++)
        assert_int_equal(bytes[16 + i], sum >> (8 * i) & 0xff);
    assert_int_equal(bytes[24], 0xaa);
}

static void test_every_flipped_bit_is_noticed(void **state)
{
    (void)state;
    uint8_t bytes[48];
    file_header_begin(bytes, sizeof bytes, &format);
    bytes[20] = 7;
    file_header_seal(bytes, 40);
    assert_true(file_header_is_good(bytes, &format, 40));
    for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
        assert_int_equal(file_header_has_magic(bytes, &format), bit >= 64);
        assert_int_equal(file_header_has_version(bytes, &format), bit < 64 || bit >= 96);
        assert_false(file_header_verifies(bytes, 40));
        assert_false(file_header_is_good(bytes, &format, 40));
        bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
    }
    assert_true(file_header_is_good(bytes, &format, 40));
}

static void test_another_format_or_version_is_not_good(void **state)
{
    (void)state;
    uint8_t bytes[24];
    const struct file_format newer = {"laud-tst", 0x01020305};
    const struct file_format other = {"laud-xyz", 0x01020304};
    file_header_begin(bytes, sizeof bytes, &newer);
    file_header_seal(bytes, 16);
    assert_true(file_header_verifies(bytes, 16) && file_header_has_magic(bytes, &format));
    assert_false(file_header_is_good(bytes, &format, 16));
    file_header_begin(bytes, sizeof bytes, &other);
    file_header_seal(bytes, 16);
    assert_false(file_header_is_good(bytes, &format, 16));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_bytes_are_as_described),
        cmocka_unit_test(test_every_flipped_bit_is_noticed),
        cmocka_unit_test(test_another_format_or_version_is_not_good),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

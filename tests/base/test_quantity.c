#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/quantity.h"

struct sample {
    const char *text;
    uint64_t value;
};

static void assert_reads(enum quantity quantity, const struct sample *samples, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t value = UINT64_MAX / 2;
        if (quantity_parse(quantity, samples[i].text, &value) != QUANTITY_GOOD)
            fail_msg("'%s' was refused", samples[i].text);
        if (value != samples[i].value)
            fail_msg("'%s' was read as %llu", samples[i].text, (unsigned long long)value);
    }
}

#define ASSERT_READS(quantity, samples)                                                            \
    assert_reads(quantity, samples, sizeof(samples) / sizeof((samples)[0]))

static void test_sizes(void **state)
{
    (void)state;
    static const struct sample samples[] = {
        {"0", 0},
        {"90", 90},
        {"90b", 90},
        {"64mb", MIB(64)},
        {"1GB", GIB(1)},
        {"512MiB", MIB(512)},
        {"512mib", MIB(512)},
        {"1T", GIB(1024)},
        {"2tib", GIB(2048)},
        {"3k", KIB(3)},
        {"3KB", KIB(3)},
        {"512Ki", KIB(512)},
        {"64Mi", MIB(64)},
        {"1.5gi", MIB(1536)},
        {"2Ti", GIB(2048)},
        {"64 MB", MIB(64)},
        {"1.5G", MIB(1536)},
        {"0.5k", 512},
        {"1.1K", 1126},
        {"0.0G", 0},
        {"18446744073709551615", UINT64_MAX},
        {"16777215T", GIB(1024) * 16777215},
    };
    ASSERT_READS(QUANTITY_BYTES, samples);
}

static void test_durations(void **state)
{
    (void)state;
    static const struct sample samples[] = {
        {"0", 0},          {"90", 90000},     {"1.5", 1500},   {"100ms", 100},    {"1S", 1000},
        {"30 s", 30000},   {"30sec", 30000},  {"10m", 600000}, {"10MIN", 600000}, {"1.5h", 5400000},
        {"7d", 604800000}, {"1w", 604800000}, {"0.001", 1},
    };
    ASSERT_READS(QUANTITY_SECONDS, samples);
    static const struct sample in_ms[] = {{"0", 0}, {"90", 90}, {"90ms", 90}, {"1s", 1000}};
    ASSERT_READS(QUANTITY_MS, in_ms);
}

static void test_nonsense(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",    " ",    "-1",   "+1",  "64mbb", "1.5.2", "1.",   ".5",   "1.5",
        "x",   "1 ",   " 1",   "mb",  "1e3",   "0x10",  "1,5G", "1 5G", "1G ",
        "1GG", "1m b", "0.1b", "1PB", "1kk",   "1.5 B", "1\n",  "1\tK", "0.0000000001T",
    };
    uint64_t value = 7;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (quantity_parse(QUANTITY_BYTES, bad[i], &value) != QUANTITY_MALFORMED)
            fail_msg("'%s' is not malformed", bad[i]);
    }
    static const char *const no_durations[] = {"", "-1", "1.5.2", "1x", "1mm", "1K", "0.0001"};
    for (size_t i = 0; i < sizeof no_durations / sizeof no_durations[0]; i++)
        assert_int_equal(quantity_parse(QUANTITY_SECONDS, no_durations[i], &value),
                         QUANTITY_MALFORMED);
    assert_int_equal(quantity_parse(QUANTITY_MS, "1.5", &value), QUANTITY_MALFORMED);
    assert_int_equal(quantity_parse(QUANTITY_COUNT, "1K", &value), QUANTITY_MALFORMED);
    assert_int_equal(quantity_parse(QUANTITY_COUNT, "1.0", &value), QUANTITY_MALFORMED);
    assert_int_equal(value, 7);
}

static void test_too_large(void **state)
{
    (void)state;
    static const char *const large[] = {"18446744073709551616", "99999999999999999999999",
                                        "16777216T", "99999999999999G", "16777215.999999999999T"};
    uint64_t value = 7;
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(quantity_parse(QUANTITY_BYTES, large[i], &value), QUANTITY_TOO_LARGE);
    assert_int_equal(quantity_parse(QUANTITY_BYTES, large[4], &value), QUANTITY_MALFORMED);
    assert_int_equal(quantity_parse(QUANTITY_SECONDS, "99999999999999999w", &value),
                     QUANTITY_TOO_LARGE);
    assert_int_equal(value, 7);
}

/* What is written is canonical, and reads back as the same. */
static void test_format(void **state)
{
    (void)state;
    static const struct {
        enum quantity quantity;
        uint64_t value;
        const char *text;
    } samples[] = {
        {QUANTITY_BYTES, 0, "0"},
        {QUANTITY_BYTES, 1000, "1000"},
        {QUANTITY_BYTES, KIB(64), "64K"},
        {QUANTITY_BYTES, MIB(1536), "1536M"},
        {QUANTITY_BYTES, GIB(1024), "1T"},
        {QUANTITY_SECONDS, 0, "0"},
        {QUANTITY_SECONDS, 1500, "1500ms"},
        {QUANTITY_SECONDS, 90000, "90s"},
        {QUANTITY_SECONDS, 604800000, "7d"},
        {QUANTITY_MS, 7, "7ms"},
        {QUANTITY_COUNT, 4096, "4096"},
    };
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        char text[32];
        uint64_t again = 1;
        quantity_format(samples[i].quantity, samples[i].value, text, sizeof text);
        assert_string_equal(text, samples[i].text);
        assert_int_equal(quantity_parse(samples[i].quantity, text, &again), QUANTITY_GOOD);
        assert_int_equal(again, samples[i].value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),    cmocka_unit_test(test_durations),
        cmocka_unit_test(test_nonsense), cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

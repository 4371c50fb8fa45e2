#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/id.h"
#include "chance.h"

static bool parse(const char *text, struct id *out)
{
    return id_parse(text, strlen(text), out);
}

static void assert_reads(const char *text, uint64_t hi, uint64_t lo, const char *canonical)
{
    struct id id;
    if (!parse(text, &id))
        fail_msg("'%s' was refused", text);
    assert_int_equal(id.hi, hi);
    assert_int_equal(id.lo, lo);
    char back[LIMIT_ID_TEXT + 1];
    back[id_format(id, back)] = '\0';
    assert_string_equal(back, canonical);
}

static void assert_refused(const char *text)
{
    struct id id;
    if (parse(text, &id))
        fail_msg("'%s' was taken for an id", text);
}

static void test_decimal(void **state)
{
    (void)state;
    assert_reads("0", 0, 0, "0");
    assert_reads("7", 0, 7, "7");
    assert_reads("10", 0, 10, "10");
    assert_reads("99", 0, 99, "99");
    assert_reads("100", 0, 100, "100");
    assert_reads("12345678", 0, 12345678, "12345678");
    assert_reads("000000000042", 0, 42, "42");
    assert_reads("00000000000000000000", 0, 0, "0");
    assert_reads("1755573841234567890", 0, 1755573841234567890, "1755573841234567890");
    assert_reads("9999999999999999999", 0, 9999999999999999999ULL, "9999999999999999999");
    assert_reads("18446744073709551615", 0, UINT64_MAX, "18446744073709551615");
}

static void test_decimal_overflow(void **state)
{
    (void)state;
    assert_refused("18446744073709551616");
    assert_refused("18446744073709551620");
    assert_refused("20000000000000000000");
    assert_refused("99999999999999999999");
    assert_refused("000000000000000000000"); /* 21 digits */
}

static void test_not_ids(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "-1",
        "+1",
        " 1",
        "1 ",
        "1.0",
        "0x10",
        "1e3",
        "abc",
        "1{2}",
        "12\n3",
        "1234567/",
        "1234567:",
        "/2345678",
        ":2345678",
        "video:1",
        "12345678x",
        "x123456789",
        "123456789012345a789",
        "\xf1\xf2\xf3\xf4\xf5\xf6\xf7\xf8",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_refused(texts[i]);
    struct id id;
    assert_false(id_parse("12\0"
                          "4",
                          4, &id));
    assert_false(id_parse("1234567\0", 8, &id));
}

/* Every byte at every place of a decimal of every length is taken only if it is a digit. */
static void test_every_byte(void **state)
{
    (void)state;
    for (size_t length = 1; length <= 20; length++) {
        for (size_t at = 0; at < length; at++) {
            for (int byte = 0; byte < 256; byte++) {
                char text[20];
                struct id id;
                memset(text, '1', sizeof text);
                text[at] = (char)byte;
                bool digit = byte >= '0' && byte <= '9';
                bool fits = length < 20 || (at == 0 ? byte <= '1' : at > 1 || byte <= '8');
                assert_int_equal(id_parse(text, length, &id), digit && fits);
            }
        }
    }
}

static void test_uuid(void **state)
{
    (void)state;
    const char *text = "0192f3a4-bcde-7f01-8234-56789abcdef0";
    assert_reads(text, 0x0192f3a4bcde7f01, 0x823456789abcdef0, text);
    assert_reads("0192F3A4-BCDE-7F01-8234-56789ABCDEF0", 0x0192f3a4bcde7f01, 0x823456789abcdef0,
                 text);
    assert_reads("00000000-0000-0001-0000-000000000000", 1, 0,
                 "00000000-0000-0001-0000-000000000000");
    assert_refused("00000000-0000-0000-0000-000000000000");
    assert_refused("00000000-0000-0000-0000-000000000001");
    assert_refused("00000000-0000-0000-ffff-ffffffffffff");
    assert_refused("0192f3a4bcde7f01823456789abcdef0");
    assert_refused("{192f3a4-bcde-7f01-8234-56789abcdef}");
    assert_refused("0192f3a4-bcde-7f01-8234-56789abcdef");
    assert_refused("0192f3a4-bcde-7f01-8234-56789abcdef00");
    assert_refused("0192f3a4-bcde-7f01-8234056789abcdef0");
}

static void test_uuid_every_byte(void **state)
{
    (void)state;
    const char *good = "1192f3a4-bcde-7f01-8234-56789abcdef0";
    for (size_t at = 0; at < LIMIT_ID_TEXT; at++) {
        for (int byte = 0; byte < 256; byte++) {
            char text[LIMIT_ID_TEXT];
            struct id id;
            memcpy(text, good, sizeof text);
            text[at] = (char)byte;
            bool hex = byte != 0 && strchr("0123456789abcdefABCDEF", byte) != NULL;
            bool wanted = good[at] == '-' ? byte == '-' : hex;
            assert_int_equal(id_parse(text, sizeof text, &id), wanted);
        }
    }
}

static void test_round_trip(void **state)
{
    (void)state;
    struct chance chance = {test_seed()};
    for (int i = 0; i < 200000; i++) {
        struct id id = {.lo = chance_next(&chance) >> (chance_next(&chance) & 63)};
        char wanted[40], text[LIMIT_ID_TEXT + 1];
        if (i & 1) {
            id.hi = chance_next(&chance) | 1;
            snprintf(wanted, sizeof wanted, "%08x-%04x-%04x-%04x-%012" PRIx64,
                     (unsigned)(id.hi >> 32), (unsigned)(id.hi >> 16 & 0xffff),
                     (unsigned)(id.hi & 0xffff), (unsigned)(id.lo >> 48),
                     id.lo & UINT64_C(0xffffffffffff));
        } else {
            snprintf(wanted, sizeof wanted, "%" PRIu64, id.lo);
        }
        size_t length = id_format(id, text);
        assert_int_equal(length, strlen(wanted));
        assert_memory_equal(text, wanted, length);
        struct id back;
        assert_true(id_parse(text, length, &back));
        assert_true(id_equal(id, back));
    }
}

/* Chosen by who has read hash.h: with a factor of zero, but for the seed. */
static struct id chosen_id(bool low, uint64_t number)
{
    return low ? (struct id){.hi = number + 1, .lo = UINT64_C(0x9e3779b97f4a7c15)}
               : (struct id){.hi = UINT64_C(0xd6e8feb86659fd93), .lo = number};
}

static void test_chosen_ids_do_not_look_alike(void **state)
{
    (void)state;
    struct chance chance = {test_seed()};
    for (int round = 0; round < 20; round++) {
        uint64_t seed = (uint64_t)chance_below(&chance, UINT32_MAX) << 32 | 1;
        struct id first = chosen_id(round % 2 == 0, 0);
        for (uint64_t i = 1; i < 1000; i++) {
            struct id id = chosen_id(round % 2 == 0, i);
            assert_true(id_hash(id, seed) != id_hash(first, seed));
            assert_true(item_hash((struct item){.id = id, .type = 3}, seed) !=
                        item_hash((struct item){.id = first, .type = 3}, seed));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decimal),    cmocka_unit_test(test_decimal_overflow),
        cmocka_unit_test(test_not_ids),    cmocka_unit_test(test_every_byte),
        cmocka_unit_test(test_uuid),       cmocka_unit_test(test_uuid_every_byte),
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_chosen_ids_do_not_look_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* UTF-8: every character is accepted, everything else is not, at any offset. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "comment/screen.h"

static size_t encode(uint32_t character, char *out)
{
    if (character < 0x80) {
        out[0] = (char)character;
        return 1;
    }
    unsigned more = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
    const uint8_t first[] = {0, 0xc0, 0xe0, 0xf0};
    out[0] = (char)(first[more] | character >> 6 * more);
    for (unsigned i = 1; i <= more; i++)
        out[i] = (char)(0x80 | (character >> 6 * (more - i) & 0x3f));
    return more + 1;
}

static void every_character(void **state)
{
    (void)state;
    char bytes[4];
    for (uint32_t character = 0; character < 0x1fffff; character++) {
        size_t length = encode(character, bytes);
        bool good = character <= 0x10ffff && (character < 0xd800 || character > 0xdfff);
        assert_int_equal(utf8_valid((struct text){bytes, length}), good ? length : 0);
        if (good && length > 1)
            assert_int_equal(utf8_valid((struct text){bytes, length - 1}), 0);
    }
}

static void what_is_not_utf8_is_found_where_it_is(void **state)
{
    (void)state;
    const char *bad[] = {"\x80",
                         "\xbf",
                         "\xc0\x80",
                         "\xc1\xbf",
                         "\xe0\x80\x80",
                         "\xe0\x9f\xbf",
                         "\xed\xa0\x80",
                         "\xf0\x80\x80\x80",
                         "\xf0\x8f\xbf\xbf",
                         "\xf4\x90\x80\x80",
                         "\xf5\x80\x80\x80",
                         "\xff",
                         "\xfe",
                         "\xc3(",
                         "\xe2\x82(",
                         "\xf0\x9f\x98("};
    char text[64];
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        for (size_t before = 0; before < 20; before++) {
            memset(text, 'a', sizeof text);
            memcpy(text + before, bad[i], strlen(bad[i]));
            assert_int_equal(utf8_valid((struct text){text, sizeof text}), before);
        }
}

static void every_length_of_ascii(void **state)
{
    (void)state;
    char text[40];
    memset(text, 'x', sizeof text);
    text[3] = '\0'; /* a character like any other */
    for (size_t length = 0; length <= sizeof text; length++)
        assert_int_equal(utf8_valid((struct text){text, length}), length);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_character),
        cmocka_unit_test(what_is_not_utf8_is_found_where_it_is),
        cmocka_unit_test(every_length_of_ascii),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

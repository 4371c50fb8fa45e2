/* UTF-8 as RFC 3629 has it: no surrogates, nothing above U+10FFFF, and no longer form than necessary. */
#include <stdint.h>
#include <string.h>

#include "comment/screen.h"

/* The range of the second byte after each first byte excludes everything that is not allowed. */
static bool second_is_valid(uint8_t first, uint8_t second)
{
    switch (first) {
    case 0xe0:
        return second >= 0xa0 && second <= 0xbf;
    case 0xed:
        return second >= 0x80 && second <= 0x9f;
    case 0xf0:
        return second >= 0x90 && second <= 0xbf;
    case 0xf4:
        return second >= 0x80 && second <= 0x8f;
    default:
        return second >= 0x80 && second <= 0xbf;
    }
}

/* The length of the character at `at`, or 0. */
static size_t character(const uint8_t *at, size_t left)
{
    size_t length = *at < 0x80    ? 1
                    : *at < 0xc2  ? 0
                    : *at < 0xe0  ? 2
                    : *at < 0xf0  ? 3
                    : *at <= 0xf4 ? 4
                                  : 0;
    if (length > left || (length > 1 && !second_is_valid(at[0], at[1])))
        return 0;
    for (size_t i = 2; i < length; i++)
        if (at[i] < 0x80 || at[i] > 0xbf)
            return 0;
    return length;
}

size_t utf8_valid(struct text text)
{
    const uint8_t *bytes = (const uint8_t *)text.bytes;
    size_t at = 0;
    while (at < text.length) {
        uint64_t word;
        if (text.length - at >= sizeof word) {
            memcpy(&word, bytes + at, sizeof word);
            if ((word & 0x8080808080808080ULL) == 0) {
                at += sizeof word;
                continue;
            }
        }
        size_t length = character(bytes + at, text.length - at);
        if (length == 0)
            return at;
        at += length;
    }
    return at;
}

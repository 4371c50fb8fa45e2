/*
 * Every argument of a command that is not a name is an id, so id_parse is on the hot path. Decimals
 * are read eight digits at a time in one 64-bit word. A Snowflake id of 19 digits takes three such
 * words, which are computed independently; the last word overlaps the second. Only the step that
 * joins the last word can overflow.
 */
#include "base/id.h"

#include <endian.h>
#include <string.h>

#include "base/assert.h"
#include "base/decimal.h"
#include "base/hex.h"

#define EIGHT(byte) ((byte)*0x0101010101010101ULL)

/* Eight bytes of text, the first in the lowest byte. */
static inline uint64_t load_8(const char *text)
{
    uint64_t word;
    memcpy(&word, text, 8);
    return le64toh(word);
}

/* The number that these eight digits represent; false if they are not all digits. */
static inline bool digits_8(uint64_t word, uint64_t *out)
{
    /* A digit is the byte 3x with x <= 9, so adding 6 does not change its upper half. */
    uint64_t high = word & EIGHT(0xf0);
    uint64_t plus6 = (word + EIGHT(0x06)) & EIGHT(0xf0);
    if ((high | plus6 >> 4) != EIGHT(0x33))
        return false;
    word -= EIGHT('0');
    word = word * 10 + (word >> 8); /* pairs, in every other byte */
    uint64_t even = (word & 0x000000ff000000ffULL) * (100 + (1000000ULL << 32));
    uint64_t odd = (word >> 16 & 0x000000ff000000ffULL) * (1 + (10000ULL << 32));
    *out = (even + odd) >> 32;
    return true;
}

/* The last `count` (1 to 7) digits of a text of 8 or more. */
static inline bool digits_last(const char *text, size_t length, size_t count, uint64_t *out)
{
    uint64_t taken = UINT64_MAX << (64 - 8 * count);
    return digits_8((load_8(text + length - 8) & taken) | (EIGHT('0') & ~taken), out);
}

static bool parse_short(const char *text, size_t length, uint64_t *out)
{
    uint64_t value = 0;
    for (size_t at = 0; at < length; at++) {
        unsigned digit = (unsigned char)text[at] - (unsigned)'0';
        if (digit > 9)
            return false;
        value = value * 10 + digit;
    }
    *out = value;
    return true;
}

static bool parse_decimal(const char *text, size_t length, uint64_t *out)
{
    static const uint64_t powers[8] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    if (length < 8)
        return parse_short(text, length, out);
    uint64_t value = 0, digits;
    size_t at = 0;
    for (; at + 8 <= length; at += 8) {
        if (!digits_8(load_8(text + at), &digits))
            return false;
        value = value * 100000000 + digits;
    }
    size_t rest = length - at;
    if (rest > 0) {
        if (!digits_last(text, length, rest, &digits) ||
            __builtin_mul_overflow(value, powers[rest], &value) ||
            __builtin_add_overflow(value, digits, &value))
            return false;
    }
    *out = value;
    return true;
}

static inline bool is_dash_position(size_t at)
{
    return at == 8 || at == 13 || at == 18 || at == 23;
}

static bool parse_uuid(const char *text, struct id *out)
{
    uint64_t half[2] = {0, 0};
    size_t digits = 0;
    unsigned seen = 0;
    for (size_t at = 0; at < LIMIT_ID_TEXT; at++) {
        if (is_dash_position(at)) {
            if (text[at] != '-')
                return false;
            continue;
        }
        unsigned digit = hex_value((unsigned char)text[at]);
        seen |= digit;
        half[digits / 16] = half[digits / 16] << 4 | (digit & 15);
        digits++;
    }
    ASSERT(digits == 32);
    if (seen >= 16 || half[0] == 0)
        return false;
    *out = (struct id){.hi = half[0], .lo = half[1]};
    return true;
}

bool id_parse(const char *text, size_t length, struct id *out)
{
    if (length == LIMIT_ID_TEXT)
        return parse_uuid(text, out);
    if (length == 0 || length > DECIMAL_MAX)
        return false;
    uint64_t value;
    if (!parse_decimal(text, length, &value))
        return false;
    *out = (struct id){.hi = 0, .lo = value};
    return true;
}

static size_t format_uuid(struct id id, char *out)
{
    size_t digits = 0;
    for (size_t at = 0; at < LIMIT_ID_TEXT; at++) {
        if (is_dash_position(at)) {
            out[at] = '-';
            continue;
        }
        uint64_t half = digits < 16 ? id.hi : id.lo;
        out[at] = "0123456789abcdef"[half >> (60 - digits % 16 * 4) & 15];
        digits++;
    }
    return LIMIT_ID_TEXT;
}

size_t id_format(struct id id, char out[LIMIT_ID_TEXT])
{
    return id_is_wide(id) ? format_uuid(id, out) : (size_t)(decimal_write(out, id.lo) - out);
}

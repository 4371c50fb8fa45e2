/*
 * Eight digits are computed at a time, side by side in one 64-bit word: halves of four digits, then
 * quarters of two, then single digits. Each step is one multiplication for all of them. Division by
 * a constant is a multiplication and a shift, which is exact for all values that can occur in that
 * step.
 */
#include "base/decimal.h"

#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "digits are put side by side for a little-endian machine"
#endif

#define EIGHT  100000000ULL
#define ZEROES 0x3030303030303030ULL /* as text */

/* The digits of a number below 10^8, the first one in the lowest byte; not yet text. */
static inline uint64_t digits_8(uint64_t value)
{
    uint64_t upper = value * 3518437209ULL >> 45; /* by 10000 */
    uint64_t fours = upper | (value - upper * 10000) << 32;
    uint64_t tops = (fours * 10486 >> 20) & 0x0000007f0000007fULL; /* each by 100 */
    uint64_t twos = tops | (fours - tops * 100) << 16;
    uint64_t tens = (twos * 103 >> 10) & 0x000f000f000f000fULL; /* each by 10 */
    return tens | (twos - tens * 10) << 8;
}

static inline char *put_8(char *at, uint64_t value)
{
    uint64_t text = digits_8(value) + ZEROES;
    memcpy(at, &text, 8);
    return at + 8;
}

/* Without leading zeros; writes 8 bytes whatever the length. */
static inline char *put_first(char *at, uint64_t value)
{
    uint64_t digits = digits_8(value);
    unsigned zeros = (unsigned)__builtin_ctzll(digits | 1ULL << 56) / 8;
    uint64_t text = (digits + ZEROES) >> zeros * 8;
    memcpy(at, &text, 8);
    return at + 8 - zeros;
}

char *decimal_write_long(char *at, uint64_t value)
{
    if (value < EIGHT)
        return put_first(at, value);
    uint64_t upper = value / EIGHT;
    at = upper < EIGHT ? put_first(at, upper) : put_8(put_first(at, upper / EIGHT), upper % EIGHT);
    return put_8(at, value % EIGHT);
}

static inline unsigned digit_of(char c)
{
    return (unsigned char)c - (unsigned)'0';
}

size_t decimal_digits(struct text text)
{
    size_t count = 0;
    while (count < text.length && digit_of(text.bytes[count]) <= 9)
        count++;
    return count;
}

bool decimal_read(struct text text, uint64_t most, uint64_t *out)
{
    uint64_t value = 0;
    for (size_t i = 0; i < text.length; i++) {
        unsigned digit = digit_of(text.bytes[i]);
        if (digit > 9 || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return false;
    }
    if (text.length == 0 || value > most)
        return false;
    *out = value;
    return true;
}

bool decimal_read_signed(struct text text, int64_t *out)
{
    bool negative = text.length > 0 && text.bytes[0] == '-';
    struct text digits = {text.bytes + negative, text.length - negative};
    uint64_t value;
    if (!decimal_read(digits, (uint64_t)INT64_MAX + negative, &value))
        return false;
    *out = (int64_t)(negative ? 0 - value : value);
    return true;
}

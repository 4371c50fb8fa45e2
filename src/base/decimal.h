/* Numbers as decimal text: every id and every count of a reply is one. */
#ifndef LAUD_BASE_DECIMAL_H
#define LAUD_BASE_DECIMAL_H

#include <stdint.h>

#define DECIMAL_MAX 20 /* digits of 2^64 - 1; also of -2^63 with its sign */

char *decimal_write_long(char *at, uint64_t value);

/*
 * Writes the number at `at`, no terminator; returns where it ends. There must be room for
 * DECIMAL_MAX bytes: what comes behind the number may be written over. Most numbers of a reply are
 * lengths and answers of one digit.
 */
static inline char *decimal_write(char *at, uint64_t value)
{
    if (value >= 10)
        return decimal_write_long(at, value);
    *at = (char)('0' + value);
    return at + 1;
}

static inline char *decimal_write_signed(char *at, int64_t value)
{
    if (value >= 0)
        return decimal_write(at, (uint64_t)value);
    *at++ = '-';
    return decimal_write(at, 0 - (uint64_t)value);
}

#endif

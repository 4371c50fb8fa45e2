/*
 * Numbers as decimal text, as ids and counts in replies are written. Nothing here depends on the
 * locale, and nothing reads past the length of a text. Any thread may call.
 *
 * Two other functions read decimal numbers, because they run for every command: id_parse
 * (base/id.c), and the reader of lengths in RESP (resp/parse.c), whose input may end in the middle
 * of a number.
 */
#ifndef LAUD_BASE_DECIMAL_H
#define LAUD_BASE_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

#define DECIMAL_MAX 20 /* digits of 2^64 - 1; also of -2^63 with its sign */

char *decimal_write_long(char *at, uint64_t value);

/*
 * Writes the number at `at` without a terminator and returns the end of the number. There must be
 * room for DECIMAL_MAX bytes, because bytes after the number may be overwritten. Numbers of one
 * digit are handled here, because most numbers in a reply are that short.
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

/* The number of digits that the text begins with. */
size_t decimal_digits(struct text text);

/*
 * Reads a text that consists of digits only and whose value is at most `most`. Leading zeros are
 * allowed. False: the text is not such a number, and *out is unchanged.
 */
bool decimal_read(struct text text, uint64_t most, uint64_t *out);

/* The same for a signed 64-bit number. A minus sign may precede the digits, a plus sign may not. */
bool decimal_read_signed(struct text text, int64_t *out);

#endif

/*
 * Numbers as decimal text: every id and every count of a reply is one. Nothing here depends on the
 * locale, and nothing reads past the length of a text. Any thread may call.
 *
 * Two readers of numbers are elsewhere, because they are on the way of every command: id_parse
 * (base/id.c) and the lengths of RESP (resp/parse.c), which may end in the middle.
 */
#ifndef LAUD_BASE_DECIMAL_H
#define LAUD_BASE_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

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

/* How many digits the text begins with. */
size_t decimal_digits(struct text text);

/*
 * Reads a text that is digits and nothing else, and at most `most`. Leading zeros are allowed. False,
 * and *out as it was: the text is not such a number.
 */
bool decimal_read(struct text text, uint64_t most, uint64_t *out);

/* The same for a signed 64-bit number: a minus sign may stand before the digits, a plus sign may not. */
bool decimal_read_signed(struct text text, int64_t *out);

#endif

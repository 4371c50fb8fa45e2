/*
 * Reads and writes numbers, sizes and durations as people type them: 90, 64mb, 1.5GiB, 10 m, 1W.
 * Units may be in upper or lower case, and a space may precede them. K, KB and KiB all mean 1024
 * bytes, as in most servers. A text that is not completely understood is refused. The functions
 * have no state, and any thread may call them.
 */
#ifndef LAUD_BASE_QUANTITY_H
#define LAUD_BASE_QUANTITY_H

#include <stddef.h>
#include <stdint.h>

enum quantity {
    QUANTITY_COUNT,   /* digits only */
    QUANTITY_BYTES,   /* without a unit: bytes */
    QUANTITY_SECONDS, /* a duration, read into milliseconds; without a unit: seconds */
    QUANTITY_MS,      /* the same, but without a unit: milliseconds */
};

enum quantity_result {
    QUANTITY_GOOD,
    QUANTITY_MALFORMED,
    QUANTITY_TOO_LARGE, /* the value does not fit in 64 bits */
};

/*
 * Reads a value. A fraction is rounded down to whole bytes or milliseconds. A value that would be
 * rounded down to 0 is malformed, because 0 often has a special meaning.
 */
enum quantity_result quantity_parse(enum quantity quantity, const char *text, uint64_t *out);

/*
 * Writes the canonical form, which quantity_parse can read: a whole number of the largest possible
 * unit.
 */
void quantity_format(enum quantity quantity, uint64_t value, char *out, size_t size);

/*
 * For sentences about a bad value: "a size", and "a number of bytes, or one with a unit, as in …".
 */
const char *quantity_noun(enum quantity quantity);
const char *quantity_form(enum quantity quantity);

#endif

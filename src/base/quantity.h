/*
 * Numbers, sizes and durations as people type them: 90, 64mb, 1.5GiB, 10 m, 1W. Units are read in
 * upper and lower case, and a space may stand before them. K, KB and KiB are all 1024 bytes, as for
 * most servers. A value is wholly understood or refused; nothing is kept, any thread may call.
 */
#ifndef LAUD_BASE_QUANTITY_H
#define LAUD_BASE_QUANTITY_H

#include <stddef.h>
#include <stdint.h>

enum quantity {
    QUANTITY_COUNT,   /* digits alone */
    QUANTITY_BYTES,   /* without a unit: bytes */
    QUANTITY_SECONDS, /* a duration, read into milliseconds; without a unit: seconds */
    QUANTITY_MS,      /* likewise; without a unit: milliseconds */
};

enum quantity_result {
    QUANTITY_GOOD,
    QUANTITY_MALFORMED,
    QUANTITY_TOO_LARGE, /* it does not fit 64 bits */
};

/*
 * A fraction is rounded down to whole bytes or milliseconds; one that would round down to nothing is
 * malformed, because 0 often means something of its own.
 */
enum quantity_result quantity_parse(enum quantity quantity, const char *text, uint64_t *out);

/* The canonical form, which quantity_parse reads back: the largest unit that leaves a whole number. */
void quantity_format(enum quantity quantity, uint64_t value, char *out, size_t size);

/* For sentences about a bad value: "a size", and "a number of bytes, or one with a unit, as in …". */
const char *quantity_noun(enum quantity quantity);
const char *quantity_form(enum quantity quantity);

#endif

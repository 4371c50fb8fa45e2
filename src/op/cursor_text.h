/* Numbers in cursors: hexadecimal in lower case, with a fixed number of digits. For cursors only. */
#ifndef LAUD_OP_CURSOR_TEXT_H
#define LAUD_OP_CURSOR_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes so many digits at out[at] and returns the index after them. */
static inline size_t cursor_put(char *out, size_t at, uint64_t value, int digits)
{
    while (digits-- > 0)
        out[at++] = "0123456789abcdef"[value >> (4 * digits) & 15];
    return at;
}

/* Reads so many digits. False: there is another character. */
static inline bool cursor_take(const char **at, int digits, uint64_t *value)
{
    *value = 0;
    for (; digits > 0; digits--, (*at)++) {
        char c = **at;
        if ((c < '0' || c > '9') && (c < 'a' || c > 'f'))
            return false;
        *value = *value << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return true;
}

#endif

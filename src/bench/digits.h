/*
 * Decimal digits of unsigned numbers, two at a time: a benchmark writes more of them than
 * anything else.
 */
#ifndef LAUD_BENCH_DIGITS_H
#define LAUD_BENCH_DIGITS_H

#include <stdint.h>
#include <string.h>

extern const char digits_pairs[201]; /* "000102…99" */

static inline uint32_t digits_count(uint64_t value)
{
    uint32_t count = 1;
    for (;;) {
        if (value < 10)
            return count;
        if (value < 100)
            return count + 1;
        if (value < 1000)
            return count + 2;
        if (value < 10000)
            return count + 3;
        value /= 10000;
        count += 4;
    }
}

/* Exactly `count` digits, which must be digits_count(value); returns the end. */
static inline char *digits_write(char *out, uint64_t value, uint32_t count)
{
    char *at = out + count;
    while (value >= 100000000) { /* then in 32 bits, where dividing is cheaper */
        uint32_t low = (uint32_t)(value % 100000000);
        value /= 100000000;
        for (int i = 0; i < 4; i++) {
            at -= 2;
            memcpy(at, digits_pairs + low % 100 * 2, 2);
            low /= 100;
        }
    }
    uint32_t rest = (uint32_t)value;
    while (rest >= 100) {
        at -= 2;
        memcpy(at, digits_pairs + rest % 100 * 2, 2);
        rest /= 100;
    }
    if (rest >= 10)
        memcpy(at - 2, digits_pairs + rest * 2, 2);
    else
        at[-1] = (char)('0' + rest);
    return out + count;
}

#endif

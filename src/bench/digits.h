/*
 * How many digits a number has. This is needed before the digits are written, because in RESP the length
 * of a word precedes the word.
 */
#ifndef LAUD_BENCH_DIGITS_H
#define LAUD_BENCH_DIGITS_H

#include <stdint.h>

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

#endif

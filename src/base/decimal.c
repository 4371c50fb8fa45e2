#include "base/decimal.h"

#include <string.h>

static const char pairs[] = "00010203040506070809"
                            "10111213141516171819"
                            "20212223242526272829"
                            "30313233343536373839"
                            "40414243444546474849"
                            "50515253545556575859"
                            "60616263646566676869"
                            "70717273747576777879"
                            "80818283848586878889"
                            "90919293949596979899";

static unsigned digits_of(uint64_t value)
{
    unsigned digits = 1;
    for (;; digits += 4, value /= 10000) {
        if (value < 10)
            return digits;
        if (value < 100)
            return digits + 1;
        if (value < 1000)
            return digits + 2;
        if (value < 10000)
            return digits + 3;
    }
}

/* The length is found first, so that digits are put where they belong, last ones first. */
char *decimal_write_long(char *at, uint64_t value)
{
    char *end = at + digits_of(value), *to = end;
    while (value >= 100) {
        to -= 2;
        memcpy(to, pairs + value % 100 * 2, 2);
        value /= 100;
    }
    if (value >= 10)
        memcpy(to - 2, pairs + value * 2, 2);
    else
        to[-1] = (char)('0' + value);
    return end;
}

#include "base/decimal.h"

#include <stddef.h>
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

char *decimal_write(char *at, uint64_t value)
{
    char digits[DECIMAL_MAX];
    size_t from = DECIMAL_MAX;
    while (value >= 100) {
        from -= 2;
        memcpy(digits + from, pairs + value % 100 * 2, 2);
        value /= 100;
    }
    if (value >= 10) {
        from -= 2;
        memcpy(digits + from, pairs + value * 2, 2);
    } else {
        digits[--from] = (char)('0' + value);
    }
    memcpy(at, digits + from, DECIMAL_MAX - from);
    return at + (DECIMAL_MAX - from);
}

#include "move/redis_show.h"

#include <stdio.h>

const char *redis_show(struct text text, char out[REDIS_SHOWN])
{
    size_t used = 0, i = 0;
    for (; i < text.length && used + 8 < REDIS_SHOWN; i++) {
        unsigned char c = (unsigned char)text.bytes[i];
        if (c >= 0x20 && c < 0x7f)
            out[used++] = (char)c;
        else
            used += (size_t)snprintf(out + used, REDIS_SHOWN - used, "\\x%02x", c);
    }
    snprintf(out + used, REDIS_SHOWN - used, "%s", i < text.length ? "..." : "");
    return out;
}

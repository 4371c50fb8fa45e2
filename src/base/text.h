/* A run of bytes that belongs to someone else. */
#ifndef LAUD_BASE_TEXT_H
#define LAUD_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

struct text {
    const char *bytes;
    size_t length;
};

/* Is it this word, upper or lower case? */
static inline bool text_is(struct text text, const char *word)
{
    return strlen(word) == text.length && strncasecmp(text.bytes, word, text.length) == 0;
}

#endif

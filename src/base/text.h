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

/* Without the spaces and tabs around it. */
static inline struct text text_trim(struct text text)
{
    while (text.length > 0 && (text.bytes[0] == ' ' || text.bytes[0] == '\t')) {
        text.bytes++;
        text.length--;
    }
    while (text.length > 0 &&
           (text.bytes[text.length - 1] == ' ' || text.bytes[text.length - 1] == '\t'))
        text.length--;
    return text;
}

#endif

/* Bytes with a length, without a terminator. They belong to the caller. */
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

/* The bytes of a string without its terminator. */
static inline struct text text_from(const char *string)
{
    return (struct text){string, strlen(string)};
}

/* Is the text this word, in upper or lower case? */
static inline bool text_is(struct text text, const char *word)
{
    return strlen(word) == text.length && strncasecmp(text.bytes, word, text.length) == 0;
}

/* Is the text one of the words of this list, which are separated by commas? */
static inline bool text_in_list(struct text text, const char *list)
{
    for (;; list++) {
        size_t length = strcspn(list, ",");
        if (length == text.length && memcmp(list, text.bytes, length) == 0)
            return true;
        list += length;
        if (*list == '\0')
            return false;
    }
}

/*
 * The beginning of the text for a message, with '?' instead of bytes that are not printable ASCII.
 */
#define TEXT_SHOWN 81
static inline const char *text_show(struct text text, char out[TEXT_SHOWN])
{
    size_t length = text.length < TEXT_SHOWN - 1 ? text.length : TEXT_SHOWN - 1;
    for (size_t i = 0; i < length; i++)
        out[i] = text.bytes[i] >= 0x20 && text.bytes[i] <= 0x7e ? text.bytes[i] : '?';
    out[length] = '\0';
    return out;
}

/* The text without the spaces and tabs around it. */
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

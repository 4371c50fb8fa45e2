/* Puts text together, piece by piece, and fails the test if it does not fit. Behind cmocka.h. */
#ifndef LAUD_HTTP_SAY_H
#define LAUD_HTTP_SAY_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 3, 4))) static inline void say(char *out, size_t size,
                                                             const char *format, ...)
{
    size_t length = strlen(out);
    va_list arguments;
    va_start(arguments, format);
    int added = vsnprintf(out + length, size - length, format, arguments);
    va_end(arguments);
    assert_true(added >= 0 && (size_t)added < size - length);
}

/* Takes the last characters off again. */
static inline void unsay(char *out, size_t count)
{
    assert_true(strlen(out) >= count);
    out[strlen(out) - count] = '\0';
}

#endif

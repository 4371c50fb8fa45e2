/*
 * Shared by the readers of replies: a line that was cut by the end of a read, and the text of the first
 * error. Only the start of a long line or text is kept. The struct owns no memory.
 */
#ifndef LAUD_BENCH_CUT_LINE_H
#define LAUD_BENCH_CUT_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define READER_LINE_MAX 256

struct cut_line {
    uint32_t length; /* 0: the last read ended with a whole line */
    char last;       /* the last byte, kept even if not all of the line is */
    char bytes[READER_LINE_MAX];
};

/* Keeps a piece of a line whose end was not read yet. */
static inline void cut_line_keep(struct cut_line *line, const char *bytes, size_t length)
{
    if (length == 0)
        return;
    line->last = bytes[length - 1];
    size_t room = sizeof(line->bytes) - line->length;
    size_t taken = length < room ? length : room;
    memcpy(line->bytes + line->length, bytes, taken);
    line->length += (uint32_t)taken;
}

/*
 * Gets the line that ends with the line feed at `end`, without its CRLF: either in the read buffer or, if
 * it was cut, in `line`. False: there is no CR before the line feed.
 */
static inline bool cut_line_finish(struct cut_line *line, const char *start, const char *end,
                                   const char **out, size_t *length)
{
    if (line->length == 0) {
        if (end == start || end[-1] != '\r')
            return false;
        *out = start;
        *length = (size_t)(end - start) - 1;
        return true;
    }
    cut_line_keep(line, start, (size_t)(end - start));
    *out = line->bytes;
    *length = line->length;
    line->length = 0;
    if (line->bytes[*length - 1] == '\r')
        --*length;
    return line->last == '\r';
}

/* Appends as many bytes as fit to a text of `*used` bytes, which ends with a zero byte. */
static inline void first_error_append(char text[READER_LINE_MAX], uint32_t *used, const char *bytes,
                                      size_t length)
{
    size_t room = READER_LINE_MAX - 1 - *used;
    size_t taken = length < room ? length : room;
    memcpy(text + *used, bytes, taken);
    *used += (uint32_t)taken;
    text[*used] = '\0';
}

#endif

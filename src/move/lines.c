#include "move/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/limits.h"

#define BUFFER_BYTES KIB(256)
#define BUFFER_MOST  (LIMIT_IMPORT_LINE + BUFFER_BYTES) /* once there was a long line */
#define ORDER_MARK   "\xef\xbb\xbf"

bool lines_start(struct lines *lines, int fd, uint64_t offset, uint64_t number)
{
    *lines = (struct lines){.fd = fd, .offset = offset, .number = number};
    lines->room = BUFFER_BYTES;
    lines->buffer = malloc(lines->room);
    return lines->buffer != NULL;
}

void lines_end(struct lines *lines)
{
    free(lines->buffer);
    lines->buffer = NULL;
}

/* Reads more bytes after those in the buffer. */
static enum status lines_fill(struct lines *lines)
{
    if (lines->begin > 0) {
        memmove(lines->buffer, lines->buffer + lines->begin, lines->end - lines->begin);
        lines->end -= lines->begin;
        lines->begin = 0;
    }
    if (lines->end == lines->room) {
        char *grown = realloc(lines->buffer, BUFFER_MOST);
        if (grown == NULL) {
            lines->error = ENOMEM;
            return STATUS_IO_FAILED;
        }
        lines->buffer = grown;
        lines->room = BUFFER_MOST;
    }
    ssize_t got;
    do
        got = read(lines->fd, lines->buffer + lines->end, lines->room - lines->end);
    while (got < 0 && errno == EINTR);
    if (got < 0) {
        lines->error = errno;
        return STATUS_IO_FAILED;
    }
    lines->over = got == 0;
    lines->end += (size_t)got;
    return STATUS_OK;
}

/* Consumes this number of bytes, which were a line or the end of one. */
static void lines_pass(struct lines *lines, size_t bytes)
{
    lines->begin += bytes;
    lines->offset += bytes;
}

/* Skips a line that is longer than the limit. */
static enum status lines_skip(struct lines *lines)
{
    lines->number++;
    for (;;) {
        const char *start = lines->buffer + lines->begin;
        const char *stop = memchr(start, '\n', lines->end - lines->begin);
        lines_pass(lines, stop != NULL ? (size_t)(stop - start) + 1 : lines->end - lines->begin);
        if (stop != NULL || lines->over)
            return STATUS_BAD_ARGUMENT;
        enum status status = lines_fill(lines);
        if (status != STATUS_OK)
            return status;
    }
}

static struct text line_clean(const char *start, size_t length, bool first)
{
    size_t mark = sizeof ORDER_MARK - 1;
    if (length > 0 && start[length - 1] == '\r')
        length--;
    if (first && length >= mark && memcmp(start, ORDER_MARK, mark) == 0)
        return (struct text){start + mark, length - mark};
    return (struct text){start, length};
}

enum status lines_next(struct lines *lines, struct text *line)
{
    const char *start, *stop;
    size_t there;
    for (;;) {
        start = lines->buffer + lines->begin;
        there = lines->end - lines->begin;
        stop = memchr(start, '\n', there < LIMIT_IMPORT_LINE + 1 ? there : LIMIT_IMPORT_LINE + 1);
        if (stop != NULL)
            break;
        if (there > LIMIT_IMPORT_LINE)
            return lines_skip(lines);
        if (lines->over && there == 0)
            return STATUS_MORE;
        if (lines->over)
            break;
        enum status status = lines_fill(lines);
        if (status != STATUS_OK)
            return status;
    }
    size_t length = stop != NULL ? (size_t)(stop - start) : there;
    *line = line_clean(start, length, lines->offset == 0);
    lines->number++;
    lines_pass(lines, length + (stop != NULL));
    return STATUS_OK;
}

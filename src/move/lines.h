/*
 * Reads lines of a file or a pipe, many bytes at a time. A line ends with LF or CRLF; the last line may
 * end with the file. A Unicode signature (BOM) before the first line is skipped.
 *
 * One thread uses it. The file descriptor belongs to the caller.
 */
#ifndef LAUD_MOVE_LINES_H
#define LAUD_MOVE_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/text.h"

struct lines {
    int fd;
    char *buffer;
    size_t room;  /* of the buffer */
    size_t begin; /* of the bytes that were not returned yet */
    size_t end;
    uint64_t offset; /* in the file, after the last line that was returned */
    uint64_t number; /* of that line, from 1 */
    bool over;       /* the end of the file was read */
    int error;       /* errno, if the file could not be read */
};

/* Starts at this offset, to which the descriptor is set already. False: no memory. */
bool lines_start(struct lines *lines, int fd, uint64_t offset, uint64_t number);
void lines_end(struct lines *lines);

/*
 * OK: the next line, which is valid until the next call. MORE: there are no more lines. BAD_ARGUMENT: the
 * line was longer than LIMIT_IMPORT_LINE and was skipped. IO_FAILED: `error` says why.
 */
enum status lines_next(struct lines *lines, struct text *line);

#endif

/*
 * Lines of a file or a pipe, many bytes at a time. A line ends with LF or CRLF, the last one also
 * with the file; a byte order mark before the first is passed over.
 *
 * Used by one thread; the file descriptor is the caller's.
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
    size_t begin; /* of what is not given out yet */
    size_t end;
    uint64_t offset; /* of the file, after the line last given */
    uint64_t number; /* of that line, from 1 */
    bool over;       /* the file is read to its end */
    int error;       /* errno, if it could not be read */
};

/* At this place of the file, where the descriptor stands already. False: no memory. */
bool lines_start(struct lines *lines, int fd, uint64_t offset, uint64_t number);
void lines_end(struct lines *lines);

/*
 * OK: the next line, valid until the next call. MORE: there is none any more. BAD_ARGUMENT: it was
 * longer than LIMIT_IMPORT_LINE and is passed over. IO_FAILED: `error` says why.
 */
enum status lines_next(struct lines *lines, struct text *line);

#endif

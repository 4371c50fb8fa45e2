/*
 * The file `mark` of a journal. It has the position up to which the journal is certainly on disk.
 * It is written after each successful sync of a segment, but synced itself only when a segment is
 * complete and when the journal is closed. So its position is never too high; it is exact after a
 * crash of the process, and may be too low after a crash of the machine. Nothing before this
 * position may be missing: this distinguishes damage from a torn tail.
 */
#ifndef LAUD_JOURNAL_FILE_MARK_H
#define LAUD_JOURNAL_FILE_MARK_H

#include <stdint.h>

#include "base/status.h"

#define MARK_NAME "mark"

struct mark {
    uint64_t position; /* everything before it is on disk */
    uint64_t chain;    /* chain value at that position */
    uint64_t sequence; /* number of the write, which selects the slot */
};

/*
 * OK; DAMAGED: neither slot verifies; IO_FAILED: *error is the errno, ENOENT if the file does not
 * exist.
 */
enum status mark_read(const char *directory, struct mark *mark, int *error);

/* Creates the file with position 0 and syncs it. 0 or -errno. */
int mark_make(const char *directory);

/* Opens the file for mark_write: a descriptor or -errno. */
int mark_open(const char *directory);

/* Writes position and chain into the next slot and updates `mark`. 0 or -errno. */
int mark_write(int fd, struct mark *mark, uint64_t position, uint64_t chain);

#endif

/*
 * The mark: a small file that says how far the journal is known to be on disk. It is written after
 * each successful sync, and is itself synced only when a segment is finished and at close: never
 * ahead of the truth, exact after the process died, maybe behind after the machine did. Nothing
 * below it may be missing; that is how damage is told from a torn tail.
 */
#ifndef LAUD_JOURNAL_FILE_MARK_H
#define LAUD_JOURNAL_FILE_MARK_H

#include <stdint.h>

#include "base/status.h"

#define MARK_NAME "mark"

struct mark {
    uint64_t position; /* durable through */
    uint64_t chain;    /* there */
    uint64_t sequence; /* of the write; picks the slot */
};

/*
 * OK; DAMAGED: neither slot verifies; IO_FAILED, with *error set to the errno: ENOENT if there is
 * none.
 */
enum status mark_read(const char *directory, struct mark *mark, int *error);

/* Makes the file, synced, with position 0. 0 or -errno. */
int mark_make(const char *directory);

/* Opens it for mark_write: fd or -errno. */
int mark_open(const char *directory);

/* Writes the next slot with this position. 0 or -errno. */
int mark_write(int fd, struct mark *mark, uint64_t position, uint64_t chain);

#endif

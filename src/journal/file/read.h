/*
 * Reads a journal from the first record there is to its last, verifying all of it, and finds out where and
 * how it ends. Changes nothing: cutting a torn tail is the opener's.
 */
#ifndef LAUD_JOURNAL_FILE_READ_H
#define LAUD_JOURNAL_FILE_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "journal/file/journal_file.h"
#include "journal/file/mark.h"

/* Where the journal goes on. */
struct journal_end {
    uint64_t position;
    uint64_t events;
    uint64_t chain;
    uint64_t number;       /* of the last segment, 0 if there is none */
    uint64_t used;         /* of the last segment: its header and good batches */
    uint64_t file_bytes;   /* of the last segment's file */
    uint64_t bytes;        /* of all segments, as far as used */
    uint64_t first;        /* position of the first event there is */
    uint64_t first_events; /* before it */
    uint64_t first_number; /* of the first segment */
    struct mark mark;
    bool has_mark;
};

/*
 * With `from_disk`, the last segment is synced and dropped from the page cache before it is read,
 * so that what is found is what the disk holds, even if a sync of the process before failed.
 */
enum status journal_read(const char *directory, bool from_disk,
                         const struct journal_reading *reading, struct journal_report *report,
                         struct journal_end *end);

#endif

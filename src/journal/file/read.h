/*
 * Reads a journal from its first record to its last, verifies all of it, and determines where and
 * how it ends. It changes nothing: the caller that opens the journal cuts off a torn tail.
 */
#ifndef LAUD_JOURNAL_FILE_READ_H
#define LAUD_JOURNAL_FILE_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "journal/file/journal_file.h"
#include "journal/file/mark.h"

/* The end of the journal, where appending continues. */
struct journal_end {
    uint64_t position;
    uint64_t events;
    uint64_t chain;
    uint64_t number;       /* number of the last segment; 0: there is none */
    uint64_t used;         /* bytes of header and good batches in the last segment */
    uint64_t file_bytes;   /* size of the last segment's file */
    uint64_t bytes;        /* used bytes of all segments */
    uint64_t first;        /* position of the first event that was not removed */
    uint64_t first_events; /* number of events before it */
    uint64_t first_number; /* number of the first segment */
    struct mark mark;
    bool has_mark;
};

/*
 * If `from_disk` is true, the last segment is synced and dropped from the page cache before it is
 * read. So the result shows what is on disk, even if a sync of an earlier process failed.
 */
enum status journal_read(const char *directory, bool from_disk,
                         const struct journal_reading *reading, struct journal_report *report,
                         struct journal_end *end);

#endif

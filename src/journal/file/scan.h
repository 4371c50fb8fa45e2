/*
 * Reads one segment batch by batch through a window in memory. A start (read.c), the cursor
 * (cursor.c) and the removal of segments (forget.c) use it. A scan stands at the boundary before
 * the next batch and verifies that the next batch continues there. The caller decides what it means
 * if a batch does not.
 *
 * Only one thread may use a scan. The caller owns the memory of the window and of the sentence.
 */
#ifndef LAUD_JOURNAL_FILE_SCAN_H
#define LAUD_JOURNAL_FILE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/status.h"
#include "journal/event.h"
#include "journal/file/segment.h"

#define SCAN_WINDOW_BYTES MIB(4) /* largest size of a window */

struct scan {
    const char *directory;
    char *problem; /* gets a sentence for every DAMAGED and IO_FAILED */
    size_t problem_bytes;
    /* The segment */
    uint64_t number;
    char name[SEGMENT_NAME_BYTES];
    int fd; /* -1: no segment is open */
    uint64_t size;
    struct segment_header header;
    /* The boundary: the next batch begins here */
    uint64_t offset;
    uint64_t position;
    uint64_t events;
    uint64_t chain;
    /* The window */
    uint8_t *window;
    size_t window_bytes; /* size of the buffer */
    size_t ahead;        /* bytes to read at a time; more if a batch is larger */
    uint64_t window_start;
    size_t window_length;
    uint64_t fills; /* how often the window was filled */
};

/* The batch at the boundary, and how many of its records have been read. */
struct scan_batch {
    struct batch_header header;
    uint64_t offset; /* offset of its first record in the segment */
    uint64_t done;   /* bytes of the records that were read */
    uint32_t count;  /* number of the records that were read */
};

/* The numbers of all segments, ascending. The caller frees `numbers`. */
struct segment_list {
    uint64_t *numbers;
    size_t count;
    size_t capacity;
};

enum status scan_say(struct scan *scan, enum status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* DAMAGED, with a sentence that names the segment and this offset. */
enum status scan_damage(struct scan *scan, uint64_t offset, const char *what);

/* OK or IO_FAILED. */
enum status scan_list(struct scan *scan, struct segment_list *list);

/*
 * Opens a segment without reading it; the boundary is unchanged. If `from_disk` is true, it is
 * synced and dropped from the page cache first. OK or IO_FAILED.
 */
enum status scan_open(struct scan *scan, uint64_t number, bool from_disk);
void scan_close(struct scan *scan);

/* Reads the length of the file again, because it may have changed, and discards the window. */
enum status scan_refresh(struct scan *scan);

/* Reads the header and sets the boundary to the first batch. */
enum status scan_header(struct scan *scan);

/* Closes this segment and opens another one, which must continue at the boundary. */
enum status scan_follow(struct scan *scan, uint64_t number, bool from_disk);

/*
 * Opens the last segment that begins at or before `position`; the search starts with the newest.
 * *index is its index in the list. DAMAGED: there is none.
 */
enum status scan_seek(struct scan *scan, const struct segment_list *list, uint64_t position,
                      size_t *index);

/*
 * Returns DAMAGED: the journal begins with this segment, which is after the `position` that is
 * needed.
 */
enum status scan_begins_late(struct scan *scan, uint64_t position);

/*
 * Sets *bytes to the range [offset, offset + length) of the segment. *got is its length, which is
 * less if the file ends before.
 */
enum status scan_need(struct scan *scan, uint64_t offset, size_t length, const uint8_t **bytes,
                      size_t *got);

/* OK: there is a good batch at the boundary. MORE: there is none. Otherwise IO_FAILED. */
enum status scan_batch(struct scan *scan, struct scan_batch *batch, const uint8_t **records);

/*
 * Decodes the next record of the batch. To accept it, the caller adds its size to `done` and 1 to
 * `count`. The body of a long event is in `records`, so it is valid until the window changes.
 */
enum status scan_record(struct scan *scan, const struct scan_batch *batch, const uint8_t *records,
                        struct event *event, size_t *size);

/*
 * Call it after all records were read: checks their number and sets the boundary after the batch.
 */
enum status scan_finish(struct scan *scan, const struct scan_batch *batch);

/* Sets the boundary after a batch whose records are not needed. */
void scan_pass(struct scan *scan, const struct scan_batch *batch);

#endif

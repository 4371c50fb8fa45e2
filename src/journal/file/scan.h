/*
 * Reading one segment batch by batch, through a window: what a start (read.c), the projector's
 * cursor (cursor.c) and forgetting (forget.c) have in common. A scan has a place, the boundary
 * before the next batch, and verifies that each batch continues there; what to make of one that
 * does not is the caller's matter.
 *
 * Used by one thread. Whoever sets one up owns the memory of the window and of the sentence.
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

#define SCAN_WINDOW_BYTES MIB(4) /* a window is at most this large */

struct scan {
    const char *directory;
    char *problem; /* gets a sentence with every DAMAGED and IO_FAILED */
    size_t problem_bytes;
    /* The segment */
    uint64_t number;
    char name[SEGMENT_NAME_BYTES];
    int fd; /* -1: none is open */
    uint64_t size;
    struct segment_header header;
    /* The place: the next batch begins here */
    uint64_t offset;
    uint64_t position;
    uint64_t events;
    uint64_t chain;
    /* The window */
    uint8_t *window;
    size_t window_bytes; /* room */
    size_t ahead;        /* so much is read at a time, or more if a batch is larger */
    uint64_t window_start;
    size_t window_length;
    uint64_t fills; /* how often it was filled */
};

/* A batch at the scan's place, and how far its records have been taken. */
struct scan_batch {
    struct batch_header header;
    uint64_t offset; /* of its first record */
    uint64_t done;   /* bytes */
    uint32_t count;  /* records in them */
};

/* The numbers of the segments there are, ascending; the caller frees `numbers`. */
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
 * Opens a segment without looking into it; the place stays. With `from_disk` it is synced and
 * dropped from the page cache first. OK or IO_FAILED.
 */
enum status scan_open(struct scan *scan, uint64_t number, bool from_disk);
void scan_close(struct scan *scan);

/* Its length may have changed since. What the window holds is not believed any more. */
enum status scan_refresh(struct scan *scan);

/* Reads the header and puts the place behind it. */
enum status scan_header(struct scan *scan);

/* Closes this segment and opens another one, which must continue at the place. */
enum status scan_follow(struct scan *scan, uint64_t number, bool from_disk);

/*
 * Opens the last segment that begins at or before `position`, looking from the newest back; its
 * place in the list is *index. DAMAGED if there is none.
 */
enum status scan_seek(struct scan *scan, const struct segment_list *list, uint64_t position,
                      size_t *index);

/* DAMAGED: the journal begins with this segment, too late for someone who needs `position`. */
enum status scan_begins_late(struct scan *scan, uint64_t position);

/* *bytes is [offset, offset + length) of the segment, or as much of it as the file has: *got. */
enum status scan_need(struct scan *scan, uint64_t offset, size_t length, const uint8_t **bytes,
                      size_t *got);

/* OK: there is a good batch at the place. MORE: there is none. Else IO_FAILED. */
enum status scan_batch(struct scan *scan, struct scan_batch *batch, const uint8_t **records);

/* The next record of the batch; the caller adds its size to `done` and 1 to `count` to take it. */
enum status scan_record(struct scan *scan, const struct scan_batch *batch, const uint8_t *records,
                        struct event *event, size_t *size);

/* All records were taken: are they as many as the batch says? Moves the place behind it. */
enum status scan_finish(struct scan *scan, const struct scan_batch *batch);

/* Moves the place behind a batch whose records nobody needs. */
void scan_pass(struct scan *scan, const struct scan_batch *batch);

#endif

/*
 * Why it is safe to read a file that is being written: everything before a durable position is on
 * disk and never changes again. Durable positions are between batches, so a batch that begins
 * before one is complete. A segment is cut to its used length before its successor gets a number,
 * so before a durable position the end of a file is the end of its segment.
 *
 * Everything after the durable position may change at any time. The window reads ahead
 * nevertheless, and the length that was read becomes outdated; `valid_to` is the position up to
 * which both are valid. They are refreshed only when the boundary reaches this position: a cursor
 * that is close to the end reads only what is new, and little more.
 *
 * After a failure the segment is closed, and the next reading searches its position again.
 */
#include "journal/file/cursor.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "journal/file/path.h"
#include "journal/file/scan.h"

#define AHEAD_BYTES KIB(64) /* bytes to read at a time, at least */

struct journal_cursor {
    struct scan scan;        /* its boundary is before the batch of the cursor */
    struct scan_batch batch; /* verified, except for its remaining records */
    bool in_batch;
    uint64_t position;
    uint64_t valid_to; /* window and length are valid for batches that begin before this position */
    char directory[JOURNAL_DIRECTORY_MAX + 1];
};

uint64_t journal_cursor_position(const struct journal_cursor *cursor)
{
    return cursor->position;
}

static enum status cursor_batch(struct journal_cursor *cursor, const uint8_t **records)
{
    struct scan *scan = &cursor->scan;
    enum status status = scan_batch(scan, &cursor->batch, records);
    if (status == STATUS_MORE)
        status = scan_damage(scan, scan->offset,
                             scan->offset < scan->size
                                 ? "the batch does not verify"
                                 : "the segment ends here, but there should be more");
    return status;
}

/* Skips records of the batch up to the cursor's position, which must be between two of them. */
static enum status cursor_skip(struct journal_cursor *cursor, const uint8_t *records)
{
    struct scan_batch *batch = &cursor->batch;
    uint64_t wanted = cursor->position - batch->header.position;
    while (batch->done < wanted) {
        struct event event;
        size_t size;
        enum status status = scan_record(&cursor->scan, batch, records, &event, &size);
        if (status != STATUS_OK)
            return status;
        if (batch->done + size > wanted)
            return scan_say(&cursor->scan, STATUS_DAMAGED,
                            "journal segment %s, offset %" PRIu64 ": position %" PRIu64
                            " lies inside this event",
                            cursor->scan.name, batch->offset + batch->done, cursor->position);
        batch->done += size;
        batch->count++;
    }
    cursor->in_batch = true;
    return STATUS_OK;
}

/* Advances from the beginning of the segment to the cursor's position. */
static enum status cursor_walk(struct journal_cursor *cursor)
{
    struct scan *scan = &cursor->scan;
    scan->ahead = scan->window_bytes;
    while (scan->position < cursor->position) {
        const uint8_t *records;
        enum status status = cursor_batch(cursor, &records);
        if (status != STATUS_OK)
            return status;
        if (scan->position + cursor->batch.header.bytes > cursor->position)
            return cursor_skip(cursor, records);
        scan_pass(scan, &cursor->batch);
    }
    return STATUS_OK;
}

/*
 * Finds the segment and the batch of the position. If there is no segment yet, there is nothing to
 * open. Segments before the position may be removed meanwhile, so the search begins with the newest
 * one.
 */
static enum status cursor_place(struct journal_cursor *cursor)
{
    struct scan *scan = &cursor->scan;
    struct segment_list list = {0};
    size_t index;
    cursor->in_batch = false;
    scan->ahead = SEGMENT_HEADER_BYTES;
    enum status status = scan_list(scan, &list);
    if (status == STATUS_OK && list.count > 0) {
        status = scan_seek(scan, &list, cursor->position, &index);
        if (status == STATUS_OK)
            status = cursor_walk(cursor);
        cursor->valid_to = cursor->position;
    } else if (status == STATUS_OK && cursor->position > 0) {
        status = scan_say(scan, STATUS_DAMAGED,
                          "the journal has no segments, but events are needed from position "
                          "%" PRIu64 " on",
                          cursor->position);
    }
    free(list.numbers);
    return status;
}

/*
 * This segment is complete, and there is another one. A segment without batches can only be from
 * before a restart: the next segment took its number.
 */
static enum status cursor_follow(struct journal_cursor *cursor)
{
    struct scan *scan = &cursor->scan;
    bool empty = scan->offset == SEGMENT_HEADER_BYTES;
    return scan_follow(scan, empty ? scan->number : scan->number + 1, false);
}

/* Verifies the batch at the boundary, which begins before the limit. */
static enum status cursor_enter(struct journal_cursor *cursor, uint64_t limit,
                                const uint8_t **records)
{
    struct scan *scan = &cursor->scan;
    enum status status = STATUS_OK;
    ASSERT(scan->position == cursor->position);
    if (cursor->position >= cursor->valid_to) {
        uint64_t ahead = limit - cursor->position + AHEAD_BYTES;
        scan->ahead = ahead < scan->window_bytes ? (size_t)ahead : scan->window_bytes;
        status = scan_refresh(scan);
        cursor->valid_to = limit;
    }
    if (status == STATUS_OK && scan->offset == scan->size)
        status = cursor_follow(cursor);
    if (status == STATUS_OK)
        status = cursor_batch(cursor, records);
    cursor->in_batch = status == STATUS_OK;
    return status;
}

/* Loads the records of the current batch again, because the window may have other contents now. */
static enum status cursor_resume(struct journal_cursor *cursor, const uint8_t **records)
{
    struct scan *scan = &cursor->scan;
    size_t got;
    enum status status =
        scan_need(scan, cursor->batch.offset, (size_t)cursor->batch.header.bytes, records, &got);
    if (status == STATUS_OK && got < cursor->batch.header.bytes)
        status = scan_damage(scan, cursor->batch.offset + got, "the file ends inside a batch");
    return status;
}

/* OK: the batch is complete. MORE: the visitor or the limit ended the reading. */
static enum status cursor_visit(struct journal_cursor *cursor, const uint8_t *records,
                                uint64_t limit, journal_visit_fn *visit, void *context)
{
    struct scan_batch *batch = &cursor->batch;
    while (batch->done < batch->header.bytes) {
        struct event event;
        size_t size;
        enum status status = scan_record(&cursor->scan, batch, records, &event, &size);
        if (status == STATUS_OK && cursor->position + size > limit)
            status = STATUS_MORE;
        if (status == STATUS_OK)
            status = visit(context, &event, cursor->position, size);
        if (status != STATUS_OK)
            return status;
        batch->done += size;
        batch->count++;
        cursor->position += size;
    }
    cursor->in_batch = false;
    return scan_finish(&cursor->scan, batch);
}

static enum status cursor_step(struct journal_cursor *cursor, uint64_t limit,
                               journal_visit_fn *visit, void *context)
{
    const uint8_t *records = NULL;
    enum status status = STATUS_OK;
    if (cursor->scan.fd < 0) {
        status = cursor_place(cursor);
        if (status == STATUS_OK && cursor->scan.fd < 0)
            status = scan_say(&cursor->scan, STATUS_DAMAGED,
                              "the journal has no segments, but position %" PRIu64
                              " is recorded as durable",
                              limit);
    }
    if (status == STATUS_OK)
        status = cursor->in_batch ? cursor_resume(cursor, &records)
                                  : cursor_enter(cursor, limit, &records);
    return status == STATUS_OK ? cursor_visit(cursor, records, limit, visit, context) : status;
}

enum status journal_cursor_read(struct journal_cursor *cursor, uint64_t limit,
                                journal_visit_fn *visit, void *context, char *problem, size_t size)
{
    enum status status = STATUS_OK;
    ASSERT(size > 0);
    problem[0] = '\0';
    cursor->scan.problem = problem;
    cursor->scan.problem_bytes = size;
    while (status == STATUS_OK && cursor->position < limit)
        status = cursor_step(cursor, limit, visit, context);
    if (status == STATUS_MORE)
        return STATUS_OK;
    if (status == STATUS_DAMAGED || status == STATUS_IO_FAILED)
        scan_close(&cursor->scan);
    return status;
}

enum status journal_cursor_open(const char *directory, uint64_t position,
                                struct journal_cursor **out, char *problem, size_t size)
{
    ASSERT(size > 0);
    problem[0] = '\0';
    *out = NULL;
    if (strlen(directory) > JOURNAL_DIRECTORY_MAX) {
        snprintf(problem, size, "the directory's path is too long");
        return STATUS_IO_FAILED;
    }
    struct journal_cursor *cursor = calloc(1, sizeof *cursor);
    uint8_t *window = malloc(SCAN_WINDOW_BYTES);
    if (cursor == NULL || window == NULL) {
        free(cursor);
        free(window);
        snprintf(problem, size, "not enough memory to read the journal");
        return STATUS_IO_FAILED;
    }
    snprintf(cursor->directory, sizeof cursor->directory, "%s", directory);
    cursor->position = position;
    cursor->scan = (struct scan){.directory = cursor->directory,
                                 .problem = problem,
                                 .problem_bytes = size,
                                 .fd = -1,
                                 .window = window,
                                 .window_bytes = SCAN_WINDOW_BYTES};
    enum status status = cursor_place(cursor);
    if (status == STATUS_OK)
        *out = cursor;
    else
        journal_cursor_close(cursor);
    return status;
}

void journal_cursor_close(struct journal_cursor *cursor)
{
    if (cursor == NULL)
        return;
    scan_close(&cursor->scan);
    free(cursor->scan.window);
    free(cursor);
}

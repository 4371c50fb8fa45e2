/*
 * Everything is checked against what precedes it: numbers, positions and event counts must
 * continue, the chain value of each batch depends on all earlier records, and every record has its
 * own checksum. The first segment has no predecessor: its header, which has a checksum of its own,
 * is the start of the chain.
 */
#include "journal/file/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "base/io.h"
#include "journal/file/path.h"
#include "journal/file/record.h"

_Static_assert(SCAN_WINDOW_BYTES >= LIMIT_JOURNAL_BATCH + BATCH_HEADER_BYTES,
               "a window holds a batch");

enum status scan_say(struct scan *scan, enum status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(scan->problem, scan->problem_bytes, format, arguments);
    va_end(arguments);
    return status;
}

enum status scan_damage(struct scan *scan, uint64_t offset, const char *what)
{
    return scan_say(scan, STATUS_DAMAGED, "journal segment %s, offset %" PRIu64 ": %s", scan->name,
                    offset, what);
}

static int collect_number(void *context, const char *name)
{
    struct segment_list *list = context;
    uint64_t number;
    if (!segment_name_parse(name, &number))
        return 0;
    if (list->count == list->capacity) {
        uint64_t *numbers =
            array_grow(list->numbers, &list->capacity, list->count + 1, 64, sizeof *numbers);
        if (numbers == NULL)
            return -ENOMEM;
        list->numbers = numbers;
    }
    list->numbers[list->count++] = number;
    return 0;
}

static int compare_numbers(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

enum status scan_list(struct scan *scan, struct segment_list *list)
{
    int result = io_list("journal.list", scan->directory, collect_number, list);
    if (result < 0)
        return scan_say(scan, STATUS_IO_FAILED, "cannot list the journal directory %s: %s",
                        scan->directory, strerror(-result));
    if (list->count > 0)
        qsort(list->numbers, list->count, sizeof *list->numbers, compare_numbers);
    return STATUS_OK;
}

static enum status open_failed(struct scan *scan, int result)
{
    return scan_say(scan, STATUS_IO_FAILED, "cannot open journal segment %s: %s", scan->name,
                    strerror(-result));
}

enum status scan_refresh(struct scan *scan)
{
    scan->window_start = 0;
    scan->window_length = 0;
    int result = io_size("segment.size", scan->fd, &scan->size);
    return result < 0 ? open_failed(scan, result) : STATUS_OK;
}

enum status scan_open(struct scan *scan, uint64_t number, bool from_disk)
{
    char path[JOURNAL_PATH_BYTES];
    scan_close(scan);
    scan->number = number;
    segment_name(number, scan->name);
    journal_path(path, scan->directory, scan->name);
    scan->fd = io_open("segment.open", path, O_RDONLY, 0);
    if (scan->fd < 0)
        return open_failed(scan, scan->fd);
    int result = 0;
    if (from_disk) {
        result = io_sync("open.sync", scan->fd);
        posix_fadvise(scan->fd, 0, 0, POSIX_FADV_DONTNEED);
    }
    enum status status = result < 0 ? open_failed(scan, result) : scan_refresh(scan);
    if (status != STATUS_OK)
        scan_close(scan);
    return status;
}

void scan_close(struct scan *scan)
{
    if (scan->fd >= 0)
        io_close("segment.close", scan->fd);
    scan->fd = -1;
    scan->size = 0;
}

enum status scan_need(struct scan *scan, uint64_t offset, size_t length, const uint8_t **bytes,
                      size_t *got)
{
    uint64_t left = scan->size > offset ? scan->size - offset : 0;
    *bytes = NULL;
    *got = 0;
    if (length > left)
        length = (size_t)left;
    if (offset < scan->window_start || offset + length > scan->window_start + scan->window_length) {
        ASSERT(length <= scan->window_bytes && scan->ahead <= scan->window_bytes);
        ssize_t filled = io_pread("segment.read", scan->fd, scan->window,
                                  length > scan->ahead ? length : scan->ahead, offset);
        if (filled < 0)
            return scan_say(scan, STATUS_IO_FAILED,
                            "cannot read journal segment %s at offset %" PRIu64 ": %s", scan->name,
                            offset, strerror((int)-filled));
        if ((size_t)filled < length)
            return scan_say(scan, STATUS_IO_FAILED,
                            "journal segment %s became shorter than offset %" PRIu64
                            " while it was read",
                            scan->name, offset + length);
        scan->window_start = offset;
        scan->window_length = (size_t)filled;
        scan->fills++;
    }
    *bytes = scan->window + (offset - scan->window_start);
    *got = length;
    return STATUS_OK;
}

enum status scan_header(struct scan *scan)
{
    const uint8_t *bytes;
    size_t got;
    enum status status = scan_need(scan, 0, SEGMENT_HEADER_BYTES, &bytes, &got);
    if (status != STATUS_OK)
        return status;
    if (got < SEGMENT_HEADER_BYTES)
        return scan_damage(scan, got, "the file ends inside the header");
    const char *problem = segment_header_decode(bytes, &scan->header);
    if (problem != NULL)
        return scan_damage(scan, 0, problem);
    if (scan->header.number != scan->number)
        return scan_damage(scan, 0, "the header has the number of another segment");
    scan->offset = SEGMENT_HEADER_BYTES;
    scan->position = scan->header.position;
    scan->events = scan->header.events;
    scan->chain = scan->header.chain;
    return STATUS_OK;
}

enum status scan_follow(struct scan *scan, uint64_t number, bool from_disk)
{
    uint64_t position = scan->position;
    uint64_t events = scan->events;
    uint64_t chain = scan->chain;
    enum status status = scan_open(scan, number, from_disk);
    if (status == STATUS_OK)
        status = scan_header(scan);
    if (status == STATUS_OK &&
        (scan->position != position || scan->events != events || scan->chain != chain))
        status = scan_damage(scan, 0, "the segment does not continue the one before it");
    return status;
}

enum status scan_begins_late(struct scan *scan, uint64_t position)
{
    return scan_say(
        scan, STATUS_DAMAGED,
        "journal segment %s, offset 0: the journal begins here; the events before it, from "
        "position %" PRIu64 " to %" PRIu64 ", are missing",
        scan->name, position, scan->header.position);
}

enum status scan_seek(struct scan *scan, const struct segment_list *list, uint64_t position,
                      size_t *index)
{
    ASSERT(list->count > 0);
    for (size_t i = list->count; i-- > 0;) {
        enum status status = scan_open(scan, list->numbers[i], false);
        if (status == STATUS_OK)
            status = scan_header(scan);
        if (status != STATUS_OK)
            return status;
        *index = i;
        if (scan->header.position <= position)
            return STATUS_OK;
    }
    return scan_begins_late(scan, position);
}

enum status scan_batch(struct scan *scan, struct scan_batch *batch, const uint8_t **records)
{
    struct batch_header *header = &batch->header;
    const uint8_t *bytes;
    size_t got;
    enum status status = scan_need(scan, scan->offset, BATCH_HEADER_BYTES, &bytes, &got);
    if (status != STATUS_OK)
        return status;
    if (got < BATCH_HEADER_BYTES || !batch_header_decode(bytes, scan->number, header) ||
        header->position != scan->position || header->events != scan->events)
        return STATUS_MORE;
    size_t length = BATCH_HEADER_BYTES + (size_t)header->bytes;
    status = scan_need(scan, scan->offset, length, &bytes, &got);
    if (status != STATUS_OK)
        return status;
    *records = bytes + BATCH_HEADER_BYTES;
    if (got < length || segment_chain(scan->chain, *records, header->bytes) != header->chain)
        return STATUS_MORE;
    batch->offset = scan->offset + BATCH_HEADER_BYTES;
    batch->done = 0;
    batch->count = 0;
    return STATUS_OK;
}

enum status scan_record(struct scan *scan, const struct scan_batch *batch, const uint8_t *records,
                        struct event *event, size_t *size)
{
    const struct batch_header *header = &batch->header;
    enum status status = record_decode(records + batch->done, header->bytes - batch->done,
                                       header->position + batch->done, event, size);
    if (__builtin_expect(status != STATUS_OK, 0))
        return scan_damage(scan, batch->offset + batch->done, "a record does not verify");
    if (__builtin_expect(event_is_long(event), 0) && scan->header.version < SEGMENT_VERSION_LONG)
        return scan_damage(scan, batch->offset + batch->done,
                           "a record has a body, but segments of this version have none");
    return STATUS_OK;
}

enum status scan_finish(struct scan *scan, const struct scan_batch *batch)
{
    ASSERT(batch->done == batch->header.bytes);
    if (batch->count != batch->header.count)
        return scan_damage(scan, batch->offset,
                           "the batch has another number of records than its header says");
    scan_pass(scan, batch);
    return STATUS_OK;
}

void scan_pass(struct scan *scan, const struct scan_batch *batch)
{
    scan->offset = batch->offset + batch->header.bytes;
    scan->position += batch->header.bytes;
    scan->events += batch->header.count;
    scan->chain = batch->header.chain;
}

/*
 * The tail is torn only if there is no evidence that its bytes were ever on disk. There are two
 * kinds of evidence: the file `mark`, and any later batch header, which says what was durable when
 * it was written.
 */
#include "journal/file/tail.h"

#include <stdio.h>

#include "base/assert.h"
#include "base/little.h"

struct tail {
    uint64_t durable; /* the highest durable position in any batch header of the tail */
    uint64_t end;     /* the offset after the last byte that is not zero */
};

/* The offset after the last of these bytes that is not zero, or `end`. */
static uint64_t end_of(const uint8_t *bytes, size_t length, uint64_t offset, uint64_t end)
{
    for (size_t i = 0; i < length; i++)
        if (bytes[i] != 0)
            end = offset + i + 1;
    return end;
}

static enum status tail_scan(struct scan *scan, void (*progress)(void *context), void *context,
                             struct tail *tail)
{
    *tail = (struct tail){.end = scan->offset};
    for (uint64_t at = scan->offset; at < scan->size; at += 8) {
        const uint8_t *bytes;
        size_t got;
        struct batch_header header;
        enum status status = scan_need(scan, at, BATCH_HEADER_BYTES, &bytes, &got);
        if (status != STATUS_OK)
            return status;
        progress(context);
        if (got < 8 || little_get64(bytes) != 0)
            tail->end = end_of(bytes, got < 8 ? got : 8, at, tail->end);
        if (got == BATCH_HEADER_BYTES && batch_header_decode(bytes, scan->number, &header) &&
            header.durable > tail->durable)
            tail->durable = header.durable;
    }
    return STATUS_OK;
}

enum status tail_judge(struct scan *scan, uint64_t marked, struct journal_report *report,
                       void (*progress)(void *context), void *context)
{
    ASSERT(scan->fd >= 0);
    struct tail tail;
    uint64_t offset = scan->offset;
    enum status status = tail_scan(scan, progress, context, &tail);
    if (status != STATUS_OK)
        return status;
    if (tail.durable > scan->position)
        return scan_damage(scan, offset,
                           "the batch does not verify, but a later one shows it was on disk");
    if (marked > scan->position)
        return scan_damage(scan, offset,
                           "the batch does not verify, but the file mark says it was on disk");
    if (tail.end > offset) {
        report->torn_bytes = tail.end - offset;
        report->torn_offset = offset;
        report->torn_promise = scan->header.promise;
        snprintf(report->torn_segment, sizeof report->torn_segment, "%s", scan->name);
    }
    return STATUS_OK;
}

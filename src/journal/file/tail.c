/*
 * The tail is torn only if there is no evidence that its bytes were ever on disk. There are two
 * kinds of evidence: the file `mark`, and any later batch header, which says what was durable when
 * it was written.
 *
 * A torn tail may have parts of bodies, which clients have chosen. What looks like a batch header
 * counts only if a batch with this position can begin at this offset. A client does not know positions
 * and offsets, so it cannot write a text that makes a torn tail look like damage.
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

/*
 * Can the batch with this header begin at the offset `at` of the segment? Between the boundary and the
 * offset there are whole batches, each with a header and at least one record.
 */
static bool batch_is_possible(const struct scan *scan, uint64_t at,
                              const struct batch_header *header)
{
    if (header->position < scan->position || header->events < scan->events)
        return false;
    uint64_t between = at - scan->offset;
    uint64_t records = header->position - scan->position;
    uint64_t events = header->events - scan->events;
    if (records > between || (between - records) % BATCH_HEADER_BYTES != 0)
        return false;
    uint64_t batches = (between - records) / BATCH_HEADER_BYTES;
    return (batches > 0) == (records > 0) && batches <= events &&
           events <= records / LIMIT_EVENT_BYTES_MIN;
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
            batch_is_possible(scan, at, &header) && header.durable > tail->durable)
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

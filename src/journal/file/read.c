/*
 * A batch that does not continue the batches before it (scan.c) is damage, unless it may be a batch
 * at the end of the last segment that a crash interrupted; tail.c decides that.
 *
 * A caller that needs nothing before some position does not wait for gigabytes that are not needed:
 * of segments that end before it only the headers are read.
 */
#include "journal/file/read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "journal/file/path.h"
#include "journal/file/scan.h"
#include "journal/file/tail.h"

struct reader {
    struct scan scan;
    struct segment_list list;
    const struct journal_reading *reading;
    struct journal_report *report;
    struct journal_end *end;
    uint64_t from;   /* events before it are not visited */
    size_t start;    /* index of the first segment that is read whole */
    uint64_t before; /* bytes of the segments before this one */
    uint64_t fills;  /* `fills` of the window when progress was last reported */
};

/* The first segment may have any number; from there on no number may be missing. */
static enum status list_segments(struct reader *reader)
{
    const struct segment_list *list = &reader->list;
    enum status status = scan_list(&reader->scan, &reader->list);
    for (size_t i = 0; status == STATUS_OK && i < list->count; i++) {
        if (list->numbers[i] == list->numbers[0] + i)
            continue;
        segment_name(list->numbers[0] + i, reader->scan.name);
        status = scan_damage(&reader->scan, 0, "the file is missing, but later ones exist");
    }
    return status;
}

static enum status read_mark(struct reader *reader)
{
    struct journal_end *end = reader->end;
    int error = 0;
    enum status status = mark_read(reader->scan.directory, &end->mark, &error);
    if (status == STATUS_OK) {
        end->has_mark = true;
        reader->report->durable_mark = end->mark.position;
        return STATUS_OK;
    }
    if (status == STATUS_IO_FAILED && error == ENOENT)
        return reader->list.count == 0 ? STATUS_OK
                                       : scan_say(&reader->scan, STATUS_DAMAGED,
                                                  "journal file %s, offset 0: it is missing, but "
                                                  "there are segments",
                                                  MARK_NAME);
    if (status == STATUS_IO_FAILED)
        return scan_say(&reader->scan, STATUS_IO_FAILED, "cannot read the journal file %s: %s",
                        MARK_NAME, strerror(error));
    return scan_say(&reader->scan, STATUS_DAMAGED,
                    "journal file %s, offset 0: neither of its two slots verifies", MARK_NAME);
}

static void tell_progress(struct reader *reader)
{
    const struct journal_reading *reading = reader->reading;
    if (reader->fills == reader->scan.fills)
        return;
    reader->fills = reader->scan.fills;
    reader->report->bytes_read = reader->before + reader->scan.window_start;
    if (reading != NULL && reading->progress != NULL)
        reading->progress(reading->context, reader->report);
}

static void tell_tail(void *context)
{
    tell_progress(context);
}

static enum status show_event(struct reader *reader, const struct scan_batch *batch,
                              const struct event *event, size_t size)
{
    const struct journal_reading *reading = reader->reading;
    uint64_t position = batch->header.position + batch->done;
    uint64_t offset = batch->offset + batch->done;
    if (position < reader->from)
        return position + size <= reader->from
                   ? STATUS_OK
                   : scan_say(&reader->scan, STATUS_DAMAGED,
                              "journal segment %s, offset %" PRIu64 ": events are needed from "
                              "position %" PRIu64 " on, but that is inside this one",
                              reader->scan.name, offset, reader->from);
    enum status status = reading == NULL || reading->visit == NULL
                             ? STATUS_OK
                             : reading->visit(reading->context, event, position, size);
    if (status == STATUS_NO_MEMORY || status == STATUS_STOPPING)
        return status; /* the event is not wrong */
    if (status != STATUS_OK)
        return scan_say(&reader->scan, STATUS_DAMAGED,
                        "journal segment %s, offset %" PRIu64 ": the event cannot be applied: %s",
                        reader->scan.name, offset, status_sentence(status));
    reader->report->visited++;
    return STATUS_OK;
}

/*
 * The position of the file `mark` must be between two batches, and the chain values must be equal
 * there.
 */
static enum status check_mark(struct reader *reader, const struct scan_batch *batch)
{
    const struct mark *mark = &reader->end->mark;
    const struct batch_header *header = &batch->header;
    uint64_t after = header->position + header->bytes;
    uint64_t offset = batch->offset - BATCH_HEADER_BYTES;
    if (mark->position > header->position && mark->position < after)
        return scan_damage(&reader->scan, offset,
                           "the file mark says that a batch ends inside this one");
    if (mark->position == after && mark->chain != header->chain)
        return scan_damage(&reader->scan, offset,
                           "the file mark was written for other records than these");
    return STATUS_OK;
}

/* OK: one batch was read. MORE: there is no good batch here. Otherwise the reading ends. */
static enum status read_batch(struct reader *reader)
{
    struct scan *scan = &reader->scan;
    struct scan_batch batch;
    const uint8_t *records;
    enum status status = scan_batch(scan, &batch, &records);
    tell_progress(reader);
    while (status == STATUS_OK && batch.done < batch.header.bytes) {
        struct event event;
        size_t size = 0;
        status = scan_record(scan, &batch, records, &event, &size);
        if (status == STATUS_OK)
            status = show_event(reader, &batch, &event, size);
        batch.done += size;
        batch.count++;
    }
    if (status == STATUS_OK)
        status = check_mark(reader, &batch);
    if (status == STATUS_OK)
        status = scan_finish(scan, &batch);
    return status;
}

static void tell_place(struct reader *reader)
{
    struct journal_report *report = reader->report;
    report->end = reader->scan.position;
    report->bytes = report->end - report->first;
    report->events = reader->scan.events - reader->end->first_events;
}

static enum status read_batches(struct reader *reader, bool last)
{
    struct scan *scan = &reader->scan;
    enum status status = STATUS_OK;
    while (status == STATUS_OK && scan->offset < scan->size) {
        status = read_batch(reader);
        tell_place(reader);
    }
    if (status == STATUS_MORE)
        status =
            last ? tail_judge(scan, reader->end->mark.position, reader->report, tell_tail, reader)
                 : scan_damage(scan, scan->offset, "the batch does not verify");
    if (status == STATUS_OK && last && reader->end->mark.position > scan->position)
        status = scan_damage(scan, scan->offset,
                             "the journal ends here, but the file mark says that more was on disk");
    return status;
}

/* For a caller that reads only the header. */
static size_t header_ahead(const struct scan *scan)
{
    return scan->window_bytes < SEGMENT_HEADER_BYTES ? scan->window_bytes : SEGMENT_HEADER_BYTES;
}

/*
 * The header of the first segment says where the journal begins. The file `mark` was synced at the
 * end of a segment before that segment had a successor, and only segments with a successor are ever
 * removed: so the position in `mark` cannot be before the beginning.
 */
static enum status enter_first(struct reader *reader, bool from_disk)
{
    struct scan *scan = &reader->scan;
    const struct mark *mark = &reader->end->mark;
    enum status status = scan_open(scan, reader->list.numbers[0], from_disk);
    if (status == STATUS_OK)
        status = scan_header(scan);
    if (status != STATUS_OK)
        return status;
    if (scan->number == 1 &&
        (scan->position != 0 || scan->events != 0 || scan->chain != SEGMENT_CHAIN_INITIAL))
        return scan_damage(scan, 0, "the first segment of all does not begin at position 0");
    reader->report->first = scan->position;
    reader->end->first = scan->position;
    reader->end->first_events = scan->events;
    reader->end->first_number = scan->number;
    tell_place(reader);
    if (mark->position < scan->position)
        return scan_damage(
            scan, 0, "the journal begins here, but the position in the file mark is before it");
    if (mark->position == scan->position && mark->chain != scan->chain)
        return scan_damage(
            scan, 0, "the file mark was written for other records than those before this segment");
    if (reader->from == JOURNAL_FROM_FIRST)
        reader->from = scan->position;
    if (reader->from < scan->position)
        return scan_begins_late(scan, reader->from);
    return STATUS_OK;
}

/*
 * The segment before was not read. Its successor's position must be possible for the contents that
 * the segment can have.
 */
static enum status enter_after_skipped(struct reader *reader, uint64_t number, bool from_disk)
{
    struct scan *scan = &reader->scan;
    struct segment_header before = scan->header;
    uint64_t room = scan->size;
    enum status status = scan_open(scan, number, from_disk);
    if (status == STATUS_OK)
        status = scan_header(scan);
    if (status == STATUS_OK &&
        (scan->position <= before.position || scan->events <= before.events ||
         scan->position - before.position > room - SEGMENT_HEADER_BYTES))
        status = scan_damage(scan, 0, "the segment does not continue the one before it");
    tell_place(reader);
    return status;
}

static enum status read_segment(struct reader *reader, size_t index, bool from_disk)
{
    struct scan *scan = &reader->scan;
    uint64_t number = reader->list.numbers[index];
    bool last = index + 1 == reader->list.count;
    bool skipped = index < reader->start;
    scan->ahead = skipped ? header_ahead(scan) : scan->window_bytes;
    enum status status = index == 0 ? enter_first(reader, from_disk && last)
                         : index <= reader->start
                             ? enter_after_skipped(reader, number, from_disk && last)
                             : scan_follow(scan, number, from_disk && last);
    if (status == STATUS_OK && !skipped)
        status = read_batches(reader, last);
    if (status != STATUS_OK)
        return status;
    reader->before += scan->size;
    reader->report->bytes_read = reader->before;
    reader->report->segments++;
    reader->end->number = number;
    reader->end->used = scan->offset;
    reader->end->file_bytes = scan->size;
    reader->end->bytes += skipped ? scan->size : scan->offset;
    return STATUS_OK;
}

/* Adds up the sizes of the files, for progress, and allocates the window. */
static enum status measure(struct reader *reader)
{
    struct scan *scan = &reader->scan;
    uint64_t largest = 1;
    for (size_t i = 0; i < reader->list.count; i++) {
        enum status status = scan_open(scan, reader->list.numbers[i], false);
        if (status != STATUS_OK)
            return status;
        reader->report->bytes_total += scan->size;
        if (scan->size > largest)
            largest = scan->size;
    }
    scan->window_bytes = largest < SCAN_WINDOW_BYTES ? (size_t)largest : SCAN_WINDOW_BYTES;
    scan->window = malloc(scan->window_bytes);
    return scan->window != NULL
               ? STATUS_OK
               : scan_say(scan, STATUS_IO_FAILED, "not enough memory to read the journal");
}

/* Finds the segment with the first event that is needed; those before it are skipped. */
static enum status find_start(struct reader *reader)
{
    struct scan *scan = &reader->scan;
    if (reader->from == JOURNAL_FROM_FIRST || reader->from == 0 || reader->list.count == 0)
        return STATUS_OK;
    scan->ahead = header_ahead(scan);
    return scan_seek(scan, &reader->list, reader->from, &reader->start);
}

static enum status check_empty(struct reader *reader)
{
    if (reader->end->mark.position > 0)
        return scan_say(&reader->scan, STATUS_DAMAGED,
                        "journal file %s, offset 0: it says that events were on disk, but "
                        "there are no segments",
                        MARK_NAME);
    if (reader->from > 0 && reader->from != JOURNAL_FROM_FIRST)
        return scan_say(&reader->scan, STATUS_DAMAGED,
                        "the journal is empty, but the store is at position %" PRIu64
                        ": the store is ahead of the journal",
                        reader->from);
    return STATUS_OK;
}

static enum status check_reached(struct reader *reader)
{
    const struct scan *scan = &reader->scan;
    if (reader->from <= scan->position)
        return STATUS_OK;
    return scan_say(&reader->scan, STATUS_DAMAGED,
                    "journal segment %s, offset %" PRIu64 ": the journal ends here, at position "
                    "%" PRIu64 ", but the store is at %" PRIu64
                    ": the store is ahead of the journal",
                    scan->name, scan->offset, scan->position, reader->from);
}

static enum status read_all(struct reader *reader, bool from_disk)
{
    enum status status = list_segments(reader);
    if (status == STATUS_OK)
        status = read_mark(reader);
    if (status == STATUS_OK)
        status = measure(reader);
    if (status == STATUS_OK)
        status = find_start(reader);
    for (size_t i = 0; status == STATUS_OK && i < reader->list.count; i++)
        status = read_segment(reader, i, from_disk);
    if (status == STATUS_OK)
        status = reader->list.count == 0 ? check_empty(reader) : check_reached(reader);
    return status;
}

enum status journal_read(const char *directory, bool from_disk,
                         const struct journal_reading *reading, struct journal_report *report,
                         struct journal_end *end)
{
    *report = (struct journal_report){0};
    *end = (struct journal_end){.first_number = 1};
    struct reader reader = {
        .scan = {.directory = directory,
                 .problem = report->problem,
                 .problem_bytes = sizeof report->problem,
                 .fd = -1,
                 .chain = SEGMENT_CHAIN_INITIAL},
        .reading = reading,
        .report = report,
        .end = end,
        .from = reading != NULL ? reading->from : JOURNAL_FROM_FIRST,
    };
    enum status status = read_all(&reader, from_disk);
    end->position = reader.scan.position;
    end->events = reader.scan.events;
    end->chain = reader.scan.chain;
    scan_close(&reader.scan);
    free(reader.scan.window);
    free(reader.list.numbers);
    return status;
}

enum status journal_file_verify(const char *directory, const struct journal_reading *reading,
                                struct journal_report *report)
{
    struct journal_end end;
    if (strlen(directory) > JOURNAL_DIRECTORY_MAX) {
        *report = (struct journal_report){0};
        snprintf(report->problem, sizeof report->problem, "the directory's path is too long");
        return STATUS_IO_FAILED;
    }
    return journal_read(directory, false, reading, report, &end);
}

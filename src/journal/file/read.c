/*
 * Everything is checked against everything before it: numbers, positions and event counts follow
 * each other, the chain value of each batch depends on all earlier records, and every record
 * carries its own check. A batch that does not fit is damage, unless it may be what a crash left
 * half-written; that question is asked in one place, read_tail, and the answer is "torn" only if
 * no evidence says that the bytes once were on disk.
 */
#include "journal/file/read.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/io.h"
#include "journal/file/path.h"
#include "journal/file/segment.h"
#include "journal/little.h"

#define WINDOW_BYTES MIB(4)

_Static_assert(WINDOW_BYTES >= LIMIT_JOURNAL_BATCH + BATCH_HEADER_BYTES, "a window holds a batch");

struct reader {
    const char *directory;
    const struct journal_reading *reading;
    struct journal_report *report;
    struct journal_end *end;
    uint64_t *numbers; /* of the segments, ascending */
    size_t count;
    size_t capacity;
    /* The segment being read */
    uint64_t number;
    char name[SEGMENT_NAME_BYTES];
    int fd;
    uint64_t size;
    uint64_t before; /* bytes of the segments before it */
    /* A window on it */
    uint8_t *window;
    size_t window_bytes; /* as large as the largest segment needs, at most WINDOW_BYTES */
    uint64_t window_start;
    size_t window_length;
};

static enum status reader_say(struct reader *reader, enum status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static enum status reader_say(struct reader *reader, enum status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reader->report->problem, sizeof reader->report->problem, format, arguments);
    va_end(arguments);
    return status;
}

static enum status reader_damage(struct reader *reader, uint64_t offset, const char *what)
{
    return reader_say(reader, STATUS_DAMAGED, "journal segment %s, offset %" PRIu64 ": %s",
                      reader->name, offset, what);
}

static int collect_number(void *context, const char *name)
{
    struct reader *reader = context;
    uint64_t number;
    if (!segment_name_parse(name, &number))
        return 0;
    if (reader->count == reader->capacity) {
        size_t capacity = reader->capacity == 0 ? 64 : reader->capacity * 2;
        uint64_t *numbers = realloc(reader->numbers, capacity * sizeof *numbers);
        if (numbers == NULL)
            return -ENOMEM;
        reader->numbers = numbers;
        reader->capacity = capacity;
    }
    reader->numbers[reader->count++] = number;
    return 0;
}

static int compare_numbers(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static enum status list_segments(struct reader *reader)
{
    int result = io_list("journal.list", reader->directory, collect_number, reader);
    if (result < 0)
        return reader_say(reader, STATUS_IO_FAILED, "cannot list the journal directory %s: %s",
                          reader->directory, strerror(-result));
    if (reader->count > 0)
        qsort(reader->numbers, reader->count, sizeof *reader->numbers, compare_numbers);
    for (size_t i = 0; i < reader->count; i++) {
        if (reader->numbers[i] == i + 1)
            continue;
        segment_name(i + 1, reader->name);
        return reader_say(reader, STATUS_DAMAGED,
                          "journal segment %s, offset 0: the file is missing, but later ones exist",
                          reader->name);
    }
    return STATUS_OK;
}

static enum status read_mark(struct reader *reader)
{
    struct journal_end *end = reader->end;
    int error = 0;
    enum status status = mark_read(reader->directory, &end->mark, &error);
    if (status == STATUS_OK) {
        end->has_mark = true;
        reader->report->durable_mark = end->mark.position;
        return STATUS_OK;
    }
    if (status == STATUS_IO_FAILED && error == ENOENT)
        return reader->count == 0 ? STATUS_OK
                                  : reader_say(reader, STATUS_DAMAGED,
                                               "journal file %s, offset 0: it is missing, but "
                                               "there are segments",
                                               MARK_NAME);
    if (status == STATUS_IO_FAILED)
        return reader_say(reader, STATUS_IO_FAILED, "cannot read the journal file %s: %s",
                          MARK_NAME, strerror(error));
    return reader_say(reader, STATUS_DAMAGED,
                      "journal file %s, offset 0: neither of its two slots verifies", MARK_NAME);
}

/* *bytes is [offset, offset + length) of the segment, or as much of it as the file has: *got. */
static enum status reader_need(struct reader *reader, uint64_t offset, size_t length,
                               const uint8_t **bytes, size_t *got)
{
    uint64_t left = reader->size - offset;
    *bytes = NULL;
    *got = 0;
    if (length > left)
        length = (size_t)left;
    if (offset < reader->window_start ||
        offset + length > reader->window_start + reader->window_length) {
        ssize_t filled =
            io_pread("segment.read", reader->fd, reader->window, reader->window_bytes, offset);
        if (filled < 0)
            return reader_say(reader, STATUS_IO_FAILED,
                              "cannot read journal segment %s at offset %" PRIu64 ": %s",
                              reader->name, offset, strerror((int)-filled));
        if ((size_t)filled < length)
            return reader_say(reader, STATUS_IO_FAILED,
                              "journal segment %s became shorter while it was read", reader->name);
        reader->window_start = offset;
        reader->window_length = (size_t)filled;
        reader->report->bytes_read = reader->before + offset;
        if (reader->reading != NULL && reader->reading->progress != NULL)
            reader->reading->progress(reader->reading->context, reader->report);
    }
    *bytes = reader->window + (offset - reader->window_start);
    *got = length;
    return STATUS_OK;
}

static enum status read_records(struct reader *reader, const struct batch_header *header,
                                const uint8_t *records, uint64_t offset)
{
    uint64_t done = 0;
    uint32_t count = 0;
    while (done < header->bytes) {
        struct event event;
        size_t size;
        uint64_t position = header->position + done;
        if (event_decode(records + done, header->bytes - done, position, &event, &size) !=
            STATUS_OK)
            return reader_damage(reader, offset + done, "a record does not verify");
        enum status status =
            reader->reading == NULL || reader->reading->visit == NULL
                ? STATUS_OK
                : reader->reading->visit(reader->reading->context, &event, position, size);
        if (status != STATUS_OK)
            return reader_say(reader, STATUS_DAMAGED,
                              "journal segment %s, offset %" PRIu64
                              ": the event cannot be applied: %s",
                              reader->name, offset + done, status_sentence(status));
        done += size;
        count++;
    }
    if (count != header->count)
        return reader_damage(reader, offset, "the batch holds another number of records");
    return STATUS_OK;
}

/* The mark must fall between batches, and agree on what lies before it. */
static enum status check_mark(struct reader *reader, const struct batch_header *header,
                              uint64_t offset)
{
    const struct mark *mark = &reader->end->mark;
    uint64_t after = header->position + header->bytes;
    if (mark->position > header->position && mark->position < after)
        return reader_damage(reader, offset, "the mark says that a batch ends inside this one");
    if (mark->position == after && mark->chain != header->chain)
        return reader_damage(reader, offset, "the mark was written for other records than these");
    return STATUS_OK;
}

/* OK: *length of it. MORE: there is no good batch here. Else the reading ends. */
static enum status read_batch(struct reader *reader, uint64_t offset, size_t *length)
{
    struct journal_end *end = reader->end;
    struct batch_header header;
    const uint8_t *bytes;
    size_t got;
    enum status status = reader_need(reader, offset, BATCH_HEADER_BYTES, &bytes, &got);
    if (status != STATUS_OK)
        return status;
    if (got < BATCH_HEADER_BYTES || !batch_header_decode(bytes, reader->number, &header) ||
        header.position != end->position || header.events != end->events)
        return STATUS_MORE;
    *length = BATCH_HEADER_BYTES + (size_t)header.bytes;
    status = reader_need(reader, offset, *length, &bytes, &got);
    if (status != STATUS_OK)
        return status;
    const uint8_t *records = bytes + BATCH_HEADER_BYTES;
    if (got < *length || segment_chain(end->chain, records, header.bytes) != header.chain)
        return STATUS_MORE;

    status = read_records(reader, &header, records, offset + BATCH_HEADER_BYTES);
    if (status == STATUS_OK)
        status = check_mark(reader, &header, offset);
    if (status != STATUS_OK)
        return status;
    end->position += header.bytes;
    end->events += header.count;
    end->chain = header.chain;
    reader->report->end = end->position;
    reader->report->events = end->events;
    reader->report->bytes = end->position;
    return STATUS_OK;
}

/*
 * Looks through what follows the last good batch: *durable is the farthest position any batch
 * header there says was on disk, *last the offset after the last byte that is not zero.
 */
static enum status scan_tail(struct reader *reader, uint64_t offset, uint64_t *durable,
                             uint64_t *last)
{
    *durable = 0;
    *last = offset;
    for (uint64_t at = offset; at < reader->size; at += 8) {
        const uint8_t *bytes;
        size_t got;
        struct batch_header header;
        enum status status = reader_need(reader, at, BATCH_HEADER_BYTES, &bytes, &got);
        if (status != STATUS_OK)
            return status;
        if (got < 8 || little_get64(bytes) != 0)
            for (size_t i = 0; i < 8 && i < got; i++)
                if (bytes[i] != 0)
                    *last = at + i + 1;
        if (got == BATCH_HEADER_BYTES && batch_header_decode(bytes, reader->number, &header) &&
            header.durable > *durable)
            *durable = header.durable;
    }
    return STATUS_OK;
}

/* In the last segment there is no good batch at `offset`: is this the end, torn, or damage? */
static enum status read_tail(struct reader *reader, uint64_t offset)
{
    uint64_t durable;
    uint64_t last;
    enum status status = scan_tail(reader, offset, &durable, &last);
    if (status != STATUS_OK)
        return status;
    if (durable > reader->end->position)
        return reader_damage(reader, offset,
                             "the batch does not verify, but a later one shows it was on disk");
    if (reader->end->mark.position > reader->end->position)
        return reader_damage(reader, offset,
                             "the batch does not verify, but the mark says it was on disk");
    if (last > offset) {
        reader->report->torn_bytes = last - offset;
        reader->report->torn_offset = offset;
        snprintf(reader->report->torn_segment, sizeof reader->report->torn_segment, "%s",
                 reader->name);
    }
    return STATUS_OK;
}

static enum status read_header(struct reader *reader)
{
    struct journal_end *end = reader->end;
    struct segment_header header;
    const uint8_t *bytes;
    size_t got;
    enum status status = reader_need(reader, 0, SEGMENT_HEADER_BYTES, &bytes, &got);
    if (status != STATUS_OK)
        return status;
    if (got < SEGMENT_HEADER_BYTES)
        return reader_damage(reader, got, "the file ends inside the header");
    const char *problem = segment_header_decode(bytes, &header);
    if (problem != NULL)
        return reader_damage(reader, 0, problem);
    if (header.number != reader->number)
        return reader_damage(reader, 0, "the header carries another segment's number");
    if (header.position != end->position || header.events != end->events ||
        header.chain != end->chain)
        return reader_damage(reader, 0, "the segment does not continue the one before it");
    return STATUS_OK;
}

static enum status read_batches(struct reader *reader, bool last)
{
    uint64_t offset = SEGMENT_HEADER_BYTES;
    enum status status = STATUS_OK;
    while (status == STATUS_OK && offset < reader->size) {
        size_t length;
        status = read_batch(reader, offset, &length);
        if (status == STATUS_OK)
            offset += length;
    }
    reader->end->used = offset;
    if (status == STATUS_MORE)
        status = last ? read_tail(reader, offset)
                      : reader_damage(reader, offset, "the batch does not verify");
    if (status == STATUS_OK && last && reader->end->mark.position > reader->end->position)
        status = reader_damage(reader, offset,
                               "the journal ends here, but the mark says that more was on disk");
    return status;
}

static enum status open_segment(struct reader *reader, bool from_disk)
{
    char path[JOURNAL_PATH_BYTES];
    journal_path(path, reader->directory, reader->name);
    reader->fd = io_open("segment.open", path, O_RDONLY, 0);
    int result = reader->fd < 0 ? reader->fd : 0;
    if (result == 0 && from_disk) {
        result = io_sync("open.sync", reader->fd);
        posix_fadvise(reader->fd, 0, 0, POSIX_FADV_DONTNEED);
    }
    if (result == 0)
        result = io_size("segment.size", reader->fd, &reader->size);
    if (result < 0)
        return reader_say(reader, STATUS_IO_FAILED, "cannot open journal segment %s: %s",
                          reader->name, strerror(-result));
    return STATUS_OK;
}

static enum status read_segment(struct reader *reader, uint64_t number, bool from_disk)
{
    bool last = number == reader->count;
    reader->number = number;
    reader->window_start = 0;
    reader->window_length = 0;
    segment_name(number, reader->name);
    enum status status = open_segment(reader, from_disk && last);
    if (status == STATUS_OK)
        status = read_header(reader);
    if (status == STATUS_OK)
        status = read_batches(reader, last);
    if (reader->fd >= 0)
        io_close("segment.close", reader->fd);
    reader->before += reader->size;
    reader->report->bytes_read = reader->before;
    reader->end->number = number;
    reader->end->file_bytes = reader->size;
    reader->end->bytes += reader->end->used;
    if (status == STATUS_OK)
        reader->report->segments++;
    return status;
}

/* Sums up the files' sizes, so that progress can be told, and makes the window. */
static enum status measure(struct reader *reader)
{
    uint64_t largest = 1;
    for (size_t i = 0; i < reader->count; i++) {
        segment_name(reader->numbers[i], reader->name);
        enum status status = open_segment(reader, false);
        if (reader->fd >= 0)
            io_close("segment.close", reader->fd);
        if (status != STATUS_OK)
            return status;
        reader->report->bytes_total += reader->size;
        if (reader->size > largest)
            largest = reader->size;
    }
    reader->window_bytes = largest < WINDOW_BYTES ? (size_t)largest : WINDOW_BYTES;
    reader->window = malloc(reader->window_bytes);
    return reader->window != NULL
               ? STATUS_OK
               : reader_say(reader, STATUS_IO_FAILED, "not enough memory to read the journal");
}

static enum status read_all(struct reader *reader, bool from_disk)
{
    enum status status = list_segments(reader);
    if (status == STATUS_OK)
        status = read_mark(reader);
    if (status == STATUS_OK)
        status = measure(reader);
    for (uint64_t number = 1; status == STATUS_OK && number <= reader->count; number++)
        status = read_segment(reader, number, from_disk);
    if (status == STATUS_OK && reader->count == 0 && reader->end->mark.position > 0)
        status = reader_say(reader, STATUS_DAMAGED,
                            "journal file %s, offset 0: it says that events were on disk, but "
                            "there are no segments",
                            MARK_NAME);
    return status;
}

enum status journal_read(const char *directory, bool from_disk,
                         const struct journal_reading *reading, struct journal_report *report,
                         struct journal_end *end)
{
    *report = (struct journal_report){0};
    *end = (struct journal_end){.chain = SEGMENT_CHAIN_INITIAL};
    struct reader reader = {
        .directory = directory,
        .reading = reading,
        .report = report,
        .end = end,
        .fd = -1,
    };
    enum status status = read_all(&reader, from_disk);
    free(reader.window);
    free(reader.numbers);
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

/*
 * A batch that is copied whole keeps its bytes. A batch that is cut gets a new header, with the number,
 * the length and the chain value of the records that remain; everything else stays the same. The end
 * of the copy is recorded in the file `mark`, as by a journal that was closed there.
 */
#include "journal/file/cut.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/io.h"
#include "journal/file/mark.h"
#include "journal/file/path.h"
#include "journal/file/record.h"
#include "journal/file/scan.h"

struct copying {
    struct scan scan;
    struct journal_cut *cut;
    const char *to;
    int fd;
    uint64_t used; /* bytes that are written */
};

static enum status scan_make(struct scan *scan, const char *directory, char *problem, size_t size)
{
    *scan = (struct scan){.directory = directory,
                          .problem = problem,
                          .problem_bytes = size,
                          .fd = -1,
                          .chain = SEGMENT_CHAIN_INITIAL,
                          .window_bytes = SCAN_WINDOW_BYTES,
                          .ahead = SEGMENT_HEADER_BYTES};
    problem[0] = '\0';
    if (strlen(directory) > JOURNAL_DIRECTORY_MAX)
        return scan_say(scan, STATUS_IO_FAILED, "the directory's path is too long");
    scan->window = malloc(SCAN_WINDOW_BYTES);
    return scan->window != NULL
               ? STATUS_OK
               : scan_say(scan, STATUS_IO_FAILED, "not enough memory to read the journal");
}

static void scan_end(struct scan *scan)
{
    scan_close(scan);
    free(scan->window);
}

static enum status fill_segments(struct scan *scan, const struct segment_list *list,
                                 struct journal_segment *out)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < list->count; i++) {
        status = scan_open(scan, list->numbers[i], false);
        if (status == STATUS_OK)
            status = scan_header(scan);
        if (status == STATUS_OK && list->numbers[i] != list->numbers[0] + i)
            status = scan_damage(scan, 0, "the segment before it is missing");
        out[i] = (struct journal_segment){.number = list->numbers[i], .position = scan->position};
        segment_name(list->numbers[i], out[i].name);
    }
    return status;
}

enum status journal_file_segments(const char *directory, struct journal_segment **out,
                                  size_t *count, char *problem, size_t size)
{
    struct scan scan;
    struct segment_list list = {0};
    *out = NULL;
    *count = 0;
    enum status status = scan_make(&scan, directory, problem, size);
    if (status == STATUS_OK)
        status = scan_list(&scan, &list);
    if (status == STATUS_OK && list.count > 0) {
        *out = calloc(list.count, sizeof **out);
        status = *out != NULL ? fill_segments(&scan, &list, *out)
                              : scan_say(&scan, STATUS_IO_FAILED, "not enough memory");
    }
    *count = list.count;
    if (status != STATUS_OK) {
        free(*out);
        *out = NULL;
    }
    free(list.numbers);
    scan_end(&scan);
    return status;
}

static enum status write_failed(struct copying *copying, int result)
{
    bool full = result == -ENOSPC || result == -EDQUOT;
    return scan_say(&copying->scan, full ? STATUS_DISK_FULL : STATUS_IO_FAILED,
                    "cannot write the end of the journal in %s: %s", copying->to,
                    strerror(-result));
}

static enum status write_bytes(struct copying *copying, const uint8_t *bytes, size_t length)
{
    int result = io_pwrite_all("cut.write", copying->fd, bytes, length, copying->used);
    copying->used += length;
    return result == 0 ? STATUS_OK : write_failed(copying, result);
}

static enum status write_batch(struct copying *copying, const struct batch_header *header,
                               const uint8_t *records)
{
    uint8_t head[BATCH_HEADER_BYTES];
    batch_header_encode(header, copying->scan.number, head);
    enum status status = write_bytes(copying, head, sizeof head);
    if (status == STATUS_OK)
        status = write_bytes(copying, records, (size_t)header->bytes);
    copying->cut->position = header->position + header->bytes;
    copying->cut->chain = header->chain;
    return status;
}

/* Removes the records at and after the end of the copy from the header of the batch. */
static enum status shorten(struct copying *copying, struct scan_batch *batch,
                           const uint8_t *records)
{
    struct scan *scan = &copying->scan;
    struct batch_header *header = &batch->header;
    uint64_t wanted = copying->cut->until - header->position;
    while (batch->done < wanted) {
        struct event event;
        size_t length;
        enum status status = scan_record(scan, batch, records, &event, &length);
        if (status != STATUS_OK)
            return status;
        batch->done += length;
        batch->count++;
    }
    if (batch->done != wanted)
        return scan_damage(scan, batch->offset + batch->done, "no event ends at this position");
    header->bytes = wanted;
    header->count = batch->count;
    header->chain = segment_chain(scan->chain, records, (size_t)wanted);
    return STATUS_OK;
}

static enum status copy_batch(struct copying *copying)
{
    struct scan *scan = &copying->scan;
    struct scan_batch batch;
    const uint8_t *records;
    enum status status = scan_batch(scan, &batch, &records);
    if (status == STATUS_MORE)
        return scan_damage(scan, scan->offset,
                           scan->offset < scan->size
                               ? "the batch does not verify"
                               : "the segment ends here, but there should be more");
    bool whole = scan->position + batch.header.bytes <= copying->cut->until;
    if (status == STATUS_OK && !whole)
        status = shorten(copying, &batch, records);
    if (status == STATUS_OK)
        status = write_batch(copying, &batch.header, records);
    if (status == STATUS_OK)
        scan_pass(scan, &batch);
    return status;
}

static enum status append_more(struct copying *copying)
{
    const struct event *event = copying->cut->more;
    uint8_t record[LIMIT_EVENT_BYTES];
    size_t length = record_size(event);
    struct batch_header header = {.position = copying->cut->position,
                                  .events = copying->scan.events,
                                  .bytes = length,
                                  .durable = copying->cut->position,
                                  .wall_ms = clock_wall_ms(),
                                  .count = 1};
    ASSERT(length <= sizeof record);
    uint64_t first = record_encode(event, header.position, record, length);
    memcpy(record, &first, sizeof first); /* a little-endian word, see record.h */
    header.chain = segment_chain(copying->cut->chain, record, length);
    return write_batch(copying, &header, record);
}

static enum status copy_all(struct copying *copying)
{
    struct scan *scan = &copying->scan;
    struct journal_cut *cut = copying->cut;
    const uint8_t *header;
    size_t got;
    enum status status = scan_need(scan, 0, SEGMENT_HEADER_BYTES, &header, &got);
    if (status == STATUS_OK)
        status = write_bytes(copying, header, SEGMENT_HEADER_BYTES);
    cut->position = scan->position;
    cut->chain = scan->chain;
    ASSERT(cut->until >= scan->position);
    scan->ahead = SCAN_WINDOW_BYTES;
    while (status == STATUS_OK && scan->position < cut->until)
        status = copy_batch(copying);
    if (status == STATUS_OK && cut->more != NULL)
        status = append_more(copying);
    int result = status == STATUS_OK ? io_sync("cut.sync", copying->fd) : 0;
    return result == 0 ? status : write_failed(copying, result);
}

static int write_mark(const char *directory, const struct journal_cut *cut)
{
    struct mark mark = {.sequence = 1};
    int result = mark_make(directory);
    int fd = result == 0 ? mark_open(directory) : result;
    if (fd < 0)
        return fd;
    result = mark_write(fd, &mark, cut->position, cut->chain);
    if (result == 0)
        result = io_sync("mark.sync", fd);
    io_close("mark.close", fd);
    return result;
}

static enum status copy_opened(struct copying *copying)
{
    char path[JOURNAL_PATH_BYTES];
    journal_path(path, copying->to, copying->scan.name);
    copying->fd = io_open("cut.open", path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (copying->fd < 0)
        return write_failed(copying, copying->fd);
    enum status status = copy_all(copying);
    io_close("cut.close", copying->fd);
    int result = status == STATUS_OK ? write_mark(copying->to, copying->cut) : 0;
    return result == 0 ? status : write_failed(copying, result);
}

enum status journal_file_copy_last(const char *from, uint64_t number, const char *to,
                                   struct journal_cut *cut, char *problem, size_t size)
{
    struct copying copying = {.cut = cut, .to = to};
    enum status status = scan_make(&copying.scan, from, problem, size);
    if (status == STATUS_OK && strlen(to) > JOURNAL_DIRECTORY_MAX)
        status = scan_say(&copying.scan, STATUS_IO_FAILED, "the directory's path is too long");
    if (status == STATUS_OK)
        status = scan_open(&copying.scan, number, false);
    if (status == STATUS_OK)
        status = scan_header(&copying.scan);
    if (status == STATUS_OK)
        status = copy_opened(&copying);
    scan_end(&copying.scan);
    return status;
}

/* Advances the scan from the beginning of its segment to the position. */
static enum status walk(struct scan *scan, uint64_t position)
{
    enum status status = STATUS_OK;
    scan->ahead = SCAN_WINDOW_BYTES;
    while (status == STATUS_OK && scan->position < position) {
        struct scan_batch batch;
        const uint8_t *records;
        status = scan_batch(scan, &batch, &records);
        if (status == STATUS_OK)
            scan_pass(scan, &batch);
    }
    if (status == STATUS_MORE || (status == STATUS_OK && scan->position != position))
        return scan_say(scan, STATUS_DAMAGED,
                        "journal segment %s, offset %" PRIu64
                        ": no batch ends at position %" PRIu64,
                        scan->name, scan->offset, position);
    return status;
}

enum status journal_file_chain(const char *directory, uint64_t position, uint64_t *chain,
                               char *problem, size_t size)
{
    struct scan scan;
    struct segment_list list = {0};
    size_t index;
    enum status status = scan_make(&scan, directory, problem, size);
    if (status == STATUS_OK)
        status = scan_list(&scan, &list);
    if (status == STATUS_OK && list.count == 0)
        status = scan_say(&scan, STATUS_DAMAGED, "the journal has no segments");
    if (status == STATUS_OK)
        status = scan_seek(&scan, &list, position, &index);
    if (status == STATUS_OK)
        status = walk(&scan, position);
    *chain = scan.chain;
    free(list.numbers);
    scan_end(&scan);
    return status;
}

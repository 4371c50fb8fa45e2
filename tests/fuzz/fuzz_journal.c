/*
 * Arbitrary bytes as a journal: as one record, and as the file of a segment that is then verified
 * with everything around it in order. Nothing may crash, leak or hang, and whatever is accepted
 * must encode to the same bytes again.
 *
 * The first byte of the input says how much of the segment is put right before it is read, so that
 * the fuzzer gets past the checksums: bit 0 a good header in front, bit 1 good batch headers for
 * what look like batches, bit 2 good record checks, bit 3 a mark that lies behind everything.
 *
 * The seed corpus, tests/fuzz/corpus/journal, is made by: fuzz_journal --seeds DIRECTORY
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/little.h"
#include "base/names.h"
#include "journal/file/cursor.h"
#include "journal/file/journal_file.h"
#include "journal/file/mark.h"
#include "journal/file/path.h"
#include "journal/file/record.h"
#include "journal/file/segment.h"

#define INPUT_MAX KIB(64)

enum { FIX_HEADER = 1, FIX_BATCHES = 2, FIX_RECORDS = 4, MARK_BEHIND = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static char directory[64];
static char segment_path[JOURNAL_PATH_BYTES];
static uint8_t file[SEGMENT_HEADER_BYTES + INPUT_MAX];

#define EXPECT(what)                                                                               \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            fprintf(stderr, "fuzz_journal: not so: %s\n", #what);                                  \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static void decode_one(const uint8_t *data, size_t size)
{
    struct event event;
    size_t got = 0;
    if (record_decode(data, size, 0, &event, &got) != STATUS_OK)
        return;
    static uint8_t back[LIMIT_EVENT_LONG];
    EXPECT(got <= size && record_size(&event) == got && got <= event_bytes_max(&event));
    EXPECT(event_is_long(&event) == (event.body_length > 0));
    uint64_t first = record_encode(&event, 0, back, got);
    memcpy(back, &first, sizeof first);
    EXPECT(memcmp(back, data, got) == 0);
}

/* Gives every record in [at, at + bytes) its check; returns how many there are. */
static uint32_t fix_records(uint8_t *at, size_t bytes, uint64_t position, bool fix)
{
    uint32_t count = 0;
    size_t done = 0;
    while (bytes - done >= LIMIT_EVENT_BYTES_MIN) {
        size_t size = (size_t)little_get16(at + done + 4) * 8;
        if (size < LIMIT_EVENT_BYTES_MIN || size > bytes - done)
            break;
        if (fix)
            little_put32(at + done,
                         (uint32_t)XXH3_64bits_withSeed(at + done + 4, size - 4, position + done));
        done += size;
        count++;
    }
    return count;
}

/* Takes the lengths the input gives and makes everything else of the batch headers fit. */
static void fix_batches(uint8_t *at, size_t length, uint8_t how)
{
    struct batch_header header = {.chain = SEGMENT_CHAIN_INITIAL};
    size_t done = 0;
    while (length - done > BATCH_HEADER_BYTES) {
        uint8_t *records = at + done + BATCH_HEADER_BYTES;
        size_t left = length - done - BATCH_HEADER_BYTES;
        header.bytes = little_get64(at + done + 24) & ~7ULL;
        if (header.bytes == 0 || header.bytes > left)
            return;
        header.count = fix_records(records, header.bytes, header.position, how & FIX_RECORDS);
        header.chain = segment_chain(header.chain, records, header.bytes);
        header.wall_ms = little_get64(at + done + 48);
        header.durable = little_get64(at + done + 32);
        if (header.durable > header.position)
            header.durable = header.position;
        batch_header_encode(&header, 1, at + done);
        header.position += header.bytes;
        header.events += header.count;
        done += BATCH_HEADER_BYTES + header.bytes;
    }
}

static size_t build_file(const uint8_t *data, size_t size, uint8_t how)
{
    size_t start = 0;
    if (how & FIX_HEADER) {
        struct segment_header header = {.number = 1, .bytes = sizeof file};
        segment_header_encode(&header, file);
        start = SEGMENT_HEADER_BYTES;
    }
    memcpy(file + start, data, size);
    if ((how & FIX_HEADER) && (how & FIX_BATCHES))
        fix_batches(file + start, size, how);
    return start + size;
}

static void write_file(size_t length)
{
    int fd = open(segment_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    EXPECT(fd >= 0);
    EXPECT(pwrite(fd, file, length, 0) == (ssize_t)length);
    close(fd);
}

static void write_mark(uint64_t position)
{
    struct mark mark = {.sequence = 1};
    int fd = mark_open(directory);
    EXPECT(fd >= 0);
    EXPECT(mark_write(fd, &mark, position, 0) == 0); /* slot 0, with a higher number */
    close(fd);
}

static volatile uint8_t body_sum;

static enum status count_visit(void *context, const struct event *event, uint64_t position,
                               size_t size)
{
    uint64_t *next = context;
    EXPECT(position == *next && size == record_size(event));
    for (uint32_t i = 0; i < event->body_length; i++) /* all of it can be read */
        body_sum += event->body[i];
    *next += size;
    return STATUS_OK;
}

/* What verifies as a whole must come through a cursor too, in one go and from its middle. */
static void follow(uint64_t middle, uint64_t end)
{
    struct journal_cursor *cursor;
    char problem[256];
    uint64_t next = 0;
    EXPECT(journal_cursor_open(directory, 0, &cursor, problem, sizeof problem) == STATUS_OK);
    EXPECT(journal_cursor_read(cursor, middle, count_visit, &next, problem, sizeof problem) ==
           STATUS_OK);
    EXPECT(next <= middle && next == journal_cursor_position(cursor));
    journal_cursor_close(cursor);
    EXPECT(journal_cursor_open(directory, next, &cursor, problem, sizeof problem) == STATUS_OK);
    EXPECT(journal_cursor_read(cursor, end, count_visit, &next, problem, sizeof problem) ==
           STATUS_OK);
    EXPECT(next == end);
    journal_cursor_close(cursor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > INPUT_MAX)
        return 0;
    uint8_t how = data[0];
    uint64_t next = 0;
    struct journal_report report;
    struct journal_reading reading = {.visit = count_visit, .context = &next};
    decode_one(data + 1, size - 1);
    write_file(build_file(data + 1, size - 1, how));
    write_mark(how & MARK_BEHIND ? 0 : UINT64_MAX - 7);
    enum status status = journal_file_verify(directory, &reading, &report);
    EXPECT(status == STATUS_OK || status == STATUS_DAMAGED);
    EXPECT((status == STATUS_DAMAGED) == (report.problem[0] != '\0'));
    EXPECT(status != STATUS_OK || report.end == next);
    if (status == STATUS_OK)
        follow(size % (report.end + 1), report.end);
    return 0;
}

static struct event seed_event(unsigned i)
{
    static const uint32_t lengths[] = {1, 7, 8, 9, 300};
    static const uint8_t body[300] = "a text of a comment";
    struct event event = {.type = (uint8_t)(EVENT_DEFINE + i % 4), .time_s = 1700000000 + i};
    if (i % 7 == 6)
        event.type = EVENT_COMMENT;
    if (event.type == EVENT_DEFINE) {
        event.name = NAME_TYPE;
        event.text_length = 5;
        memcpy(event.text, "video", 5);
        return event;
    }
    event.item = (struct item){.id = {i & 4 ? 9 : 0, i}, .type = 0};
    event.delta = event.type == EVENT_ADD ? 7 : 0;
    event.has_token = event.type == EVENT_ADD && (i & 8);
    if (event.type != EVENT_ADD)
        event.user = (struct id){i & 16 ? 5 : 0, i};
    if (event.type == EVENT_COMMENT) {
        event.name = (uint8_t)(1 + i);
        event.body = body;
        event.body_length = lengths[i % 5];
        return event;
    }
    event.cleared_count = event.type != EVENT_ADD && (i & 8) ? 1 : 0;
    return event;
}

/* Batches of records as a writer would make them, `each` records to a batch. */
static size_t seed_batches(uint8_t *out, unsigned events, unsigned each)
{
    size_t length = 0;
    uint64_t position = 0;
    for (unsigned i = 0; i < events;) {
        uint8_t *head = out + length;
        memset(head, 0, BATCH_HEADER_BYTES);
        length += BATCH_HEADER_BYTES;
        for (unsigned k = 0; k < each && i < events; k++, i++) {
            struct event event = seed_event(i);
            size_t size = record_size(&event);
            uint64_t first = record_encode(&event, position, out + length, size);
            memcpy(out + length, &first, sizeof first);
            position += size;
            length += size;
        }
        little_put64(head + 24, (uint64_t)(out + length - head - BATCH_HEADER_BYTES));
    }
    fix_batches(out, length, FIX_HEADER | FIX_BATCHES);
    return length;
}

static void write_seed(const char *to, const char *name, uint8_t how, const uint8_t *bytes,
                       size_t length)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", to, name);
    FILE *out = fopen(path, "wb");
    EXPECT(out != NULL);
    fputc(how, out);
    fwrite(bytes, 1, length, out);
    EXPECT(fclose(out) == 0);
}

/* One record with the largest body: alone, in a batch, and in a torn batch. */
static void write_long_seeds(const char *to)
{
    static uint8_t body[LIMIT_EVENT_BODY];
    static uint8_t bytes[BATCH_HEADER_BYTES + LIMIT_EVENT_LONG];
    struct event event = {.type = EVENT_COMMENT,
                          .name = 1,
                          .time_s = 1700000000,
                          .user = {0, 1},
                          .item = {.id = {2, 3}},
                          .body = body,
                          .body_length = sizeof body - 3};
    memset(body, 'x', sizeof body);
    size_t size = record_size(&event);
    uint64_t first = record_encode(&event, 0, bytes + BATCH_HEADER_BYTES, size);
    memcpy(bytes + BATCH_HEADER_BYTES, &first, sizeof first);
    little_put64(bytes + 24, size);
    fix_batches(bytes, BATCH_HEADER_BYTES + size, FIX_HEADER | FIX_BATCHES);
    write_seed(to, "long-record", 0, bytes + BATCH_HEADER_BYTES, size);
    write_seed(to, "long", FIX_HEADER | FIX_BATCHES | FIX_RECORDS | MARK_BEHIND, bytes,
               BATCH_HEADER_BYTES + size);
    write_seed(to, "long-torn", FIX_HEADER | MARK_BEHIND, bytes, BATCH_HEADER_BYTES + size - 100);
}

static void write_seeds(const char *to)
{
    static uint8_t bytes[SEGMENT_HEADER_BYTES + KIB(8)];
    static const uint8_t all = FIX_HEADER | FIX_BATCHES | FIX_RECORDS;
    size_t length = seed_batches(bytes, 32, 5);
    write_seed(to, "batches", FIX_HEADER | MARK_BEHIND, bytes, length);
    write_seed(to, "batches-fixed", all | MARK_BEHIND, bytes, length);
    write_seed(to, "batches-ahead", all, bytes, length);
    write_seed(to, "torn", FIX_HEADER | MARK_BEHIND, bytes, length - 20);
    write_seed(to, "record", 0, bytes + BATCH_HEADER_BYTES, LIMIT_EVENT_BYTES_MIN);
    struct segment_header header = {.number = 1, .bytes = KIB(64)};
    segment_header_encode(&header, bytes);
    length = seed_batches(bytes + SEGMENT_HEADER_BYTES, 8, 8);
    write_seed(to, "whole", MARK_BEHIND, bytes, SEGMENT_HEADER_BYTES + length);
    little_put32(bytes + 8, 1); /* an older version, in which no event is long */
    segment_header_restamp(bytes);
    length = seed_batches(bytes + SEGMENT_HEADER_BYTES, 6, 6);
    write_seed(to, "whole-1", MARK_BEHIND, bytes, SEGMENT_HEADER_BYTES + length);
    write_long_seeds(to);
}

static void remove_directory(void)
{
    char path[JOURNAL_PATH_BYTES];
    unlink(segment_path);
    journal_path(path, directory, MARK_NAME);
    unlink(path);
    rmdir(directory);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    char name[SEGMENT_NAME_BYTES];
    if (*argc == 3 && strcmp((*argv)[1], "--seeds") == 0) {
        write_seeds((*argv)[2]);
        exit(0);
    }
    snprintf(directory, sizeof directory, "%s/laud-fuzz.XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    EXPECT(mkdtemp(directory) != NULL);
    segment_name(1, name);
    journal_path(segment_path, directory, name);
    EXPECT(mark_make(directory) == 0);
    atexit(remove_directory);
    return 0;
}

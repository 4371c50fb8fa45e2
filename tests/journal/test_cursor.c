/*
 * The cursor against the sequence of sample events, which is what journal_file_verify shows too:
 * from every position, with any limits and stops, and on what is damaged. How it follows a journal that
 * is being written is shown by the suite of sources (conform/source_suite.c).
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "helper.h"
#include "journal/file/cursor.h"

static char problem[256];

/* Sample events until it has had enough. */
struct stopper {
    struct sample_check check;
    uint64_t left;    /* events it still takes */
    enum status then; /* what it says to the next one */
};

static enum status stopper_visit(void *context, const struct event *event, uint64_t position,
                                 size_t size)
{
    struct stopper *stopper = context;
    if (stopper->left == 0)
        return stopper->then;
    stopper->left--;
    return sample_visit(&stopper->check, event, position, size);
}

static void cursor_expect(struct journal_cursor *cursor, uint64_t limit, struct stopper *stopper)
{
    uint64_t before = stopper->check.count;
    uint64_t left = stopper->left;
    enum status status =
        journal_cursor_read(cursor, limit, stopper_visit, stopper, problem, sizeof problem);
    if (status != STATUS_OK)
        fail_msg("%s: %s", status_name(status), problem);
    assert_string_equal(problem, "");
    assert_false(stopper->check.wrong);
    assert_int_equal(stopper->check.count - before, left - stopper->left);
    assert_int_equal(journal_cursor_position(cursor), stopper->check.bytes);
    assert_true(stopper->check.bytes <= limit || stopper->check.count == before);
    struct event next = sample_event(stopper->check.count);
    assert_true(stopper->left == 0 || stopper->check.bytes + record_size(&next) > limit);
}

static struct journal_cursor *cursor_at(uint64_t position)
{
    struct journal_cursor *cursor;
    enum status status =
        journal_cursor_open(test_directory, position, &cursor, problem, sizeof problem);
    if (status != STATUS_OK)
        fail_msg("%s: %s", status_name(status), problem);
    assert_int_equal(journal_cursor_position(cursor), position);
    return cursor;
}

/* A closed journal in batches of random sizes; position after its last event. */
static uint64_t make_journal(uint64_t events, uint64_t seed)
{
    struct user user;
    struct chance chance = {seed};
    assert_int_equal(user_open(&user, test_directory, DURABILITY_COMMIT, NULL), STATUS_OK);
    while (user.appended < events) {
        uint64_t most = chance_next(&chance) % 4 == 0 ? 3 : 150;
        uint64_t count = 1 + chance_next(&chance) % most;
        user_append(&user, count < events - user.appended ? count : events - user.appended);
        assert_int_equal(user_wait(&user), STATUS_OK);
    }
    user_close(&user);
    assert_int_equal(count_samples(test_directory), events);
    return user.end;
}

#define EVENTS 4000

static void test_from_every_place(void **state)
{
    (void)state;
    struct chance chance = {test_seed()};
    uint64_t end = make_journal(EVENTS, chance_next(&chance));
    struct sample_check place = {0};
    struct journal_cursor *cursor;
    for (uint64_t number = 0; number <= EVENTS; number++) {
        struct stopper stopper = {.check = place, .left = 5, .then = STATUS_MORE};
        struct event event = sample_event(number);
        size_t size = record_size(&event);
        cursor = cursor_at(place.bytes);
        if (number % 101 == 0)
            stopper.left = UINT64_MAX;
        cursor_expect(cursor, end, &stopper);
        journal_cursor_close(cursor);
        if (number < EVENTS) {
            uint64_t inside = place.bytes + 8 * (1 + chance_next(&chance) % (size / 8 - 1));
            assert_int_equal(
                journal_cursor_open(test_directory, inside, &cursor, problem, sizeof problem),
                STATUS_DAMAGED);
            assert_non_null(strstr(problem, "lies inside this event"));
            assert_non_null(strstr(problem, ".seg, offset "));
        }
        place.count++;
        place.bytes += size;
    }
}

static void test_random_limits_and_stops(void **state)
{
    (void)state;
    struct chance chance = {test_seed()};
    uint64_t end = make_journal(EVENTS, chance_next(&chance));
    for (int round = 0; round < 50; round++) {
        struct stopper stopper = {.then = STATUS_MORE};
        struct journal_cursor *cursor = cursor_at(0);
        while (stopper.check.bytes < end) {
            uint64_t step = chance_next(&chance) % (round % 2 ? 500 : 50000);
            uint64_t limit = stopper.check.bytes + step < end ? stopper.check.bytes + step : end;
            stopper.left = chance_next(&chance) % (round % 4 < 2 ? 20 : 2000);
            cursor_expect(cursor, limit, &stopper);
        }
        assert_int_equal(stopper.check.count, EVENTS);
        stopper.left = 1;
        cursor_expect(cursor, end, &stopper);
        assert_int_equal(stopper.left, 1);
        journal_cursor_close(cursor);
    }
}

static void test_other_words_of_the_visitor_come_back(void **state)
{
    (void)state;
    uint64_t end = make_journal(100, 1);
    struct stopper stopper = {.left = 7, .then = STATUS_NO_MEMORY};
    struct journal_cursor *cursor = cursor_at(0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(
            journal_cursor_read(cursor, end, stopper_visit, &stopper, problem, sizeof problem),
            STATUS_NO_MEMORY);
    assert_int_equal(journal_cursor_position(cursor), sample_position(7));
    stopper.left = UINT64_MAX;
    cursor_expect(cursor, end, &stopper);
    assert_int_equal(stopper.check.count, 100);
    journal_cursor_close(cursor);
}

static void expect_no_cursor(uint64_t position, const char *sentence)
{
    struct journal_cursor *cursor;
    assert_int_equal(
        journal_cursor_open(test_directory, position, &cursor, problem, sizeof problem),
        STATUS_DAMAGED);
    assert_null(cursor);
    if (strstr(problem, sentence) == NULL)
        fail_msg("%s", problem);
}

static void test_what_the_journal_does_not_have(void **state)
{
    (void)state;
    char path[128];
    struct journal_cursor *cursor;
    expect_no_cursor(8, "no segments");
    uint64_t end = make_journal(EVENTS, 1);
    expect_no_cursor(end + 8, "there should be more");
    snprintf(path, sizeof path, "%s/0000000001.seg", test_directory);
    assert_int_equal(unlink(path), 0);
    expect_no_cursor(0, "from position 0 to ");
    assert_non_null(strstr(problem, "0000000002.seg, offset 0"));
    assert_int_equal(journal_cursor_open("/nonexistent", 0, &cursor, problem, sizeof problem),
                     STATUS_IO_FAILED);
    assert_non_null(strstr(problem, "/nonexistent"));
}

/* A segment in memory, to change and to write back. */
struct segment {
    char path[128];
    size_t length;
    uint8_t bytes[SMALL_SEGMENT];
};

static struct segment *segment_load(const char *name)
{
    struct segment *segment = calloc(1, sizeof *segment);
    assert_non_null(segment);
    snprintf(segment->path, sizeof segment->path, "%s/%s", test_directory, name);
    FILE *file = fopen(segment->path, "rb");
    assert_non_null(file);
    segment->length = fread(segment->bytes, 1, sizeof segment->bytes, file);
    fclose(file);
    return segment;
}

static void segment_store(const struct segment *segment, size_t length)
{
    FILE *file = fopen(segment->path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(segment->bytes, 1, length, file), length);
    fclose(file);
}

/* Reads from the start; how many events were seen before the journal turned out to be damaged. */
static uint64_t read_damaged(uint64_t end, enum status expected, const char *sentence)
{
    struct stopper stopper = {.left = UINT64_MAX, .then = STATUS_MORE};
    struct journal_cursor *cursor = cursor_at(0);
    for (int i = 0; i < 2; i++) { /* and again when asked again */
        assert_int_equal(
            journal_cursor_read(cursor, end, stopper_visit, &stopper, problem, sizeof problem),
            expected);
        if (strstr(problem, sentence) == NULL)
            fail_msg("%s", problem);
        assert_int_equal(journal_cursor_position(cursor), stopper.check.bytes);
    }
    assert_false(stopper.check.wrong);
    journal_cursor_close(cursor);
    return stopper.check.count;
}

/* The offset of the nth batch. */
static size_t batch_offset(const struct segment *segment, int nth, uint64_t number,
                           struct batch_header *header)
{
    size_t offset = SEGMENT_HEADER_BYTES;
    for (int i = 0;; i++) {
        assert_true(batch_header_decode(segment->bytes + offset, number, header));
        if (i == nth)
            return offset;
        offset += BATCH_HEADER_BYTES + header->bytes;
    }
}

static void test_damage_is_named(void **state)
{
    (void)state;
    char sentence[128];
    struct batch_header header;
    uint64_t end = make_journal(EVENTS, 3);
    struct segment *segment = segment_load("0000000002.seg");
    size_t offset = batch_offset(segment, 3, 2, &header);

    /* A flipped bit: of a record, of a batch's header, of the segment's header. */
    uint64_t before = header.events;
    snprintf(sentence, sizeof sentence, "0000000002.seg, offset %zu: the batch", offset);
    segment->bytes[offset + BATCH_HEADER_BYTES + 10] ^= 1;
    segment_store(segment, segment->length);
    assert_int_equal(read_damaged(end, STATUS_DAMAGED, sentence), before);
    segment->bytes[offset + BATCH_HEADER_BYTES + 10] ^= 1;
    segment->bytes[offset + 20] ^= 1;
    segment_store(segment, segment->length);
    assert_int_equal(read_damaged(end, STATUS_DAMAGED, sentence), before);
    segment->bytes[offset + 20] ^= 1;
    segment->bytes[20] ^= 1;
    segment_store(segment, segment->length);
    expect_no_cursor(0, "0000000002.seg, offset 0: the header"); /* the search meets it */
    segment->bytes[20] ^= 1;

    segment_store(segment, offset + BATCH_HEADER_BYTES);
    assert_int_equal(read_damaged(end, STATUS_DAMAGED, sentence), before);
    segment_store(segment, offset);
    read_damaged(end, STATUS_DAMAGED, "0000000003.seg, offset 0: the segment does not continue");
    assert_int_equal(unlink(segment->path), 0);
    read_damaged(end, STATUS_IO_FAILED, "0000000002.seg");
    free(segment);
}

/* Everything around the record is made to fit: only its own check can tell. */
static void test_a_damaged_record_is_named(void **state)
{
    (void)state;
    char sentence[128];
    struct batch_header header;
    struct event event;
    size_t size;
    uint64_t end = make_journal(EVENTS, 3);
    struct segment *segment = segment_load("0000000001.seg");
    int nth = 0;
    size_t offset = batch_offset(segment, nth, 1, &header);
    uint64_t chain = SEGMENT_CHAIN_INITIAL;
    while (header.count < 3) {
        chain = header.chain;
        offset = batch_offset(segment, ++nth, 1, &header);
    }
    uint8_t *records = segment->bytes + offset + BATCH_HEADER_BYTES;
    assert_int_equal(record_decode(records, header.bytes, header.position, &event, &size),
                     STATUS_OK);
    records[size + 9] ^= 1;
    header.chain = segment_chain(chain, records, header.bytes);
    batch_header_encode(&header, 1, segment->bytes + offset);
    segment_store(segment, segment->length);
    snprintf(sentence, sizeof sentence, "0000000001.seg, offset %zu: a record does not verify",
             offset + BATCH_HEADER_BYTES + size);
    assert_int_equal(read_damaged(end, STATUS_DAMAGED, sentence), header.events + 1);
    records[size + 9] ^= 1;
    header.chain = segment_chain(chain, records, header.bytes);
    header.count++;
    batch_header_encode(&header, 1, segment->bytes + offset);
    segment_store(segment, segment->length);
    struct stopper stopper = {.left = UINT64_MAX, .then = STATUS_MORE};
    struct journal_cursor *cursor = cursor_at(0);
    assert_int_equal(
        journal_cursor_read(cursor, end, stopper_visit, &stopper, problem, sizeof problem),
        STATUS_DAMAGED);
    assert_non_null(strstr(problem, "another number of records"));
    journal_cursor_close(cursor);
    free(segment);
}

#ifdef LAUD_FAULTS

/* Opens and reads with one call failing; how many calls there were. */
static uint64_t read_with_plan(const char *plan, uint64_t end, bool *failed)
{
    struct stopper stopper = {.left = UINT64_MAX, .then = STATUS_MORE};
    struct journal_cursor *cursor;
    assert_int_equal(io_faults_plan(plan), 0);
    enum status status = journal_cursor_open(test_directory, 0, &cursor, problem, sizeof problem);
    if (status == STATUS_OK)
        status = journal_cursor_read(cursor, end, stopper_visit, &stopper, problem, sizeof problem);
    uint64_t calls = io_faults_calls();
    assert_int_equal(io_faults_plan(NULL), 0);
    *failed = status != STATUS_OK;
    if (*failed) {
        assert_int_equal(status, STATUS_IO_FAILED);
        assert_non_null(strstr(problem, "Input/output error"));
    }
    if (cursor == NULL)
        cursor = cursor_at(0);
    cursor_expect(cursor, end, &stopper); /* it goes on where it was */
    assert_int_equal(stopper.check.count, EVENTS);
    journal_cursor_close(cursor);
    return calls;
}

static void fail_each_call(const char *what, bool harmless)
{
    uint64_t end = make_journal(EVENTS, 5);
    uint64_t nth = 0;
    uint64_t failures = 0;
    uint64_t calls;
    do {
        char plan[64];
        bool failed;
        snprintf(plan, sizeof plan, "*:%llu:%s", (unsigned long long)++nth, what);
        calls = read_with_plan(plan, end, &failed);
        failures += failed;
    } while (calls >= nth);
    assert_true(nth > 15);
    assert_true(harmless ? failures == 0 : failures > nth / 2);
}

static void test_each_call_fails(void **state)
{
    (void)state;
    fail_each_call("EIO", false);
}

static void test_each_call_is_short(void **state)
{
    (void)state;
    fail_each_call("SHORT", true);
}

static void test_each_call_is_interrupted(void **state)
{
    (void)state;
    fail_each_call("EINTR", true);
}

/* With no room for a segment there is none to open, or an empty one that will be replaced. */
static void test_a_cursor_before_the_first_segment(void **state)
{
    (void)state;
    struct user user;
    uint64_t number = 0;
    for (int life = 0; life < 3; life++) {
        char path[128];
        assert_int_equal(io_faults_plan("spare.allocate:1+:ENOSPC"), 0);
        assert_int_equal(user_open(&user, test_directory, DURABILITY_COMMIT, NULL), STATUS_OK);
        assert_int_equal(journal_state(user.journal), STATUS_DISK_FULL);
        struct stopper stopper = {
            .check = sample_check_from(number), .left = UINT64_MAX, .then = STATUS_MORE};
        struct journal_cursor *cursor = cursor_at(stopper.check.bytes);
        cursor_expect(cursor, journal_durable(user.journal), &stopper);
        assert_int_equal(io_faults_plan(NULL), 0);
        user_await_state(&user, STATUS_OK);
        if (life > 0) {
            user_append(&user, 100);
            assert_int_equal(user_wait(&user), STATUS_OK);
        }
        cursor_expect(cursor, journal_durable(user.journal), &stopper);
        number = stopper.check.count;
        assert_int_equal(number, user.appended);
        journal_cursor_close(cursor);
        user_close(&user);
        snprintf(path, sizeof path, "%s/spare.seg", test_directory);
        unlink(path);
    }
    assert_int_equal(number, 200);
}

#endif

#define CASE(name) cmocka_unit_test_setup_teardown(name, directory_setup, directory_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_from_every_place),
        CASE(test_random_limits_and_stops),
        CASE(test_other_words_of_the_visitor_come_back),
        CASE(test_what_the_journal_does_not_have),
        CASE(test_damage_is_named),
        CASE(test_a_damaged_record_is_named),
#ifdef LAUD_FAULTS
        CASE(test_each_call_fails),
        CASE(test_each_call_is_short),
        CASE(test_each_call_is_interrupted),
        CASE(test_a_cursor_before_the_first_segment),
#endif
    };
#ifndef LAUD_FAULTS
    print_message("built without faults: failing calls are not tested\n");
#endif
    return cmocka_run_group_tests(tests, NULL, NULL);
}

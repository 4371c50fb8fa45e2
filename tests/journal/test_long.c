/*
 * Long events in a journal of files: room for them, with all threads and the smallest sizes; and their
 * records on disk, cut at every byte and changed in every byte.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/names.h"
#include "helper.h"

#define THREADS (LIMIT_THREADS + LIMIT_WORKERS)
#define EACH    (20 / SANITIZED_PART + 4) /* long events of each thread: more than a segment */
#define LIKES   100                       /* short events of each thread before each long one */

static struct event comment(uint64_t user, uint64_t number, uint32_t length)
{
    return (struct event){.type = EVENT_COMMENT,
                          .name = 1,
                          .time_s = 5,
                          .user = {1, user},
                          .item = {.id = {1, number}},
                          .body = sample_body(number, length),
                          .body_length = length};
}

static struct event like(uint64_t user, uint64_t number)
{
    return (struct event){
        .type = EVENT_SET, .user = {0, user}, .item = {.id = {0, number}}, .time_s = 5};
}

/* Waits for room as a worker does. */
static void await_room(struct journal *journal, enum status (*ask)(struct journal *, size_t),
                       size_t bytes)
{
    enum status status;
    while ((status = ask(journal, bytes)) == STATUS_BLOCKED) {
        journal_kick(journal);
        sched_yield();
    }
    ASSERT(status == STATUS_OK);
}

struct appender {
    struct journal *journal;
    uint64_t number;
};

/* Some threads give room back now and then, and some append small bodies. */
static uint32_t length_of(uint64_t thread, uint64_t number)
{
    return thread % 3 != 0 ? LIMIT_EVENT_BODY : (uint32_t)(1 + number % 100);
}

static void *append_all(void *argument)
{
    const struct appender *appender = argument;
    struct journal *journal = appender->journal;
    for (uint64_t i = 0; i < EACH; i++) {
        await_room(journal, journal_admit, LIMIT_ADMIT_BYTES);
        for (uint64_t k = 0; k < LIKES; k++) {
            struct event event = like(appender->number, i * LIKES + k);
            if (k == LIMIT_ADMIT_BYTES / LIMIT_EVENT_BYTES)
                await_room(journal, journal_admit, LIMIT_ADMIT_BYTES);
            journal_append(journal, &event);
        }
        struct event event = comment(appender->number, i, length_of(appender->number, i));
        await_room(journal, journal_reserve, event_bytes_max(&event));
        if (i % 5 == 4) {
            journal_unreserve(journal, event_bytes_max(&event));
            await_room(journal, journal_reserve, event_bytes_max(&event));
        }
        journal_append(journal, &event);
        journal_kick(journal);
    }
    return NULL;
}

struct seen {
    uint64_t likes[THREADS];
    uint64_t comments[THREADS];
    bool wrong;
};

static enum status see(void *context, const struct event *event, uint64_t position, size_t size)
{
    struct seen *seen = context;
    (void)position;
    (void)size;
    uint64_t thread = event->user.lo;
    struct event expected;
    if (event_is_long(event)) {
        uint64_t number = seen->comments[thread]++;
        expected = comment(thread, number, length_of(thread, number));
    } else {
        expected = like(thread, seen->likes[thread]++);
    }
    seen->wrong = seen->wrong || !event_equal(event, &expected);
    return STATUS_OK;
}

static void test_the_smallest_segments_take_the_largest_bodies_of_all_threads(void **state)
{
    (void)state;
    struct journal_file_options options = {.directory = test_directory,
                                           .durability = DURABILITY_COMMIT,
                                           .segment_bytes = LIMIT_SEGMENT_MIN};
    struct journal_report report;
    struct journal *journal;
    pthread_t threads[THREADS];
    struct appender appenders[THREADS];
    assert_int_equal(journal_file_open(&options, NULL, &report, &journal), STATUS_OK);
    for (uint64_t i = 0; i < THREADS; i++) {
        appenders[i] = (struct appender){journal, i};
        assert_int_equal(pthread_create(&threads[i], NULL, append_all, &appenders[i]), 0);
    }
    for (uint64_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    while (journal_released(journal) < journal_appended(journal))
        sched_yield();
    assert_int_equal(atomic_load(&journal_file_of(journal)->ring.held), 0);
    journal_close(journal);
    static struct seen seen;
    seen = (struct seen){0};
    struct journal_reading reading = {.visit = see, .context = &seen, .from = JOURNAL_FROM_FIRST};
    assert_int_equal(journal_file_verify(test_directory, &reading, &report), STATUS_OK);
    assert_false(seen.wrong);
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(seen.likes[i], EACH * LIKES);
        assert_int_equal(seen.comments[i], EACH);
    }
    assert_true(report.segments > 1);
}

static void open_large(struct user *user, enum durability durability)
{
    struct journal_tuning tuning = large_tuning();
    user_segment_bytes = LARGE_SEGMENT;
    enum status status = user_open(user, test_directory, durability, &tuning);
    if (status != STATUS_OK)
        fail_msg("%s", user->report.problem);
}

static void test_room_that_is_given_back_is_told(void **state)
{
    (void)state;
    struct user user;
    open_large(&user, DURABILITY_COMMIT);
    user_await_call(&user, 0); /* the call after the listener was set */
    for (int round = 0; round < 50; round++) {
        assert_int_equal(journal_reserve(user.journal, LIMIT_EVENT_LONG), STATUS_OK);
        assert_int_equal(journal_reserve(user.journal, LIMIT_EVENT_LONG), STATUS_OK);
        uint64_t before = user_calls(&user);
        assert_int_equal(journal_reserve(user.journal, event_bytes_long(1)), STATUS_BLOCKED);
        journal_unreserve(user.journal, LIMIT_EVENT_LONG);
        user_await_call(&user, before);
        assert_int_equal(journal_reserve(user.journal, LIMIT_EVENT_LONG), STATUS_OK);
        journal_unreserve(user.journal, LIMIT_EVENT_LONG);
        journal_unreserve(user.journal, LIMIT_EVENT_LONG);
    }
    user_close(&user);
}

/* What is reserved may be appended when nothing more is admitted, and by another thread. */
static void test_a_reservation_lasts(void **state)
{
    (void)state;
    struct user user;
    struct journal_report report;
    open_large(&user, DURABILITY_COMMIT);
    struct event event = comment(1, 1, LIMIT_EVENT_BODY);
    assert_int_equal(journal_reserve(user.journal, event_bytes_max(&event)), STATUS_OK);
    uint64_t took = user_append(&user, 20000); /* long ones among them use the other half */
    assert_int_equal(took, 20000);
    assert_int_equal(user_wait(&user), STATUS_OK);
    user.end = journal_append(user.journal, &event);
    journal_kick(user.journal);
    assert_int_equal(user_wait(&user), STATUS_OK);
    user_close(&user);
    assert_int_equal(journal_file_verify(test_directory, NULL, &report), STATUS_OK);
    assert_int_equal(report.events, took + 1);
}

/* The last segment of a journal, and what is in it. */
struct tail_image {
    char path[128];
    uint8_t *bytes;
    size_t length; /* with all batches */
    uint64_t before;
};

static void put_file(const char *path, const uint8_t *bytes, size_t length)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, length), length);
    close(fd);
}

static size_t get_file(const char *name, char path[128], uint8_t *bytes, size_t most)
{
    snprintf(path, 128, "%s/%s", test_directory, name);
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    ssize_t got = read(fd, bytes, most);
    assert_true(got >= 0);
    close(fd);
    return (size_t)got;
}

/*
 * A first segment with 20 events, and a second one with one batch: the event and a like. It is as a
 * killed process leaves it. If it was not synced, nothing shows that the batch was on disk.
 */
static void tail_make(struct tail_image *image, const struct event *event, bool synced)
{
    struct user user;
    struct event after = like(1, 2);
    uint8_t mark[8192];
    char mark_path[128];
    open_large(&user, DURABILITY_COMMIT);
    user_append(&user, 20);
    user_close(&user);
    open_large(&user, synced ? DURABILITY_COMMIT : DURABILITY_NONE);
    image->before = user.found.count;
    assert_int_equal(user_reserve_long(&user, event_bytes_max(event)), STATUS_OK);
    assert_int_equal(journal_admit(user.journal, LIMIT_EVENT_BYTES), STATUS_OK);
    journal_append(user.journal, event);
    user.end = journal_append(user.journal, &after);
    journal_kick(user.journal);
    assert_int_equal(user_wait(&user), STATUS_OK);
    image->bytes = malloc(LARGE_SEGMENT);
    assert_non_null(image->bytes);
    get_file("0000000002.seg", image->path, image->bytes, LARGE_SEGMENT);
    size_t mark_length = get_file("mark", mark_path, mark, sizeof mark);
    user_close(&user);
    image->length = SEGMENT_HEADER_BYTES + BATCH_HEADER_BYTES + record_size(event) + 32;
    put_file(image->path, image->bytes, image->length);
    put_file(mark_path, mark, mark_length);
}

static void tail_free(struct tail_image *image)
{
    free(image->bytes);
    directory_remove(test_directory);
    assert_int_equal(mkdir(test_directory, 0777), 0);
}

/* Reads the journal; expects it whole, or without the batch, or refused by segment and offset. */
static void expect_cut(const struct tail_image *image, const char *how, size_t at, uint64_t torn)
{
    struct journal_report report;
    enum status status = journal_file_verify(test_directory, NULL, &report);
    if (status != STATUS_OK || report.events != image->before || report.torn_bytes != torn)
        fail_msg("%s at %zu: %s, %llu events, %llu torn bytes: %s", how, at, status_name(status),
                 (unsigned long long)report.events, (unsigned long long)report.torn_bytes,
                 report.problem);
}

static void expect_refused(const char *how, size_t at)
{
    struct journal_report report;
    enum status status = journal_file_verify(test_directory, NULL, &report);
    if (status != STATUS_DAMAGED || strstr(report.problem, "0000000002.seg, offset ") == NULL)
        fail_msg("%s at %zu: %s: %s", how, at, status_name(status), report.problem);
}

static void expect_whole(const struct tail_image *image)
{
    struct journal_report report;
    put_file(image->path, image->bytes, image->length);
    assert_int_equal(journal_file_verify(test_directory, NULL, &report), STATUS_OK);
    assert_int_equal(report.events, image->before + 2);
    assert_int_equal(report.torn_bytes, 0);
}

/* The bytes that are not zero end here. */
static size_t used_of(const uint8_t *bytes, size_t length)
{
    while (length > 0 && bytes[length - 1] == 0)
        length--;
    return length;
}

static const uint32_t lengths[] = {1, 8, 1001, LIMIT_EVENT_BODY};
#define LENGTHS (sizeof lengths / sizeof *lengths)

static size_t step_of(uint32_t length)
{
    return (length > 2000 ? 61 : 1) * (size_t)SANITIZED_PART;
}

static void cut_everywhere(uint32_t length, bool synced)
{
    struct tail_image image;
    struct event event = comment(1, 1, length);
    tail_make(&image, &event, synced);
    expect_whole(&image);
    for (size_t at = SEGMENT_HEADER_BYTES; at < image.length; at += step_of(length)) {
        put_file(image.path, image.bytes, at);
        if (synced)
            expect_refused("cut", at);
        else
            expect_cut(&image, "cut", at,
                       used_of(image.bytes + SEGMENT_HEADER_BYTES, at - SEGMENT_HEADER_BYTES));
    }
    expect_whole(&image);
    tail_free(&image);
}

static void test_a_torn_long_event_is_cut_off_at_each_byte(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTHS; i++)
        cut_everywhere(lengths[i], false);
}

static void test_a_synced_long_event_that_is_cut_is_refused_at_each_byte(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTHS; i++)
        cut_everywhere(lengths[i], true);
}

static void flip_everywhere(uint32_t length, bool synced)
{
    struct tail_image image;
    struct event event = comment(1, 1, length);
    tail_make(&image, &event, synced);
    expect_whole(&image);
    size_t first = SEGMENT_HEADER_BYTES + BATCH_HEADER_BYTES;
    for (size_t at = first; at < first + record_size(&event); at += step_of(length)) {
        image.bytes[at] ^= (uint8_t)(1 << at % 8);
        put_file(image.path, image.bytes, image.length);
        if (synced)
            expect_refused("flip", at);
        else
            expect_cut(&image, "flip", at,
                       used_of(image.bytes, image.length) - SEGMENT_HEADER_BYTES);
        image.bytes[at] ^= (uint8_t)(1 << at % 8);
    }
    expect_whole(&image);
    tail_free(&image);
}

static void test_a_flipped_bit_in_each_byte_of_a_torn_long_event(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTHS; i++)
        flip_everywhere(lengths[i], false);
}

static void test_a_flipped_bit_in_each_byte_of_a_synced_long_event(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTHS; i++)
        flip_everywhere(lengths[i], true);
}

/* After a torn long event was cut off, the journal goes on in its place. */
static void test_a_journal_goes_on_after_a_torn_long_event(void **state)
{
    (void)state;
    struct tail_image image;
    struct user user;
    struct event event = comment(1, 1, 10000);
    tail_make(&image, &event, false);
    put_file(image.path, image.bytes, image.length - 40);
    open_large(&user, DURABILITY_COMMIT);
    assert_int_equal(user.found.count, image.before);
    assert_true(user.report.torn_bytes > 9000);
    assert_int_equal(user_append(&user, 100), 100);
    assert_int_equal(user_wait(&user), STATUS_OK);
    user_close(&user);
    assert_int_equal(count_samples(test_directory), image.before + 100);
    tail_free(&image);
}

/* A client writes what looks like a batch header of this segment: it is no evidence of anything. */
static void test_a_body_cannot_look_like_a_later_batch(void **state)
{
    (void)state;
    struct tail_image image;
    static uint8_t body[10000];
    struct event event = comment(1, 1, sizeof body);
    event.user.hi = event.item.id.hi = 0;
    event.body = body;
    for (uint64_t i = 0; i * BATCH_HEADER_BYTES + BATCH_HEADER_BYTES <= sizeof body; i++) {
        uint64_t position = i == 0 ? UINT64_MAX - 7 : i * 8000;
        struct batch_header forged = {.position = position,
                                      .events = i % 2 ? 1000 : 21,
                                      .bytes = 32,
                                      .durable = position,
                                      .count = 1};
        batch_header_encode(&forged, 2, body + i * BATCH_HEADER_BYTES);
    }
    tail_make(&image, &event, false);
    expect_whole(&image);
    for (size_t at = SEGMENT_HEADER_BYTES; at < SEGMENT_HEADER_BYTES + 100; at++) {
        image.bytes[at] ^= 1;
        put_file(image.path, image.bytes, image.length);
        expect_cut(&image, "flip", at, used_of(image.bytes, image.length) - SEGMENT_HEADER_BYTES);
        image.bytes[at] ^= 1;
    }
    tail_free(&image);
}

static void set_version(const char *name, uint8_t version)
{
    static uint8_t bytes[LARGE_SEGMENT];
    char path[128];
    struct segment_header header;
    size_t length = get_file(name, path, bytes, sizeof bytes);
    assert_null(segment_header_decode(bytes, &header));
    assert_int_equal(header.version, SEGMENT_VERSION);
    bytes[8] = version;
    segment_header_restamp(bytes);
    put_file(path, bytes, length);
}

/* A directory of an older version opens, and goes on in segments of the present version. */
static void test_segments_of_the_older_version_are_read(void **state)
{
    (void)state;
    struct user user;
    open_large(&user, DURABILITY_COMMIT);
    assert_int_equal(user_append(&user, 7), 7); /* the next one is long */
    user_close(&user);
    set_version("0000000001.seg", 1);
    assert_int_equal(count_samples(test_directory), 7);
    open_large(&user, DURABILITY_COMMIT);
    assert_int_equal(user.found.count, 7);
    assert_int_equal(user_append(&user, 30), 30);
    user_close(&user);
    assert_int_equal(count_samples(test_directory), 37);
    struct journal_report report;
    set_version("0000000002.seg", 1); /* no older version has written this */
    assert_int_equal(journal_file_verify(test_directory, NULL, &report), STATUS_DAMAGED);
    assert_non_null(strstr(report.problem, "0000000002.seg, offset 4160: a record has a body"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, directory_setup, directory_teardown)
        TEST(test_the_smallest_segments_take_the_largest_bodies_of_all_threads),
        TEST(test_room_that_is_given_back_is_told),
        TEST(test_a_reservation_lasts),
        TEST(test_a_torn_long_event_is_cut_off_at_each_byte),
        TEST(test_a_synced_long_event_that_is_cut_is_refused_at_each_byte),
        TEST(test_a_flipped_bit_in_each_byte_of_a_torn_long_event),
        TEST(test_a_flipped_bit_in_each_byte_of_a_synced_long_event),
        TEST(test_a_journal_goes_on_after_a_torn_long_event),
        TEST(test_a_body_cannot_look_like_a_later_batch),
        TEST(test_segments_of_the_older_version_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

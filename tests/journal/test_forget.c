/*
 * Journals whose first segments are gone: removing them while the journal is written, and reading
 * what is left. Also the syncs the projector asks for.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "helper.h"

static void segment_path(uint64_t number, char path[128])
{
    char name[SEGMENT_NAME_BYTES];
    segment_name(number, name);
    snprintf(path, 128, "%s/%s", test_directory, name);
}

/* The header of a segment; false if there is no such file. */
static bool segment_look(uint64_t number, struct segment_header *header, uint64_t *bytes)
{
    char path[128];
    uint8_t block[SEGMENT_HEADER_BYTES];
    struct stat facts;
    segment_path(number, path);
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        return false;
    assert_int_equal(pread(fd, block, sizeof block, 0), sizeof block);
    assert_int_equal(fstat(fd, &facts), 0);
    close(fd);
    assert_null(segment_header_decode(block, header));
    *bytes = (uint64_t)facts.st_size;
    return true;
}

/* What is on disk is what the stats say, and nothing that could have gone is left. */
static void check_first(struct journal *journal, uint64_t position)
{
    struct journal_stats stats;
    struct segment_header header;
    uint64_t bytes;
    uint64_t total = 0;
    uint64_t count = 0;
    uint64_t number = 1;
    uint64_t first[2] = {0, UINT64_MAX};
    journal_stats(journal, &stats);
    while (!segment_look(number, &header, &bytes))
        number++;
    for (; segment_look(number, &header, &bytes); number++, count++) {
        total += bytes;
        if (count < 2)
            first[count] = header.position;
    }
    assert_int_equal(stats.segments, count);
    assert_int_equal(stats.bytes, total);
    assert_int_equal(stats.first, first[0]);
    assert_true(first[0] == 0 || first[0] <= position);
    assert_true(count == 1 || first[1] > position);
}

/* Number of the sample event at this position. */
static uint64_t number_at(uint64_t position)
{
    uint64_t number = 0;
    uint64_t at = 0;
    while (at < position) {
        struct event event = sample_event(number++);
        at += record_size(&event);
    }
    assert_int_equal(at, position);
    return number;
}

static void test_what_lies_below_goes(void **state)
{
    (void)state;
    struct user user;
    struct chance chance = {test_seed()};
    uint64_t position = 0;
    assert_int_equal(user_open(&user, test_directory, DURABILITY_COMMIT, NULL), STATUS_OK);
    check_first(user.journal, 0);
    for (int i = 0; i < 50; i++) {
        user_append(&user, 1 + chance_next(&chance) % 1000);
        assert_int_equal(user_wait(&user), STATUS_OK);
        position += chance_next(&chance) % (user.end - position + 1);
        assert_int_equal(journal_file_forget(user.journal, position), STATUS_OK);
        check_first(user.journal, position);
        assert_int_equal(journal_file_forget(user.journal, 0), STATUS_OK);
        check_first(user.journal, position);
    }
    uint64_t end = user.appended;
    user_close(&user);
    struct journal_report report;
    assert_int_equal(journal_file_verify(test_directory, NULL, &report), STATUS_OK);
    assert_true(report.first > 0 && report.first <= position);
    assert_int_equal(report.events, end - number_at(report.first));
    assert_int_equal(report.bytes, report.end - report.first);
}

/* Waits until the journal has so many segments; each end of a segment calls the listener. */
static void await_segments(struct user *user, uint64_t count)
{
    struct journal_stats stats;
    for (;;) {
        uint64_t calls = user_calls(user);
        journal_stats(user->journal, &stats);
        if (stats.segments == count)
            return;
        user_await_call(user, calls);
    }
}

static void a_segment_can_be_ended(enum durability durability)
{
    struct user user;
    struct journal_stats stats;
    uint64_t first = 0;
    assert_int_equal(user_open_from(&user, test_directory, durability, first), STATUS_OK);
    for (unsigned i = 0; i < 20; i++) {
        user_append(&user, 3);
        assert_int_equal(user_wait(&user), STATUS_OK);
        journal_file_roll(user.journal);
        await_segments(&user, 2);
        assert_int_equal(journal_file_forget(user.journal, user.end), STATUS_OK);
        journal_stats(user.journal, &stats);
        assert_int_equal(stats.segments, 1);
        assert_int_equal(stats.first, user.end);
        check_first(user.journal, user.end);
    }
    first = user.appended;
    user_append(&user, 100);
    assert_int_equal(user_wait(&user), STATUS_OK);
    user_close(&user);
    assert_int_equal(count_samples_from(test_directory, first), first + 100);
}

static void test_a_segment_can_be_ended(void **state)
{
    (void)state;
    a_segment_can_be_ended(DURABILITY_COMMIT);
}

/* The next segment of a large one is not ready long before it is needed. */
static void test_a_large_segment_can_be_ended(void **state)
{
    (void)state;
    uint64_t before = user_segment_bytes;
    user_segment_bytes = MIB(2);
    a_segment_can_be_ended(DURABILITY_COMMIT);
    user_segment_bytes = before;
}

static void test_a_segment_can_be_ended_without_syncs(void **state)
{
    (void)state;
    a_segment_can_be_ended(DURABILITY_NONE);
}

static void test_the_current_segment_stays(void **state)
{
    (void)state;
    struct user user;
    struct journal_stats stats;
    uint64_t lives = 0;
    uint64_t first = 0;
    for (; lives < 10; lives++) {
        assert_int_equal(user_open_from(&user, test_directory, DURABILITY_COMMIT, first),
                         STATUS_OK);
        assert_false(user.found.wrong);
        journal_stats(user.journal, &stats);
        assert_int_equal(stats.first, sample_position(first));
        if (lives % 3 != 0) { /* else its segment stays empty and is replaced */
            user_append(&user, 2000);
            assert_int_equal(user_wait(&user), STATUS_OK);
        }
        assert_int_equal(journal_file_forget(user.journal, UINT64_MAX), STATUS_OK);
        journal_stats(user.journal, &stats);
        assert_int_equal(stats.segments, 1);
        check_first(user.journal, UINT64_MAX);
        first = number_at(stats.first);
        user_close(&user);
    }
    assert_true(first > 0);
}

/* A closed journal of 10000 events without its first segments; the first event there is. */
static uint64_t make_beheaded(uint64_t *end)
{
    struct user user;
    struct journal_stats stats;
    assert_int_equal(user_open(&user, test_directory, DURABILITY_COMMIT, NULL), STATUS_OK);
    user_append(&user, 10000);
    assert_int_equal(user_wait(&user), STATUS_OK);
    assert_int_equal(journal_file_forget(user.journal, user.end / 2), STATUS_OK);
    journal_stats(user.journal, &stats);
    assert_true(stats.first > 0 && stats.segments > 3);
    *end = user.end;
    user_close(&user);
    return number_at(stats.first);
}

static enum status verify_from(uint64_t from, struct sample_check *check,
                               struct journal_report *report)
{
    struct journal_reading reading = {.visit = sample_visit, .context = check, .from = from};
    return journal_file_verify(test_directory, &reading, report);
}

static void test_reading_from_any_event(void **state)
{
    (void)state;
    uint64_t end;
    uint64_t first = make_beheaded(&end);
    uint64_t position = sample_position(first);
    struct journal_report report;
    for (uint64_t number = first; number <= 10000; number++) {
        struct event event = sample_event(number);
        size_t size = record_size(&event);
        if (number % 37 == 0 || number > 9990) {
            struct sample_check check = {.count = number, .bytes = position};
            assert_int_equal(verify_from(position, &check, &report), STATUS_OK);
            assert_false(check.wrong);
            assert_int_equal(check.count, 10000);
            assert_int_equal(check.bytes, end);
            assert_int_equal(report.visited, 10000 - number);
            assert_int_equal(report.events, 10000 - first);
            assert_int_equal(report.first, sample_position(first));
            assert_int_equal(report.bytes_read, report.bytes_total);
        }
        if (number % 37 == 0 && number < 10000) {
            struct sample_check check = {.count = number + 1, .bytes = position + size};
            assert_int_equal(verify_from(position + 8, &check, &report), STATUS_DAMAGED);
            assert_non_null(strstr(report.problem, "inside this one"));
        }
        position += size;
    }
    struct user user;
    assert_int_equal(user_open_from(&user, test_directory, DURABILITY_COMMIT, 9000), STATUS_OK);
    assert_int_equal(user.found.count, 10000);
    assert_false(user.found.wrong);
    user_append(&user, 10);
    user_close(&user);
    struct sample_check check = sample_check_from(first);
    assert_int_equal(verify_from(JOURNAL_FROM_FIRST, &check, &report), STATUS_OK);
    assert_int_equal(check.count, 10010);
    assert_false(check.wrong);
}

static void test_what_is_needed_and_missing_is_named(void **state)
{
    (void)state;
    uint64_t end;
    uint64_t first = sample_position(make_beheaded(&end));
    char expected[128];
    struct journal_report report;
    struct sample_check check = {0};
    snprintf(expected, sizeof expected, "before it, from position 64 to %llu, are missing",
             (unsigned long long)first);
    assert_int_equal(verify_from(64, &check, &report), STATUS_DAMAGED);
    assert_non_null(strstr(report.problem, expected));
    assert_non_null(strstr(report.problem, ".seg, offset 0"));
    assert_int_equal(verify_from(0, &check, &report), STATUS_DAMAGED);
    assert_non_null(strstr(report.problem, "from position 0 to "));
    assert_int_equal(report.first, first);
    snprintf(expected, sizeof expected, "at position %llu, but the store is at %llu",
             (unsigned long long)end, (unsigned long long)end + 8);
    assert_int_equal(verify_from(end + 8, &check, &report), STATUS_DAMAGED);
    assert_non_null(strstr(report.problem, expected));
    assert_non_null(strstr(report.problem, "the store is ahead of the journal"));
    assert_int_equal(check.count, 0);
    struct user user;
    assert_int_equal(user_open(&user, test_directory, DURABILITY_COMMIT, NULL), STATUS_DAMAGED);
}

static void test_an_empty_journal_cannot_be_behind_a_store(void **state)
{
    (void)state;
    struct journal_report report;
    struct sample_check check = {0};
    assert_int_equal(verify_from(0, &check, &report), STATUS_OK);
    assert_int_equal(verify_from(JOURNAL_FROM_FIRST, &check, &report), STATUS_OK);
    assert_int_equal(verify_from(8, &check, &report), STATUS_DAMAGED);
    assert_non_null(strstr(report.problem, "the store is ahead of the journal"));
}

static uint64_t first_number(void)
{
    struct segment_header header;
    uint64_t bytes;
    uint64_t number = 1;
    while (!segment_look(number, &header, &bytes))
        number++;
    return number;
}

static void test_a_missing_middle_is_refused(void **state)
{
    (void)state;
    uint64_t end;
    char path[128];
    char name[SEGMENT_NAME_BYTES];
    struct sample_check check = {0};
    struct journal_report report;
    make_beheaded(&end);
    uint64_t number = first_number() + 1;
    segment_path(number, path);
    segment_name(number, name);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(verify_from(JOURNAL_FROM_FIRST, &check, &report), STATUS_DAMAGED);
    assert_non_null(strstr(report.problem, name));
    assert_non_null(strstr(report.problem, "missing"));
    assert_int_equal(verify_from(end, &check, &report), STATUS_DAMAGED);
    assert_non_null(strstr(report.problem, name));
}

static void flip(uint64_t number, off_t offset)
{
    char path[128];
    uint8_t byte;
    segment_path(number, path);
    int fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &byte, 1, offset), 1);
    byte ^= 1;
    assert_int_equal(pwrite(fd, &byte, 1, offset), 1);
    close(fd);
}

static void test_of_skipped_segments_the_headers_are_checked(void **state)
{
    (void)state;
    uint64_t end;
    uint64_t first = make_beheaded(&end);
    uint64_t number = first_number() + 1;
    struct sample_check check = sample_check_from(first);
    struct journal_report report;
    flip(number, SEGMENT_HEADER_BYTES + 200);
    assert_int_equal(verify_from(JOURNAL_FROM_FIRST, &check, &report), STATUS_DAMAGED);
    assert_non_null(strstr(report.problem, "does not verify"));
    assert_int_equal(verify_from(end, &check, &report), STATUS_OK); /* nobody needs it */
    assert_int_equal(report.visited, 0);
    flip(number, 30);
    assert_int_equal(verify_from(end, &check, &report), STATUS_DAMAGED);
    assert_non_null(strstr(report.problem, "offset 0"));
}

static void test_the_mark_does_not_lie_before_the_first_segment(void **state)
{
    (void)state;
    uint64_t end;
    struct journal_report report;
    make_beheaded(&end);
    assert_int_equal(mark_make(test_directory), 0);
    assert_int_equal(journal_file_verify(test_directory, NULL, &report), STATUS_DAMAGED);
    assert_non_null(strstr(report.problem, "the position in the file mark is before it"));
}

static void wait_durable(struct user *user)
{
    while (journal_durable(user->journal) < user->end)
        sched_yield();
}

static void test_a_sync_that_is_asked_for(void **state)
{
    (void)state;
    struct user user;
    struct journal_stats stats;
    assert_int_equal(user_open(&user, test_directory, DURABILITY_NONE, NULL), STATUS_OK);
    for (uint64_t i = 1; i <= 20; i++) {
        user_append(&user, i);
        assert_int_equal(user_wait(&user), STATUS_OK);
        assert_true(journal_durable(user.journal) < user.end);
        journal_sync(user.journal);
        wait_durable(&user);
        journal_stats(user.journal, &stats);
        assert_int_equal(stats.syncs, i);
        assert_int_equal(stats.durable, user.end);
    }
    struct event event = sample_event(user.appended++);
    user.end = journal_append(user.journal, &event);
    journal_sync(user.journal); /* writes it first */
    wait_durable(&user);
    user_close(&user);
    assert_int_equal(user_open(&user, test_directory, DURABILITY_NONE, NULL), STATUS_OK);
    assert_int_equal(user.found.count, 211);
    assert_int_equal(journal_durable(user.journal), user.end); /* at once */
    user_close(&user);
}

#ifdef LAUD_FAULTS

static void test_a_failure_to_forget_is_harmless(void **state)
{
    (void)state;
    static const char *const points[] = {"segment.open", "segment.size", "segment.read",
                                         "forget.unlink", "forget.sync"};
    struct user user;
    assert_int_equal(user_open(&user, test_directory, DURABILITY_COMMIT, NULL), STATUS_OK);
    for (size_t i = 0; i < 2 * sizeof points / sizeof *points; i++) {
        char plan[64];
        snprintf(plan, sizeof plan, "%s:%zu:EIO", points[i / 2], i % 2 + 1);
        user_append(&user, 5000);
        assert_int_equal(user_wait(&user), STATUS_OK);
        assert_int_equal(io_faults_plan(plan), 0);
        assert_int_equal(journal_file_forget(user.journal, user.end), STATUS_IO_FAILED);
        assert_int_equal(io_faults_plan(NULL), 0);
        assert_int_equal(journal_state(user.journal), STATUS_OK);
        user_append(&user, 10);
        assert_int_equal(user_wait(&user), STATUS_OK);
        struct journal_stats stats;
        journal_stats(user.journal, &stats);
        struct sample_check check = sample_check_from(number_at(stats.first));
        struct journal_report report;
        assert_int_equal(verify_from(stats.first, &check, &report), STATUS_OK);
        assert_int_equal(check.count, user.appended);
        assert_int_equal(report.first, stats.first);
        assert_int_equal(journal_file_forget(user.journal, user.end), STATUS_OK);
        check_first(user.journal, user.end);
    }
    user_close(&user);
}

static void test_a_sync_that_is_asked_for_and_fails(void **state)
{
    (void)state;
    struct user user;
    assert_int_equal(user_open(&user, test_directory, DURABILITY_NONE, NULL), STATUS_OK);
    user_append(&user, 10);
    assert_int_equal(user_wait(&user), STATUS_OK);
    assert_int_equal(io_faults_plan("segment.sync:1:EIO"), 0);
    journal_sync(user.journal);
    user_await_state(&user, STATUS_READONLY);
    assert_int_equal(journal_durable(user.journal), 0);
    journal_sync(user.journal);
    user_close(&user);
    assert_int_equal(io_faults_calls_at("segment.sync"), 1);
    assert_int_equal(io_faults_plan(NULL), 0);
}

#endif

#define CASE(name) cmocka_unit_test_setup_teardown(name, directory_setup, directory_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_what_lies_below_goes),
        CASE(test_a_segment_can_be_ended),
        CASE(test_a_large_segment_can_be_ended),
        CASE(test_a_segment_can_be_ended_without_syncs),
        CASE(test_the_current_segment_stays),
        CASE(test_reading_from_any_event),
        CASE(test_what_is_needed_and_missing_is_named),
        CASE(test_an_empty_journal_cannot_be_behind_a_store),
        CASE(test_a_missing_middle_is_refused),
        CASE(test_of_skipped_segments_the_headers_are_checked),
        CASE(test_the_mark_does_not_lie_before_the_first_segment),
        CASE(test_a_sync_that_is_asked_for),
#ifdef LAUD_FAULTS
        CASE(test_a_failure_to_forget_is_harmless),
        CASE(test_a_sync_that_is_asked_for_and_fails),
#endif
    };
#ifndef LAUD_FAULTS
    print_message("built without faults: failing calls are not tested\n");
#endif
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Copies of the end of a journal: cut after every event, inside of batches and between them, with an event
 * added and without. Each copy is a journal that verifies, that can be opened and that goes on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helper.h"
#include "journal/file/cut.h"

#define EVENTS 200

static char problem[512];
static char target[64];

static int setup(void **state)
{
    directory_make(target);
    return directory_setup(state);
}

static int teardown(void **state)
{
    directory_remove(target);
    return directory_teardown(state);
}

static void empty_target(void)
{
    directory_remove(target);
    directory_make(target);
}

/* One batch of many events and some small ones, in one segment. */
static void write_journal(struct user *user)
{
    struct journal_tuning tuning = small_tuning();
    assert_int_equal(user_open(user, test_directory, DURABILITY_COMMIT, &tuning), STATUS_OK);
    assert_int_equal(user_append(user, EVENTS - 3), EVENTS - 3);
    assert_int_equal(user_wait(user), STATUS_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(user_append(user, 1), 1);
        assert_int_equal(user_wait(user), STATUS_OK);
    }
}

static struct journal_segment only_segment(void)
{
    struct journal_segment *segments;
    size_t count;
    assert_int_equal(
        journal_file_segments(test_directory, &segments, &count, problem, sizeof problem),
        STATUS_OK);
    assert_int_equal(count, 1);
    struct journal_segment first = segments[0];
    free(segments);
    assert_int_equal(first.position, 0);
    assert_string_equal(first.name, "0000000001.seg");
    return first;
}

static enum status copy(struct journal_cut *cut)
{
    return journal_file_copy_last(test_directory, only_segment().number, target, cut, problem,
                                  sizeof problem);
}

static void test_cut_after_every_event(void **state)
{
    struct user user;
    (void)state;
    write_journal(&user); /* it is still open: a copy of what is being written */
    for (uint64_t number = 0; number <= EVENTS; number++) {
        struct journal_cut cut = {.until = sample_position(number)};
        uint64_t chain;
        empty_target();
        assert_int_equal(copy(&cut), STATUS_OK);
        assert_int_equal(cut.position, cut.until);
        assert_int_equal(count_samples(target), number);
        assert_int_equal(journal_file_chain(target, cut.position, &chain, problem, sizeof problem),
                         STATUS_OK);
        assert_int_equal(chain, cut.chain);
    }
    user_close(&user);
}

static void test_a_copy_goes_on(void **state)
{
    struct user user, again;
    struct journal_tuning tuning = small_tuning();
    (void)state;
    write_journal(&user);
    user_close(&user);
    struct journal_cut cut = {.until = sample_position(77)};
    assert_int_equal(copy(&cut), STATUS_OK);
    assert_int_equal(user_open(&again, target, DURABILITY_COMMIT, &tuning), STATUS_OK);
    assert_int_equal(again.appended, 77);
    assert_int_equal(again.report.torn_bytes, 0);
    assert_int_equal(user_append(&again, 50), 50);
    assert_int_equal(user_wait(&again), STATUS_OK);
    user_close(&again);
    assert_int_equal(count_samples(target), 127);
}

static void test_an_event_is_added(void **state)
{
    struct user user;
    const uint64_t numbers[] = {0, 1, 100, EVENTS - 2, EVENTS};
    (void)state;
    write_journal(&user);
    user_close(&user);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct event more = sample_event(numbers[i]); /* so that the samples go on with it */
        struct journal_cut cut = {.until = sample_position(numbers[i]), .more = &more};
        empty_target();
        assert_int_equal(copy(&cut), STATUS_OK);
        assert_int_equal(cut.position, cut.until + record_size(&more));
        assert_int_equal(count_samples(target), numbers[i] + 1);
    }
}

static void test_only_between_events(void **state)
{
    struct user user;
    uint64_t chain;
    (void)state;
    write_journal(&user);
    user_close(&user);
    struct journal_cut inside = {.until = sample_position(77) + 8};
    assert_int_equal(copy(&inside), STATUS_DAMAGED);
    assert_non_null(strstr(problem, "no event ends"));
    struct journal_cut beyond = {.until = sample_position(EVENTS) + 24};
    empty_target();
    assert_int_equal(copy(&beyond), STATUS_DAMAGED);
    assert_non_null(strstr(problem, "there should be more"));
    assert_int_equal(journal_file_chain(test_directory, sample_position(EVENTS - 1) + 8, &chain,
                                        problem, sizeof problem),
                     STATUS_DAMAGED);
    assert_non_null(strstr(problem, "no batch ends"));
}

static void test_it_cannot_be_written(void **state)
{
    struct user user;
    (void)state;
    write_journal(&user);
    user_close(&user);
    struct journal_cut cut = {.until = sample_position(5)};
    assert_int_equal(
        journal_file_copy_last(test_directory, 1, "/nowhere/at/all", &cut, problem, sizeof problem),
        STATUS_IO_FAILED);
    assert_non_null(strstr(problem, "/nowhere/at/all"));
    assert_int_equal(
        journal_file_copy_last(test_directory, 7, target, &cut, problem, sizeof problem),
        STATUS_IO_FAILED);
    assert_non_null(strstr(problem, "0000000007.seg"));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_cut_after_every_event), CASE(test_a_copy_goes_on),
        CASE(test_an_event_is_added),     CASE(test_only_between_events),
        CASE(test_it_cannot_be_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

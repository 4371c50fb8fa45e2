/*
 * Every I/O call of a fixed course of events is made to fail in turn; afterwards nothing that was
 * released may be missing, and nothing may be half there.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "helper.h"

#ifdef LAUD_FAULTS

/* What the run was promised, whatever went wrong in it. */
struct outcome {
    uint64_t released; /* events */
    uint64_t appended;
    bool failed;
};

#define GROUP         400 /* events appended and waited for */
#define GROUPS_FIRST  6   /* before the first close: more than one segment */
#define GROUPS_SECOND 2   /* after it */

/* It takes nothing for now, and goes on by itself. */
static bool is_waiting(struct journal *journal)
{
    enum status state = journal_state(journal);
    return state == STATUS_DISK_FULL || state == STATUS_NO_FILES;
}

static void use_journal(struct outcome *outcome, uint64_t groups)
{
    struct user user;
    if (user_open(&user, test_directory, DURABILITY_COMMIT, NULL) != STATUS_OK) {
        outcome->failed = true;
        assert_true(user.report.problem[0] != '\0');
        return;
    }
    assert_false(user.found.wrong);
    assert_true(user.found.count >= outcome->released);
    for (uint64_t i = 0; i < groups; i++) {
        uint64_t took = user_append(&user, GROUP);
        if (took < GROUP && is_waiting(user.journal))
            user_await_state(&user, STATUS_OK);
        outcome->appended = user.appended;
        if (user_wait(&user) != STATUS_OK)
            break;
        outcome->released = user.appended;
    }
    struct journal_stats stats;
    journal_stats(user.journal, &stats);
    if (stats.state == STATUS_READONLY) {
        outcome->failed = true;
        assert_true(stats.reason[0] != '\0');
        assert_int_equal(journal_admit(user.journal, LIMIT_EVENT_BYTES), STATUS_READONLY);
        assert_int_equal(journal_reserve(user.journal, event_bytes_long(1)), STATUS_READONLY);
    }
    user_close(&user);
}

/* Opens, fills several segments, closes, opens again, goes on, closes. */
static void run_with_plan(const char *plan, struct outcome *outcome, uint64_t *calls)
{
    *outcome = (struct outcome){0};
    directory_remove(test_directory);
    assert_int_equal(mkdir(test_directory, 0777), 0);
    assert_int_equal(io_faults_plan(plan), 0);
    use_journal(outcome, GROUPS_FIRST);
    use_journal(outcome, GROUPS_SECOND);
    *calls = io_faults_calls();
    assert_int_equal(io_faults_plan(NULL), 0);
}

static void check_after(const char *plan, const struct outcome *outcome)
{
    struct user user;
    enum status status = user_open(&user, test_directory, DURABILITY_COMMIT, NULL);
    if (status != STATUS_OK)
        fail_msg("%s: %s: %s", plan, status_name(status), user.report.problem);
    if (user.found.wrong || user.found.count < outcome->released)
        fail_msg("%s: %llu events were released, %llu are there", plan,
                 (unsigned long long)outcome->released, (unsigned long long)user.found.count);
    assert_true(user.found.count <= outcome->appended);
    assert_int_equal(user_append(&user, 10), 10);
    assert_int_equal(user_wait(&user), STATUS_OK);
    user_close(&user);
    assert_int_equal(count_samples(test_directory), user.appended);
}

static void fail_each_call(const char *what, bool harmless)
{
    struct outcome outcome;
    uint64_t calls;
    uint64_t nth = 0;
    uint64_t failures = 0;
    do {
        char plan[64];
        snprintf(plan, sizeof plan, "*:%llu:%s", (unsigned long long)++nth, what);
        run_with_plan(plan, &outcome, &calls);
        if (harmless &&
            (outcome.failed || outcome.released != (GROUPS_FIRST + GROUPS_SECOND) * GROUP))
            fail_msg("%s made the journal fail", plan);
        failures += outcome.failed;
        check_after(plan, &outcome);
    } while (calls >= nth);
    print_message("%s: %llu calls in turn, %llu runs failed\n", what, (unsigned long long)nth,
                  (unsigned long long)failures);
    assert_int_equal(outcome.released,
                     (GROUPS_FIRST + GROUPS_SECOND) * GROUP); /* the last run had no fault */
    assert_true(nth > 100);
    assert_true(harmless || failures > 20);
}

static void test_each_call_fails_with_eio(void **state)
{
    (void)state;
    fail_each_call("EIO", false);
}

static void test_each_call_fails_with_enospc(void **state)
{
    (void)state;
    fail_each_call("ENOSPC", false);
}

static void test_each_call_fails_with_emfile(void **state)
{
    (void)state;
    fail_each_call("EMFILE", false);
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

static void expect_readonly_for_good(const char *plan, const char *point, uint64_t calls)
{
    struct user user;
    struct journal_stats stats;
    assert_int_equal(user_open(&user, test_directory, DURABILITY_COMMIT, NULL), STATUS_OK);
    uint64_t before = user.found.count;
    assert_int_equal(io_faults_plan(plan), 0);
    assert_int_equal(user_append(&user, 10), 10);
    assert_int_equal(user_wait(&user), STATUS_READONLY);
    journal_stats(user.journal, &stats);
    assert_int_equal(stats.state, STATUS_READONLY);
    assert_non_null(strstr(stats.reason, "Input/output error"));
    assert_non_null(strstr(stats.reason, ".seg"));
    assert_int_equal(journal_admit(user.journal, LIMIT_EVENT_BYTES), STATUS_READONLY);
    assert_int_equal(journal_released(user.journal), stats.durable);
    journal_kick(user.journal);
    user_close(&user);
    assert_int_equal(io_faults_calls_at(point), calls);
    assert_int_equal(io_faults_calls_at("mark.write"), 0);
    assert_int_equal(io_faults_plan(NULL), 0);
    uint64_t after = count_samples(test_directory);
    assert_true(after == before || after == before + 10);
}

static void test_a_failed_sync_is_never_tried_again(void **state)
{
    (void)state;
    expect_readonly_for_good("segment.sync:1:EIO", "segment.sync", 1);
}

static void test_a_failed_write_is_never_tried_again(void **state)
{
    (void)state;
    expect_readonly_for_good("segment.write:1:EIO", "segment.write", 1);
    assert_int_equal(count_samples(test_directory), 0);
}

/* The reserve is made while the first segment is taken into use: whoever is first, it is noticed. */
static void test_a_reserve_that_fails_is_noticed_at_any_moment(void **state)
{
    (void)state;
    for (int i = 0; i < 300; i++) {
        struct user user;
        struct journal_stats stats;
        directory_remove(test_directory);
        assert_int_equal(mkdir(test_directory, 0777), 0);
        assert_int_equal(io_faults_plan("spare.allocate:2:EIO"), 0);
        if (user_open(&user, test_directory, DURABILITY_COMMIT, NULL) == STATUS_OK) {
            user_await_state(&user, STATUS_READONLY);
            journal_stats(user.journal, &stats);
            assert_non_null(strstr(stats.reason, "reserve"));
            user_close(&user);
        } else {
            assert_non_null(strstr(user.report.problem, "reserve"));
        }
        assert_int_equal(io_faults_plan(NULL), 0);
    }
}

struct listening {
    struct journal *journal;
    _Atomic bool told;
};

static void note_failure(void *context)
{
    struct listening *listening = context;
    if (journal_state(listening->journal) == STATUS_READONLY)
        atomic_store(&listening->told, true);
}

/* The journal has failed for good and moves no more: who listens from now on hears of it. */
static void test_a_failure_before_anyone_listens_is_told(void **state)
{
    (void)state;
    struct journal_file_options options = {.directory = test_directory,
                                           .durability = DURABILITY_COMMIT,
                                           .segment_bytes = SMALL_SEGMENT};
    struct journal_tuning tuning = small_tuning();
    struct journal_report report;
    struct journal *journal;
    assert_int_equal(journal_file_open_tuned(&options, &tuning, NULL, &report, &journal),
                     STATUS_OK);
    assert_int_equal(io_faults_plan("segment.write:1:EIO"), 0);
    struct event event = sample_event(0);
    journal_append(journal, &event);
    journal_kick(journal);
    while (journal_state(journal) != STATUS_READONLY)
        usleep(1000);
    struct listening listening = {.journal = journal};
    journal_listen(journal, note_failure, &listening);
    while (!atomic_load(&listening.told))
        usleep(1000);
    journal_close(journal);
    assert_int_equal(io_faults_plan(NULL), 0);
}

/* A sync that is left out must be noticed by whoever looks for it: the harness can tell. */
static void test_a_plan_can_leave_calls_out(void **state)
{
    (void)state;
    struct user user;
    assert_int_equal(user_open(&user, test_directory, DURABILITY_COMMIT, NULL), STATUS_OK);
    assert_int_equal(io_faults_plan("segment.write:1:SKIP"), 0);
    assert_int_equal(user_append(&user, 10), 10);
    assert_int_equal(user_wait(&user), STATUS_OK);
    assert_int_equal(io_faults_plan(NULL), 0);
    user_close(&user);
    struct journal_report report;
    assert_int_equal(journal_file_verify(test_directory, NULL, &report), STATUS_DAMAGED);
}

static void test_a_full_disk_refuses_and_recovers(void **state)
{
    (void)state;
    struct user user;
    struct journal_stats stats;
    assert_int_equal(io_faults_plan("spare.allocate:2+:ENOSPC"), 0);
    assert_int_equal(user_open(&user, test_directory, DURABILITY_COMMIT, NULL), STATUS_OK);
    uint64_t took = user_append(&user, 100000);
    assert_true(took > 100 && took < 2000);
    assert_int_equal(journal_admit(user.journal, LIMIT_EVENT_BYTES), STATUS_DISK_FULL);
    assert_int_equal(journal_reserve(user.journal, event_bytes_long(1)), STATUS_DISK_FULL);
    assert_int_equal(user_wait(&user), STATUS_OK); /* what was admitted is committed */
    journal_stats(user.journal, &stats);
    assert_int_equal(stats.state, STATUS_DISK_FULL);
    assert_non_null(strstr(stats.reason, "no room"));
    assert_int_equal(io_faults_plan(NULL), 0);
    user_await_state(&user, STATUS_OK);
    assert_int_equal(user_append(&user, 5000), 5000);
    assert_int_equal(user_wait(&user), STATUS_OK);
    user_close(&user);
    assert_int_equal(count_samples(test_directory), took + 5000);
}

/* Nothing was written for the next segment: what there is of the current one is used. */
static void expect_short_of_files(const char *plan)
{
    struct user user;
    struct journal_stats stats;
    assert_int_equal(io_faults_plan(plan), 0);
    assert_int_equal(user_open(&user, test_directory, DURABILITY_COMMIT, NULL), STATUS_OK);
    uint64_t before = user.found.count, took = user_append(&user, 100000);
    assert_true(took > 100 && took < 2000);
    assert_int_equal(journal_admit(user.journal, LIMIT_EVENT_BYTES), STATUS_NO_FILES);
    assert_int_equal(journal_reserve(user.journal, event_bytes_long(1)), STATUS_NO_FILES);
    assert_int_equal(user_wait(&user), STATUS_OK);
    journal_stats(user.journal, &stats);
    assert_int_equal(stats.state, STATUS_NO_FILES);
    assert_non_null(strstr(stats.reason, "no file can be opened"));
    assert_int_equal(io_faults_plan(NULL), 0);
    user_await_state(&user, STATUS_OK);
    assert_int_equal(user_append(&user, 5000), 5000);
    assert_int_equal(user_wait(&user), STATUS_OK);
    user_close(&user);
    assert_int_equal(count_samples(test_directory), before + took + 5000);
}

static void test_a_shortage_of_files_refuses_and_recovers(void **state)
{
    (void)state;
    expect_short_of_files("spare.open:4+:EMFILE"); /* the first two: a segment; then the reserve */
    directory_remove(test_directory);
    assert_int_equal(mkdir(test_directory, 0777), 0);
    expect_short_of_files("spare.open:3+:EMFILE,reserve.open:1+:EMFILE");
}

static void test_opening_on_a_full_disk_serves_and_recovers(void **state)
{
    (void)state;
    struct user user;
    assert_int_equal(io_faults_plan("spare.write:1+:EDQUOT"), 0);
    assert_int_equal(user_open(&user, test_directory, DURABILITY_COMMIT, NULL), STATUS_OK);
    assert_int_equal(journal_state(user.journal), STATUS_DISK_FULL);
    assert_int_equal(user_append(&user, 1), 0);
    assert_int_equal(io_faults_plan(NULL), 0);
    user_await_state(&user, STATUS_OK);
    assert_int_equal(user_append(&user, 100), 100);
    assert_int_equal(user_wait(&user), STATUS_OK);
    user_close(&user);
    assert_int_equal(count_samples(test_directory), 100);
}

#endif

/* Takes what room is left on the file system of `directory`. */
static void fill_disk(const char *path)
{
    static char bytes[KIB(4)];
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    setvbuf(file, NULL, _IONBF, 0);
    while (fwrite(bytes, sizeof bytes, 1, file) == 1)
        ;
    assert_int_equal(errno, ENOSPC);
    fclose(file);
}

static void use_full_disk(const char *ballast)
{
    struct user user;
    assert_int_equal(user_open(&user, test_directory, DURABILITY_COMMIT, NULL), STATUS_OK);
    fill_disk(ballast);
    uint64_t took = user_append(&user, 1000000);
    assert_int_equal(user_wait(&user), STATUS_OK);
    assert_int_equal(journal_state(user.journal), STATUS_DISK_FULL);
    assert_int_equal(unlink(ballast), 0);
    user_await_state(&user, STATUS_OK);
    assert_int_equal(user_append(&user, 1), 1);
    assert_int_equal(user_wait(&user), STATUS_OK);
    fill_disk(ballast);
    took += user_append(&user, 1000000);
    user_close(&user); /* on the full disk */
    assert_int_equal(count_samples(test_directory), took + 1);
    assert_int_equal(user_open(&user, test_directory, DURABILITY_COMMIT, NULL), STATUS_OK);
    assert_int_equal(user.found.count, took + 1);
    assert_int_equal(unlink(ballast), 0);
    user_await_state(&user, STATUS_OK);
    user_close(&user);
}

static void test_a_disk_that_is_really_full(void **state)
{
    (void)state;
    char ballast[128];
    if (mount("tmpfs", test_directory, "tmpfs", 0, "size=1m") != 0) {
        print_message("skipped: cannot mount a small tmpfs: %s\n", strerror(errno));
        skip();
    }
    snprintf(ballast, sizeof ballast, "%s/ballast", test_directory);
    use_full_disk(ballast);
    assert_int_equal(umount2(test_directory, MNT_DETACH), 0);
}

/* Lets no file be opened any more; those that are stay as they are. */
static struct rlimit shut_out_files(void)
{
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    struct rlimit none = {.rlim_cur = 0, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    return before;
}

/* A segment is changed, and the journal closed, where the spare is all that was opened. */
static void test_a_segment_is_changed_without_opening_a_file(void **state)
{
    (void)state;
    struct user user;
    assert_int_equal(user_open(&user, test_directory, DURABILITY_COMMIT, NULL), STATUS_OK);
    const struct journal_file *file = (const struct journal_file *)user.journal;
    while (atomic_load(&file->spare) != SPARE_READY) {
        assert_int_equal(user_append(&user, 1), 1);
        assert_int_equal(user_wait(&user), STATUS_OK);
    }
    struct rlimit before = shut_out_files();
    uint64_t number = atomic_load(&file->stats.number);
    while (atomic_load(&file->stats.number) == number) {
        assert_int_equal(user_append(&user, 1), 1);
        assert_int_equal(user_wait(&user), STATUS_OK);
    }
    user_close(&user);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(count_samples(test_directory), user.appended);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, directory_setup, directory_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifdef LAUD_FAULTS
        CASE(test_each_call_fails_with_eio),
        CASE(test_each_call_fails_with_enospc),
        CASE(test_each_call_fails_with_emfile),
        CASE(test_each_call_is_short),
        CASE(test_each_call_is_interrupted),
        CASE(test_a_failed_sync_is_never_tried_again),
        CASE(test_a_failed_write_is_never_tried_again),
        CASE(test_a_reserve_that_fails_is_noticed_at_any_moment),
        CASE(test_a_failure_before_anyone_listens_is_told),
        CASE(test_a_plan_can_leave_calls_out),
        CASE(test_a_full_disk_refuses_and_recovers),
        CASE(test_a_shortage_of_files_refuses_and_recovers),
        CASE(test_opening_on_a_full_disk_serves_and_recovers),
#endif
        CASE(test_a_disk_that_is_really_full),
        CASE(test_a_segment_is_changed_without_opening_a_file),
    };
#ifndef LAUD_FAULTS
    print_message("built without faults: only the real ones are tested\n");
#endif
    return cmocka_run_group_tests(tests, NULL, NULL);
}

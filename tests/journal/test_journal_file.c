#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "helper.h"

static uint64_t bytes_on_disk(void)
{
    DIR *files = opendir(test_directory);
    struct dirent *entry;
    uint64_t total = 0;
    assert_non_null(files);
    while ((entry = readdir(files)) != NULL) {
        char path[512];
        struct stat facts;
        snprintf(path, sizeof path, "%s/%s", test_directory, entry->d_name);
        assert_int_equal(stat(path, &facts), 0);
        total += S_ISREG(facts.st_mode) ? (uint64_t)facts.st_size : 0;
    }
    closedir(files);
    return total;
}

static void test_what_is_committed_comes_back_in_order(void **state)
{
    (void)state;
    struct user user;
    assert_int_equal(user_open(&user, test_directory, DURABILITY_COMMIT, NULL), STATUS_OK);
    assert_int_equal(user.found.count, 0);
    assert_int_equal(user_append(&user, 1000), 1000);
    assert_int_equal(user_wait(&user), STATUS_OK);
    struct journal_stats stats;
    journal_stats(user.journal, &stats);
    assert_int_equal(stats.state, STATUS_OK);
    assert_string_equal(stats.reason, "");
    assert_int_equal(stats.durable, user.end);
    assert_int_equal(stats.written, user.end);
    assert_int_equal(stats.appended, user.end);
    assert_int_equal(stats.events, 1000);
    assert_int_equal(count_samples(test_directory), 1000); /* also while it is open */
    user_close(&user);
    assert_int_equal(user_open(&user, test_directory, DURABILITY_COMMIT, NULL), STATUS_OK);
    assert_int_equal(user.found.count, 1000);
    assert_false(user.found.wrong);
    assert_int_equal(user.report.torn_bytes, 0);
    assert_int_equal(user.report.durable_mark, user.end);
    user_close(&user);
}

/* A listener that holds the writer, once it has released something, until it is let go. */
struct hold {
    struct journal *journal;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool holding;
    bool held;
};

static void hold_listener(void *context)
{
    struct hold *hold = context;
    if (journal_released(hold->journal) == 0)
        return;
    pthread_mutex_lock(&hold->lock);
    hold->held = true;
    pthread_cond_broadcast(&hold->changed);
    while (hold->holding)
        pthread_cond_wait(&hold->changed, &hold->lock);
    pthread_mutex_unlock(&hold->lock);
}

static void append_samples(struct journal *journal, uint64_t from, uint64_t count)
{
    for (uint64_t number = from; number < from + count; number++) {
        struct event event = sample_event(number);
        if (event_is_long(&event))
            assert_int_equal(journal_reserve(journal, event_bytes_max(&event)), STATUS_OK);
        journal_append(journal, &event);
    }
    journal_kick(journal);
}

static void test_what_gathers_during_a_commit_is_one_batch(void **state)
{
    (void)state;
    struct hold hold = {
        .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .holding = true};
    struct journal_file_options options = {.directory = test_directory,
                                           .durability = DURABILITY_COMMIT,
                                           .segment_bytes = SMALL_SEGMENT};
    struct journal_tuning tuning = small_tuning();
    struct journal_report report;
    struct journal_stats stats;
    struct journal *journal;
    assert_int_equal(journal_file_open_tuned(&options, &tuning, NULL, &report, &journal),
                     STATUS_OK);
    hold.journal = journal;
    journal_listen(journal, hold_listener, &hold);
    append_samples(journal, 0, 1);
    pthread_mutex_lock(&hold.lock);
    while (!hold.held)
        pthread_cond_wait(&hold.changed, &hold.lock);
    pthread_mutex_unlock(&hold.lock);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(journal_admit(journal, 25 * LIMIT_EVENT_BYTES), STATUS_OK);
        append_samples(journal, 1 + (uint64_t)i * 25, 25);
    }
    pthread_mutex_lock(&hold.lock);
    hold.holding = false;
    pthread_cond_broadcast(&hold.changed);
    pthread_mutex_unlock(&hold.lock);
    while (journal_released(journal) < journal_appended(journal))
        sched_yield();
    journal_stats(journal, &stats);
    assert_int_equal(stats.batches, 2);
    assert_int_equal(stats.syncs, 2);
    assert_int_equal(stats.events, 101);
    assert_int_equal(stats.batch_events.sum, 101);
    assert_int_equal(stats.batch_events.counts[0], 1); /* one of 1 */
    assert_int_equal(stats.batch_events.counts[7], 1); /* and one of 65 to 128 */
    assert_int_equal(buckets_count(&stats.sync_times), 2);
    assert_int_equal(stats.sync_times.sum, stats.sync_ns);
    journal_close(journal);
    assert_int_equal(count_samples(test_directory), 101);
}

/* Nothing is written before a kick, so what was appended stays in the ring. */
static void test_admission_counts_bytes(void **state)
{
    (void)state;
    struct user user;
    struct journal_tuning tuning = small_tuning();
    assert_int_equal(user_open(&user, test_directory, DURABILITY_COMMIT, NULL), STATUS_OK);
    size_t room = tuning.ring_bytes - tuning.others_bytes - tuning.long_bytes;
    size_t longs = 0;
    assert_int_equal(journal_admit(user.journal, room), STATUS_OK);
    while (room >= LIMIT_EVENT_BYTES) {
        struct event event = sample_event(user.appended++);
        bool is_long = event_is_long(&event);
        if (is_long)
            assert_int_equal(journal_reserve(user.journal, event_bytes_max(&event)), STATUS_OK);
        user.end = journal_append(user.journal, &event);
        room -= is_long ? 0 : record_size(&event); /* long events have room of their own */
        longs += is_long;
        assert_int_equal(journal_admit(user.journal, room), STATUS_OK);
        assert_int_equal(journal_admit(user.journal, room + 1), STATUS_BLOCKED);
    }
    assert_true(longs > 3);
    journal_kick(user.journal);
    assert_int_equal(user_wait(&user), STATUS_OK);
    room = tuning.ring_bytes - tuning.others_bytes - tuning.long_bytes;
    assert_int_equal(journal_admit(user.journal, room), STATUS_OK);
    assert_int_equal(journal_admit(user.journal, room + 1), STATUS_BLOCKED);
    user_close(&user);
    assert_int_equal(count_samples(test_directory), user.appended);
}

static uint64_t passed_ns(void *context)
{
    return atomic_load((_Atomic uint64_t *)context);
}

static void wait_durable(struct user *user)
{
    struct journal_stats stats;
    do {
        sched_yield();
        journal_stats(user->journal, &stats);
    } while (stats.durable < user->end);
}

static void test_interval_syncs_when_its_time_has_passed(void **state)
{
    (void)state;
    _Atomic uint64_t now_ns = 1000;
    struct journal_tuning tuning = small_tuning();
    struct journal_stats stats;
    struct user user;
    tuning.now_ns = passed_ns;
    tuning.clock_context = &now_ns;
    assert_int_equal(user_open(&user, test_directory, DURABILITY_INTERVAL, &tuning), STATUS_OK);
    assert_int_equal(user_append(&user, 10), 10);
    assert_int_equal(user_wait(&user), STATUS_OK);
    atomic_fetch_add(&now_ns, 99999999);
    assert_int_equal(user_append(&user, 10), 10);
    assert_int_equal(user_wait(&user), STATUS_OK);
    journal_stats(user.journal, &stats);
    assert_int_equal(stats.syncs, 0);
    assert_int_equal(stats.durable, 0);
    atomic_fetch_add(&now_ns, 1);
    journal_kick(user.journal);
    wait_durable(&user); /* nothing more is appended */
    journal_stats(user.journal, &stats);
    assert_int_equal(stats.syncs, 1);
    assert_int_equal(stats.durable, user.end);

    assert_int_equal(user_append(&user, 1), 1);
    assert_int_equal(user_wait(&user), STATUS_OK);
    atomic_fetch_add(&now_ns, 100000000);
    journal_kick(user.journal);
    wait_durable(&user);
    journal_stats(user.journal, &stats);
    assert_int_equal(stats.syncs, 2);
    user_close(&user);
    assert_int_equal(count_samples(test_directory), 21);
}

static void test_without_durability_closing_syncs(void **state)
{
    (void)state;
    struct journal_stats stats;
    struct journal_report report;
    struct user user;
    assert_int_equal(user_open(&user, test_directory, DURABILITY_NONE, NULL), STATUS_OK);
    assert_int_equal(user_append(&user, 100), 100);
    assert_int_equal(user_wait(&user), STATUS_OK);
    journal_stats(user.journal, &stats);
    assert_int_equal(stats.syncs, 0);
    assert_int_equal(stats.durable, 0);
    uint64_t end = user.end;
    user_close(&user);
    assert_int_equal(journal_file_verify(test_directory, NULL, &report), STATUS_OK);
    assert_int_equal(report.durable_mark, end);
}

static void test_many_segments(void **state)
{
    (void)state;
    struct user user;
    struct journal_report report;
    assert_int_equal(user_open(&user, test_directory, DURABILITY_COMMIT, NULL), STATUS_OK);
    assert_int_equal(user_append(&user, 30000), 30000);
    assert_int_equal(user_wait(&user), STATUS_OK);
    user_close(&user);
    assert_int_equal(count_samples(test_directory), 30000);
    assert_int_equal(journal_file_verify(test_directory, NULL, &report), STATUS_OK);
    assert_true(report.segments > 15);
    assert_int_equal(report.bytes_read, report.bytes_total);
    assert_int_equal(report.bytes, user.end);
}

static void test_reopening_often_leaves_little(void **state)
{
    (void)state;
    struct user user;
    for (uint64_t i = 0; i < 300; i++) {
        assert_int_equal(user_open(&user, test_directory, DURABILITY_COMMIT, NULL), STATUS_OK);
        assert_int_equal(user.found.count, i / 3 * 5);
        if (i % 3 == 2) {
            assert_int_equal(user_append(&user, 5), 5);
            assert_int_equal(user_wait(&user), STATUS_OK);
        }
        user_close(&user);
    }
    assert_int_equal(count_samples(test_directory), 500);
    assert_true(bytes_on_disk() < 100 * KIB(5) + 2 * SMALL_SEGMENT);
}

/* As kill -9 would leave it: everything as it is on disk now, copied from under the journal. */
static void copy_directory(const char *to)
{
    DIR *files = opendir(test_directory);
    struct dirent *entry;
    assert_non_null(files);
    while ((entry = readdir(files)) != NULL) {
        char path[512];
        static char bytes[SMALL_SEGMENT];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", test_directory, entry->d_name);
        FILE *in = fopen(path, "rb");
        if (in == NULL && strncmp(entry->d_name, "spare", 5) == 0)
            continue; /* the preparer has just finished it */
        snprintf(path, sizeof path, "%s/%s", to, entry->d_name);
        FILE *out = fopen(path, "wb");
        assert_true(in != NULL && out != NULL);
        size_t length = fread(bytes, 1, sizeof bytes, in);
        assert_int_equal(fwrite(bytes, 1, length, out), length);
        fclose(in);
        fclose(out);
    }
    closedir(files);
}

static void test_a_crash_in_each_life_loses_nothing(void **state)
{
    (void)state;
    uint64_t expected = 0;
    for (int life = 0; life < 20; life++) {
        char copy[64];
        struct user user;
        assert_int_equal(user_open(&user, test_directory, DURABILITY_COMMIT, NULL), STATUS_OK);
        assert_int_equal(user.found.count, expected);
        assert_false(user.found.wrong);
        assert_int_equal(user.report.torn_bytes, 0);
        user_append(&user, 100 + (uint64_t)life * 37);
        assert_int_equal(user_wait(&user), STATUS_OK);
        expected = user.appended;
        directory_make(copy);
        copy_directory(copy);
        user_close(&user);
        directory_remove(test_directory);
        assert_int_equal(rename(copy, test_directory), 0);
    }
    assert_int_equal(count_samples(test_directory), expected);
}

static void test_leftovers_of_a_crash_are_cleared(void **state)
{
    (void)state;
    struct user user;
    static const char *const names[] = {"spare.tmp", "mark.tmp", "spare.seg", "reserve"};
    char path[128];
    for (size_t i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s", test_directory, names[i]);
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        fputs("junk", file);
        fclose(file);
    }
    assert_int_equal(user_open(&user, test_directory, DURABILITY_COMMIT, NULL), STATUS_OK);
    assert_int_equal(user_append(&user, 3000), 3000);
    assert_int_equal(user_wait(&user), STATUS_OK);
    user_close(&user);
    assert_int_equal(count_samples(test_directory), 3000);
    snprintf(path, sizeof path, "%s/mark.tmp", test_directory);
    assert_int_equal(access(path, F_OK), -1);
}

static enum status refuse_third(void *context, const struct event *event, uint64_t position,
                                size_t size)
{
    (void)event;
    (void)position;
    (void)size;
    return ++*(int *)context == 3 ? STATUS_TABLE_FULL : STATUS_OK;
}

static void test_a_visitor_can_refuse(void **state)
{
    (void)state;
    struct user user;
    struct journal_report report;
    int calls = 0;
    struct journal_reading reading = {.visit = refuse_third, .context = &calls};
    assert_int_equal(user_open(&user, test_directory, DURABILITY_COMMIT, NULL), STATUS_OK);
    user_append(&user, 10);
    user_close(&user);
    assert_int_equal(journal_file_verify(test_directory, &reading, &report), STATUS_DAMAGED);
    assert_int_equal(calls, 3);
    assert_non_null(strstr(report.problem, "0000000001.seg, offset "));
    assert_non_null(strstr(report.problem, status_sentence(STATUS_TABLE_FULL)));
}

struct ending {
    int calls;
    enum status status;
};

static enum status end_third(void *context, const struct event *event, uint64_t position,
                             size_t size)
{
    (void)event;
    (void)position;
    (void)size;
    struct ending *ending = context;
    return ++ending->calls == 3 ? ending->status : STATUS_OK;
}

/* Who has no room for an event, or no time, does not make it a bad one. */
static void test_a_visitor_can_end_the_reading(void **state)
{
    (void)state;
    struct user user;
    struct journal_report report;
    assert_int_equal(user_open(&user, test_directory, DURABILITY_COMMIT, NULL), STATUS_OK);
    user_append(&user, 10);
    user_close(&user);
    static const enum status ends[] = {STATUS_NO_MEMORY, STATUS_STOPPING};
    for (size_t i = 0; i < 2; i++) {
        struct ending ending = {.status = ends[i]};
        struct journal_reading reading = {.visit = end_third, .context = &ending};
        assert_int_equal(journal_file_verify(test_directory, &reading, &report), ends[i]);
        assert_string_equal(report.problem, "");
    }
}

/* What it meant to acknowledge is in each segment of a run, for whoever cuts it short. */
static void test_a_segment_says_what_it_promised(void **state)
{
    (void)state;
    static const enum durability all[] = {DURABILITY_COMMIT, DURABILITY_INTERVAL, DURABILITY_NONE};
    for (uint64_t i = 0; i < 3; i++) {
        struct user user;
        struct journal_report report;
        char name[SEGMENT_NAME_BYTES], path[128];
        assert_int_equal(user_open(&user, test_directory, all[i], NULL), STATUS_OK);
        user_append(&user, 10);
        user_close(&user);
        segment_name(i + 1, name);
        snprintf(path, sizeof path, "%s/%s", test_directory, name);
        FILE *file = fopen(path, "a");
        assert_non_null(file);
        assert_int_equal(fwrite("torn", 1, 4, file), 4);
        fclose(file);
        assert_int_equal(journal_file_verify(test_directory, NULL, &report), STATUS_OK);
        assert_int_equal(report.torn_bytes, 4);
        assert_int_equal(report.torn_promise, journal_promise_of(all[i]));
        assert_int_equal(report.torn_promise, 1 + i);
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, directory_setup, directory_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_what_is_committed_comes_back_in_order),
        CASE(test_what_gathers_during_a_commit_is_one_batch),
        CASE(test_admission_counts_bytes),
        CASE(test_interval_syncs_when_its_time_has_passed),
        CASE(test_without_durability_closing_syncs),
        CASE(test_many_segments),
        CASE(test_reopening_often_leaves_little),
        CASE(test_a_crash_in_each_life_loses_nothing),
        CASE(test_leftovers_of_a_crash_are_cleared),
        CASE(test_a_visitor_can_refuse),
        CASE(test_a_visitor_can_end_the_reading),
        CASE(test_a_segment_says_what_it_promised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * What only the store on RocksDB promises: what was flushed is there after a crash, what was not is
 * there wholly or not at all, and what it does not know it refuses. All the rest is in
 * tests/conform.
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "conform/directory.h"
#include "rocksdb_support.h"
#include "spans.h"

static void test_reopen_after_flush(void **state)
{
    (void)state;
    for (uint32_t bulk_min = 0; bulk_min <= 1; bulk_min++) {
        struct store *store = test_must_open(bulk_min);
        test_fill(store, store_position(&store->applier) + 20);
        assert_int_equal(store_flush(&store->applier), STATUS_OK);
        uint64_t reached = store_position(&store->applier);
        store_close(store);
        store = test_must_open(0);
        struct store_stats stats;
        store_stats(&store->admin, &stats);
        assert_int_equal(stats.position, reached);
        assert_int_equal(stats.durable, reached);
        assert_int_equal(stats.reactions, 9 * reached + 1);
        assert_true(stats.disk_bytes > 0);
        assert_int_equal(test_answers(store), STATUS_OK);
        store_close(store);
    }
}

static void test_reopen_without_flush(void **state)
{
    (void)state;
    struct store *store = test_must_open(0);
    test_fill(store, 10);
    assert_int_equal(store_flush(&store->applier), STATUS_OK);
    test_fill(store, 30);
    store_close(store);
    store = test_must_open(0);
    assert_in_range(store_position(&store->applier), 10, 30);
    assert_int_equal(test_answers(store), STATUS_OK);
    test_fill(store, 40);
    assert_int_equal(test_answers(store), STATUS_OK);
    store_close(store);
}

/* The child: applies, flushes every seventh batch, and is killed after batch `last`. */
static int be_killed(const char *directory, uint64_t last, uint32_t bulk_min)
{
    memcpy(test_directory, directory, strlen(directory));
    struct store *store = test_must_open(bulk_min);
    for (uint64_t position = store_position(&store->applier) + 1; position <= last; position++) {
        if (test_apply(store, position) != STATUS_OK)
            return 1;
        if (position % 7 == 0 && store_flush(&store->applier) != STATUS_OK)
            return 1;
    }
    kill(getpid(), SIGKILL);
    return 1;
}

static void spawn_killed(uint64_t last, uint32_t bulk_min)
{
    char position[24], minimum[24];
    snprintf(position, sizeof(position), "%llu", (unsigned long long)last);
    snprintf(minimum, sizeof(minimum), "%u", bulk_min);
    char *arguments[] = {"/proc/self/exe", "child", test_directory, position, minimum, NULL};
    pid_t child;
    int status;
    assert_int_equal(posix_spawn(&child, arguments[0], NULL, NULL, arguments, environ), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void test_killed(void **state)
{
    (void)state;
    uint64_t last = 0;
    for (uint32_t round = 0; round < 12; round++) {
        last += 1 + round * 5 % 11;
        spawn_killed(last, round % 3 == 2 ? 15 : 0);
        struct store *store = test_must_open(0);
        assert_in_range(store_position(&store->applier), last - last % 7, last);
        assert_int_equal(test_answers(store), STATUS_OK);
        test_fill(store, last);
        assert_int_equal(test_answers(store), STATUS_OK);
        assert_int_equal(store_flush(&store->applier), STATUS_OK);
        store_close(store);
    }
}

/* Killed while the directory was being made: nothing was lost, so it is simply made. */
static void test_half_made(void **state)
{
    (void)state;
    for (int step = 0; step < 3; step++) {
        struct store *store = test_must_open(0);
        store_close(store);
        if (step == 0)
            assert_int_equal(unlink(test_path("DURABLE")), 0); /* its first row was flushed */
        if (step == 1) {
            const uint8_t key = TAG_VERSION;
            test_write_row(&key, 1, NULL, 0);
            assert_int_equal(unlink(test_path("DURABLE")), 0); /* no row yet */
        }
        if (step == 2) {
            FILE *left = fopen(test_path("BATCH"), "w");
            assert_non_null(left);
            fputs("half a file", left);
            fclose(left);
        }
        store = test_must_open(0);
        assert_int_not_equal(access(test_path("BATCH"), F_OK), 0);
        test_fill(store, 3);
        assert_int_equal(test_answers(store), STATUS_OK);
        assert_int_equal(access(test_path("DURABLE"), F_OK), 0);
        store_close(store);
        test_directory_teardown(NULL);
        test_directory_setup(NULL);
    }
}

static void test_version_refused(void **state)
{
    (void)state;
    struct store *store = test_must_open(0);
    test_fill(store, 5);
    assert_int_equal(store_flush(&store->applier), STATUS_OK);
    store_close(store);
    const uint8_t key = TAG_VERSION, next[] = {0, 0, 0, 5}, known[] = {0, 0, 0, 3};
    const uint8_t before[] = {0, 0, 0, 1};
    char problem[256];
    test_write_row(&key, 1, next, sizeof(next));
    assert_null(test_open(0, false, problem));
    assert_non_null(strstr(problem, "format version 5, this program knows 4"));
    test_write_row(&key, 1, before, sizeof(before));
    assert_null(test_open(0, false, problem));
    assert_non_null(strstr(problem, "format version 1, this program knows 4"));
    test_write_row(&key, 1, "abc", 3);
    assert_null(test_open(0, false, problem));
    assert_non_null(strstr(problem, "damaged"));
    test_write_row(&key, 1, NULL, 0);
    assert_null(test_open(0, false, problem));
    assert_non_null(strstr(problem, "format version is missing"));
    test_write_row(&key, 1, known, sizeof(known));
    store = test_must_open(0);
    assert_int_equal(test_answers(store), STATUS_OK);
    store_close(store);
}

static void test_locked(void **state)
{
    (void)state;
    char problem[256];
    struct store *store = test_must_open(0);
    assert_null(test_open(0, false, problem));
    assert_non_null(strstr(problem, "in use"));
    store_close(store);
}

/* Names, sizes and times of all files, for "nothing was changed". */
static char *listing(void)
{
    char command[400], *text = NULL;
    size_t size = 0;
    snprintf(command, sizeof(command), "ls -lA --full-time %s", test_directory);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_true(getdelim(&text, &size, '\0', pipe) > 0);
    pclose(pipe);
    return text;
}

static void test_read_only_changes_nothing(void **state)
{
    (void)state;
    char problem[256];
    assert_null(test_open(0, true, problem));
    assert_non_null(strstr(problem, "there is no store"));
    struct store *store = test_must_open(0);
    test_fill(store, 30);
    assert_int_equal(store_flush(&store->applier), STATUS_OK);
    store_close(store);
    char *before = listing();
    store = test_open(0, true, problem);
    assert_string_equal(problem, "");
    assert_int_equal(store_position(&store->applier), 30);
    assert_int_equal(test_answers(store), STATUS_OK);
    assert_int_equal(test_apply(store, 31), STATUS_READONLY);
    assert_int_equal(store_flush(&store->applier), STATUS_READONLY);
    store_close(store);
    char *after = listing();
    assert_string_equal(before, after);
    free(before);
    free(after);
}

/* Files that RocksDB began and never ended do not pile up. */
static void test_starts_leave_nothing(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        store_close(test_must_open(0));
        char *files = listing();
        unsigned begun = 0;
        for (const char *at = files; (at = strstr(at, ".dbtmp")) != NULL; at++)
            begun++;
        free(files);
        assert_in_range(begun, 0, 1);
    }
}

static void test_budget(void **state)
{
    (void)state;
    char problem[256];
    struct memory_budget budget = {.limit = MIB(9)};
    struct store_rocksdb_options options = {.directory = test_directory,
                                            .memory_budget = &budget,
                                            .cache_bytes = MIB(4),
                                            .write_buffer_bytes = MIB(4),
                                            .batch_max = 100000};
    assert_null(store_rocksdb_open(&options, problem, sizeof(problem)));
    assert_non_null(strstr(problem, "memory"));
    assert_int_equal(memory_used(&budget), 0);
    options.batch_max = 100;
    struct store *store = store_rocksdb_open(&options, problem, sizeof(problem));
    assert_non_null(store);
    assert_in_range(memory_used(&budget), MIB(8), MIB(9));
    store_close(store);
    assert_int_equal(memory_used(&budget), 0);
}

/* Steps that RocksDB takes for a page of 20, wherever in a list of LONG it is. */
static uint64_t page_steps(struct store *store, struct store_listed after)
{
    struct store_listed page[20];
    size_t count;
    rocksdb_set_perf_level(rocksdb_enable_count);
    rocksdb_perfcontext_t *context = rocksdb_perfcontext_create();
    rocksdb_perfcontext_reset(context);
    assert_int_equal(
        store_list_reactions(&store->reader, (struct id){.lo = 1}, 0, 0, after, page, 20, &count),
        STATUS_OK);
    assert_int_equal(count, 20);
    assert_int_equal(page[0].time_s, after.time_s - 1);
    uint64_t steps = rocksdb_perfcontext_metric(context, rocksdb_user_key_comparison_count) +
                     rocksdb_perfcontext_metric(context, rocksdb_internal_key_skipped_count);
    rocksdb_perfcontext_destroy(context);
    rocksdb_set_perf_level(rocksdb_disable);
    return steps;
}

static void test_page_costs_what_it_returns(void **state)
{
    (void)state;
    enum { LONG = 50000 };
    struct store *store = test_must_open(0);
    struct store_reaction *likes = calloc(LONG, sizeof(*likes));
    for (uint32_t i = 0; i < LONG; i++)
        likes[i] = (struct store_reaction){.user.lo = 1, .item.id.lo = i, .time_s = i + 1};
    assert_int_equal(store_apply(&store->applier,
                                 &(struct store_changes){BOTH_SPANS(likes, LONG), .position = 1}),
                     STATUS_OK);
    for (int flushed = 0; flushed < 2; flushed++) {
        const uint32_t places[] = {LONG + 1, LONG / 2, 1000, 21};
        for (size_t i = 0; i < 4; i++)
            assert_in_range(
                page_steps(store, (struct store_listed){.time_s = places[i], .id.lo = places[i]}),
                20, 500);
        assert_int_equal(store_flush(&store->applier), STATUS_OK);
    }
    free(likes);
    store_close(store);
}

/* A copy has what was flushed, whatever the original does later, and is a store like any other. */
static void test_checkpoint(void **state)
{
    (void)state;
    char copies[2][64], problem[256];
    struct store *store = test_must_open(1);
    for (uint64_t i = 0; i < 2; i++) {
        snprintf(copies[i], sizeof copies[i], "%.50s-copy-%u", test_directory, (unsigned)i);
        test_fill(store, 20 * (i + 1));
        assert_int_equal(store_flush(&store->applier), STATUS_OK);
        assert_int_equal(store_checkpoint(&store->admin, copies[i]), STATUS_OK);
        assert_int_not_equal(store_checkpoint(&store->admin, copies[i]), STATUS_OK);
    }
    assert_int_not_equal(store_checkpoint(&store->admin, "/nowhere/at/all"), STATUS_OK);
    test_fill(store, 60);
    assert_int_equal(test_answers(store), STATUS_OK);
    store_close(store);
    for (uint64_t i = 0; i < 2; i++) {
        const struct store_rocksdb_options options = {
            .directory = copies[i], .cache_bytes = MIB(1), .write_buffer_bytes = MIB(2)};
        store = store_rocksdb_open(&options, problem, sizeof problem);
        assert_non_null(store);
        assert_int_equal(store_position(&store->applier), 20 * (i + 1));
        assert_int_equal(test_answers(store), STATUS_OK);
        test_fill(store, 70);
        assert_int_equal(test_answers(store), STATUS_OK);
        store_close(store);
        directory_remove(copies[i]);
    }
    store = test_must_open(0); /* what the copies did has not changed it */
    assert_int_equal(test_answers(store), STATUS_OK);
    store_close(store);
}

static enum status status_of(const char *text)
{
    return problem_status(strdup(text), "testing");
}

/* "Full" is said of what passes by itself. RocksDB does not get over a quota: that is a failure. */
static void test_what_passes(void **state)
{
    (void)state;
    const char *full = "IO error: No space left on device: While appending to file: 7.sst: No "
                       "space left on device";
    const char *quota = "IO error: While appending to file: 7.sst: Disk quota exceeded";
    assert_int_equal(problem_status(NULL, ""), STATUS_OK);
    assert_int_equal(status_of(full), STATUS_DISK_FULL);
    assert_int_equal(status_of(quota), STATUS_IO_FAILED);
    assert_int_equal(problem_peek(quota), STATUS_DISK_FULL);
    assert_int_equal(status_of("IO error: While open a file for random read: 7.sst: Too many open "
                               "files"),
                     STATUS_NO_FILES);
    assert_int_equal(status_of("IO error: While lock file: LOCK: Too many open files in system"),
                     STATUS_NO_FILES);
    assert_int_equal(status_of("Corruption: block checksum mismatch"), STATUS_DAMAGED);
    assert_int_equal(status_of("IO error: Input/output error"), STATUS_IO_FAILED);
}

static void test_no_directory(void **state)
{
    (void)state;
    char problem[256];
    const struct store_rocksdb_options options = {.directory = "/proc/nowhere/store"};
    assert_null(store_rocksdb_open(&options, problem, sizeof(problem)));
    assert_non_null(strstr(problem, "/proc/nowhere/store"));
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "child") == 0)
        return be_killed(argv[2], strtoull(argv[3], NULL, 10),
                         (uint32_t)strtoul(argv[4], NULL, 10));
#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, test_directory_setup, test_directory_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_reopen_after_flush),
        TEST(test_reopen_without_flush),
        TEST(test_killed),
        TEST(test_half_made),
        TEST(test_version_refused),
        TEST(test_locked),
        TEST(test_read_only_changes_nothing),
        TEST(test_starts_leave_nothing),
        TEST(test_budget),
        TEST(test_page_costs_what_it_returns),
        TEST(test_checkpoint),
        TEST(test_what_passes),
        TEST(test_no_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * A full disk under the store: it says so, goes on answering, loses nothing, and goes on by itself
 * when there is room again. On a small file system of the test's own, which takes the right to
 * mount; without it there is nothing to test.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "rocksdb_support.h"

static const char *no_mount; /* why there is none */

static int setup(void **state)
{
    test_directory_setup(state);
    if (no_mount == NULL &&
        mount("laud-test", test_directory, "tmpfs", MS_NOSUID | MS_NODEV, "size=32m") != 0)
        no_mount = strerror(errno);
    return 0;
}

static int teardown(void **state)
{
    if (no_mount == NULL)
        assert_int_equal(umount(test_directory), 0);
    return test_directory_teardown(state);
}

static bool can_test(void)
{
    if (no_mount != NULL)
        print_message("skipped: no file system can be mounted here: %s\n", no_mount);
    return no_mount == NULL;
}

/* Takes all but `left` bytes of the file system. */
static void fill_disk(uint64_t left)
{
    static const char zeros[4096];
    int fd = open(test_path("ballast"), O_WRONLY | O_CREAT | O_APPEND, 0644);
    assert_true(fd >= 0);
    struct statvfs space;
    while (fstatvfs(fd, &space) == 0 && space.f_bavail * space.f_frsize > left)
        if (write(fd, zeros, sizeof(zeros)) < 0)
            assert_int_equal(errno, ENOSPC); /* RocksDB's log was faster: it looks again */
    close(fd);
}

static void free_disk(void)
{
    assert_int_equal(unlink(test_path("ballast")), 0);
}

static const char *state_of(struct store *store)
{
    struct store_stats stats;
    store_stats(&store->admin, &stats);
    return store_state_text(stats.state);
}

/* Nothing is applied below the floor, which is twice the write buffers. */
static void test_floor(void **state)
{
    (void)state;
    if (!can_test())
        skip();
    struct store *store = test_must_open(0);
    test_fill(store, 50);
    fill_disk(MIB(3));
    for (int i = 0; i < 3; i++)
        assert_int_equal(test_apply(store, 51), STATUS_DISK_FULL);
    assert_string_equal(state_of(store),
                        "the disk of the store is full, the store resumes when space returns");
    assert_int_equal(store_position(&store->applier), 50);
    assert_int_equal(test_answers(store), STATUS_OK);
    assert_int_equal(store_flush(&store->applier), STATUS_OK); /* the floor is there for that */
    free_disk();
    assert_int_equal(test_apply(store, 51), STATUS_OK);
    assert_string_equal(state_of(store), "ok");
    assert_int_equal(test_answers(store), STATUS_OK);
    store_close(store);
}

/* RocksDB looks for space every few seconds, then goes on; a minute is no measure, only an end. */
static void flush_in_the_end(struct store *store)
{
    uint64_t began = clock_monotonic_ns();
    enum status status;
    while ((status = store_flush(&store->applier)) == STATUS_DISK_FULL &&
           clock_monotonic_ns() - began < 60 * 1000000000ULL)
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    assert_int_equal(status, STATUS_OK);
    print_message("went on after %llu ms\n",
                  (unsigned long long)((clock_monotonic_ns() - began) / 1000000));
}

/* Others took what the floor had left: the flush fails, what was applied stays. */
static void test_flush_fails(void **state)
{
    (void)state;
    if (!can_test())
        skip();
    struct store *store = test_must_open(0);
    test_fill(store, 50);
    assert_int_equal(store_flush(&store->applier), STATUS_OK);
    test_fill(store, 100);
    fill_disk(0);
    assert_int_equal(store_flush(&store->applier), STATUS_DISK_FULL);
    assert_int_equal(test_apply(store, 101), STATUS_DISK_FULL);
    struct store_stats stats;
    store_stats(&store->admin, &stats);
    assert_int_equal(stats.position, 100);
    assert_int_equal(stats.durable, 50);
    assert_string_equal(store_state_text(stats.state),
                        "the disk of the store is full, the store resumes when space returns");
    assert_int_equal(test_answers(store), STATUS_OK);
    free_disk();
    flush_in_the_end(store);
    assert_int_equal(test_apply(store, 101), STATUS_OK);
    assert_string_equal(state_of(store), "ok");
    assert_int_equal(store_flush(&store->applier), STATUS_OK);
    assert_int_equal(test_answers(store), STATUS_OK);
    store_close(store);
    store = test_must_open(0);
    assert_int_equal(store_position(&store->applier), 101);
    assert_int_equal(test_answers(store), STATUS_OK);
    store_close(store);
}

/* A batch that goes in as a file is in or not, and nothing of it is left lying about. */
static void test_bulk_fails(void **state)
{
    (void)state;
    if (!can_test())
        skip();
    struct store *store = test_must_open(1);
    test_fill(store, 5);
    rocksdb_of(store)->space_floor = 0;
    fill_disk(0);
    assert_int_equal(test_apply(store, 6), STATUS_DISK_FULL);
    assert_int_equal(store_position(&store->applier), 5);
    assert_int_not_equal(access(test_path("BATCH"), F_OK), 0);
    assert_int_equal(test_answers(store), STATUS_OK);
    free_disk();
    enum status status = test_apply(store, 6);
    if (status == STATUS_DISK_FULL) {
        flush_in_the_end(store);
        status = test_apply(store, 6);
    }
    assert_int_equal(status, STATUS_OK);
    assert_int_equal(test_answers(store), STATUS_OK);
    store_close(store);
}

/* Too full to begin with: a sentence, and no half store that is taken for a damaged one later. */
static void test_no_room_to_open(void **state)
{
    (void)state;
    if (!can_test())
        skip();
    char problem[256];
    for (uint64_t left = 0; left < KIB(48); left += 4096) {
        fill_disk(left);
        struct store *store = test_open(0, false, problem);
        if (store != NULL)
            store_close(store);
        else if (strstr(problem, "full") == NULL)
            fail_msg("\"%s\" does not say that the disk is full", problem);
        free_disk();
        store = test_must_open(0);
        assert_int_equal(test_answers(store), STATUS_OK);
        store_close(store);
        assert_int_equal(teardown(NULL), 0);
        setup(NULL);
    }
}

int main(void)
{
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        no_mount = strerror(errno);
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_floor),
        TEST(test_flush_fails),
        TEST(test_bulk_fails),
        TEST(test_no_room_to_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

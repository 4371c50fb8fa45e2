#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/io.h"

static char directory[32];
static char path[64];
static int fd;

static int setup(void **state)
{
    (void)state;
    snprintf(directory, sizeof directory, "/tmp/laud-io.XXXXXX");
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/file", directory);
    fd = io_open("test.open", path, O_RDWR | O_CREAT, 0666);
    assert_true(fd >= 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
#ifdef LAUD_FAULTS
    io_faults_plan(NULL);
#endif
    assert_int_equal(io_close("test.close", fd), 0);
    unlink(path);
    assert_int_equal(rmdir(directory), 0);
    return 0;
}

static void expect_content(const char *content)
{
    char bytes[64];
    ssize_t got = io_pread("test.read", fd, bytes, sizeof bytes, 0);
    assert_int_equal(got, strlen(content));
    assert_memory_equal(bytes, content, strlen(content));
}

static int write_parts(void)
{
    char one[] = "one";
    char two[] = "two-two";
    struct iovec parts[3] = {{one, 3}, {NULL, 0}, {two, 7}};
    return io_pwritev_all("test.write", fd, parts, 3, 0);
}

static void test_plain_calls(void **state)
{
    (void)state;
    uint64_t size;
    char other[80];
    snprintf(other, sizeof other, "%s/other", directory);
    assert_int_equal(write_parts(), 0);
    expect_content("onetwo-two");
    assert_int_equal(io_pwrite_all("test.write", fd, "X", 1, 3), 0);
    expect_content("oneXwo-two");
    assert_int_equal(io_truncate("test.truncate", fd, 4), 0);
    assert_int_equal(io_size("test.size", fd, &size), 0);
    assert_int_equal(size, 4);
    assert_int_equal(io_allocate("test.allocate", fd, 100), 0);
    assert_int_equal(io_size("test.size", fd, &size), 0);
    assert_int_equal(size, 100);
    assert_int_equal(io_sync("test.sync", fd), 0);
    assert_int_equal(io_sync_data("test.sync", fd), 0);
    assert_int_equal(io_sync_directory("test.sync", directory), 0);
    assert_int_equal(io_rename("test.rename", path, other), 0);
    assert_int_equal(io_rename("test.rename", path, other), -ENOENT);
    assert_int_equal(io_unlink("test.unlink", other), 0);
    assert_int_equal(io_unlink("test.unlink", other), -ENOENT);
    assert_int_equal(io_make_directory("test.make", directory, 0777), 0);
    assert_int_equal(io_open("test.open", other, O_RDONLY, 0), -ENOENT);
}

static int count_names(void *context, const char *name)
{
    *(int *)context += strcmp(name, "file") == 0;
    return 0;
}

static int stop_at_once(void *context, const char *name)
{
    (void)context;
    (void)name;
    return -7;
}

static void test_listing(void **state)
{
    (void)state;
    int found = 0;
    assert_int_equal(io_list("test.list", directory, count_names, &found), 0);
    assert_int_equal(found, 1);
    assert_int_equal(io_list("test.list", directory, stop_at_once, NULL), -7);
    assert_int_equal(io_list("test.list", path, count_names, &found), -ENOTDIR);
}

#ifdef LAUD_FAULTS

static void test_the_nth_call_at_a_point_fails(void **state)
{
    (void)state;
    assert_int_equal(io_faults_plan("test.write:2:EIO,test.sync:1:ENOSPC"), 0);
    assert_int_equal(write_parts(), 0);
    assert_int_equal(write_parts(), -EIO);
    assert_int_equal(write_parts(), 0);
    assert_int_equal(io_sync("test.sync", fd), -ENOSPC);
    assert_int_equal(io_sync("test.sync", fd), 0);
    assert_int_equal(io_faults_calls(), 5);
    assert_int_equal(io_faults_calls_at("test.write"), 3);
    assert_int_equal(io_faults_calls_at("test.read"), 0);
}

static void test_a_star_counts_all_and_a_plus_goes_on(void **state)
{
    (void)state;
    assert_int_equal(io_faults_plan("*:3:EIO"), 0);
    assert_int_equal(write_parts(), 0);
    assert_int_equal(io_sync("test.sync", fd), 0);
    assert_int_equal(io_truncate("test.truncate", fd, 0), -EIO);
    assert_int_equal(io_truncate("test.truncate", fd, 0), 0);
    assert_int_equal(io_faults_plan("test.sync:2+:EDQUOT"), 0);
    assert_int_equal(io_sync("test.sync", fd), 0);
    assert_int_equal(io_sync("test.sync", fd), -EDQUOT);
    assert_int_equal(io_sync("test.sync", fd), -EDQUOT);
}

static void test_short_and_interrupted_calls_go_on(void **state)
{
    (void)state;
    assert_int_equal(io_faults_plan("test.write:1:SHORT,test.read:1:SHORT"), 0);
    assert_int_equal(write_parts(), 0);
    expect_content("onetwo-two");
    assert_int_equal(io_faults_plan("*:1+:eintr"), 0);
    assert_int_equal(write_parts(), 0);
    expect_content("onetwo-two");
    assert_int_equal(io_sync("test.sync", fd), 0);
}

static void test_a_skipped_call_claims_success(void **state)
{
    (void)state;
    assert_int_equal(io_faults_plan("test.write:1:skip,test.truncate:1:skip"), 0);
    assert_int_equal(write_parts(), 0);
    expect_content("");
    assert_int_equal(write_parts(), 0);
    assert_int_equal(io_truncate("test.truncate", fd, 0), 0);
    expect_content("onetwo-two");
}

static void test_a_process_can_be_killed_at_a_point(void **state)
{
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (io_faults_plan("test.between:2:KILL") != 0)
            _exit(1);
        io_fault_point("test.between");
        io_fault_point("test.elsewhere");
        if (io_pwrite_all("test.write", fd, "here", 4, 0) != 0)
            _exit(2);
        io_fault_point("test.between");
        _exit(3);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGKILL);
    expect_content("here");
}

static void test_a_plan_that_makes_no_sense_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"x",      "x:1",       "x:0:EIO", "x:a:EIO", "x:1:EWHAT",
                                      ":1:EIO", "x:1:EIO,,", "x:1EIO",  "x:1+EIO", "x:1:"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(io_faults_plan(bad[i]), -EINVAL);
    assert_int_equal(io_faults_plan(""), 0);
    assert_int_equal(io_faults_plan("x:1:EIO"), 0);
}

#endif

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_plain_calls),
        CASE(test_listing),
#ifdef LAUD_FAULTS
        CASE(test_the_nth_call_at_a_point_fails),
        CASE(test_a_star_counts_all_and_a_plus_goes_on),
        CASE(test_short_and_interrupted_calls_go_on),
        CASE(test_a_skipped_call_claims_success),
        CASE(test_a_process_can_be_killed_at_a_point),
        CASE(test_a_plan_that_makes_no_sense_is_refused),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

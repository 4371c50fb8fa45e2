/*
 * The source suite on a journal in files. Segments are small, so that a test has several of them, and
 * bodies have all lengths up to the largest.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "journal/file/source_file.h"
#include "journal/helper.h"
#include "source_suite.h"

static struct user user;

static void open_journal(void)
{
    static const uint32_t lengths[] = {1,     LIMIT_EVENT_BODY, 7,     LIMIT_EVENT_BODY, 8, 9,
                                       10000, LIMIT_EVENT_BODY, 10000, LIMIT_EVENT_BODY};
    struct journal_tuning tuning = large_tuning();
    user_segment_bytes = LARGE_SEGMENT;
    sample_set_bodies(lengths, sizeof lengths / sizeof *lengths);
    enum status status = user_open(&user, test_directory, DURABILITY_COMMIT, &tuning);
    if (status != STATUS_OK)
        fail_msg("%s", user.report.problem);
}

int source_suite_setup(void **state)
{
    directory_setup(state);
    open_journal();
    return 0;
}

int source_suite_teardown(void **state)
{
    user_close(&user);
    return directory_teardown(state);
}

struct source *source_suite_open(void)
{
    struct source *source = source_file_open(user.journal);
    assert_non_null(source);
    return source;
}

void source_suite_append(uint64_t count)
{
    assert_int_equal(user_append(&user, count), count);
}

void source_suite_settle(void)
{
    assert_int_equal(user_wait(&user), STATUS_OK);
}

void source_suite_restart(void)
{
    user_close(&user);
    open_journal();
}

static void last_segment(char path[128])
{
    char last[64] = "";
    DIR *directory = opendir(test_directory);
    struct dirent *entry;
    uint64_t number;
    assert_non_null(directory);
    while ((entry = readdir(directory)) != NULL)
        if (segment_name_parse(entry->d_name, &number) && strcmp(entry->d_name, last) > 0)
            snprintf(last, sizeof last, "%.*s", (int)sizeof last - 1, entry->d_name);
    closedir(directory);
    snprintf(path, 128, "%.63s/%.63s", test_directory, last);
}

bool source_suite_tear(void)
{
    static const uint8_t half[100] = {'L', 'B', 'A', 'T', 1};
    char path[128];
    user_close(&user);
    last_segment(path);
    int fd = open(path, O_WRONLY | O_APPEND);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, half, sizeof half), sizeof half);
    close(fd);
    open_journal();
    assert_true(user.report.torn_bytes > 0);
    return true;
}

bool source_suite_removes(void)
{
    return true;
}

int main(void)
{
    const struct CMUnitTest tests[] = {SOURCE_SUITE};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

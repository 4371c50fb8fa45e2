#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/data_directory.h"
#include "conform/directory.h"

static char directory[] = "/tmp/laud-directory-XXXXXX";
static char problem[1024];

static int make(void **state)
{
    (void)state;
    directory_make(directory);
    return 0;
}

static int destroy(void **state)
{
    (void)state;
    directory_remove(directory);
    return 0;
}

static enum status look(void)
{
    problem[0] = '\0';
    return data_directory_look(directory, problem, sizeof problem);
}

static void put_file(const char *name)
{
    char path[sizeof directory + 64];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    close(fd);
}

static void put_directory(const char *name)
{
    char path[sizeof directory + 64];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    assert_int_equal(mkdir(path, 0700), 0);
}

static void assert_says(const char *part)
{
    if (strstr(problem, part) == NULL)
        fail_msg("'%s' does not say '%s'", problem, part);
}

static void test_empty(void **state)
{
    (void)state;
    assert_int_equal(look(), STATUS_OK);
    put_file(".gitkeep");
    put_directory("lost+found");
    assert_int_equal(look(), STATUS_OK);
    put_file("LOCK"); /* as a start leaves it that ended at once */
    assert_int_equal(look(), STATUS_OK);
}

static void test_foreign(void **state)
{
    (void)state;
    put_file("LOCK"); /* RocksDB has one too */
    put_file("CURRENT");
    put_file("MANIFEST");
    assert_int_equal(look(), STATUS_BAD_ARGUMENT);
    assert_says(directory);
    assert_says("'CURRENT'");
}

/* /var/log has a journal as well. */
static void test_journal_of_others(void **state)
{
    (void)state;
    put_directory("journal");
    assert_int_equal(look(), STATUS_OK);
    put_file("syslog");
    assert_int_equal(look(), STATUS_BAD_ARGUMENT);
    assert_says("'syslog'");
    put_file("LOCK"); /* ours, and somebody put a file there since */
    assert_int_equal(look(), STATUS_OK);
}

static void test_restored_without_lock(void **state)
{
    (void)state;
    static const char *const files[] = {"filters", "trends", "boards", "importing", "boards.tmp"};
    put_directory("journal");
    put_directory("store");
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        put_file(files[i]);
    assert_int_equal(look(), STATUS_OK);
}

static void test_file_and_nothing(void **state)
{
    (void)state;
    char path[sizeof directory + 64];
    put_file("plain");
    snprintf(path, sizeof path, "%s/plain", directory);
    assert_int_equal(data_directory_look(path, problem, sizeof problem), STATUS_BAD_ARGUMENT);
    assert_says("plain is a file");
    snprintf(path, sizeof path, "%s/absent", directory);
    assert_int_equal(data_directory_look(path, problem, sizeof problem), STATUS_OK);
    assert_int_equal(access(path, F_OK), -1);
    snprintf(path, sizeof path, "%s/plain/below", directory);
    assert_int_equal(data_directory_look(path, problem, sizeof problem), STATUS_IO_FAILED);
    assert_says("Not a directory");
}

static enum status look_to_write(const char *path)
{
    problem[0] = '\0';
    return data_directory_look_to_write(path, problem, sizeof problem);
}

/* As somebody who is not root: root may write whatever the mode says. */
static void test_writable(void **state)
{
    (void)state;
    char path[sizeof directory + 64];
    snprintf(path, sizeof path, "%s/absent", directory);
    assert_int_equal(look_to_write(directory), STATUS_OK);
    assert_int_equal(look_to_write(path), STATUS_OK);
    assert_int_equal(look_to_write("relative-and-absent"), STATUS_OK);
    assert_int_equal(look_to_write("/proc/absent/"), STATUS_IO_FAILED);
    assert_says("cannot create the data directory /proc/absent/: No such file");
    bool root = geteuid() == 0;
    assert_int_equal(chmod(directory, 0555), 0);
    if (root)
        assert_int_equal(seteuid(65534), 0);
    enum status below = look_to_write(path);
    assert_says("cannot create the data directory");
    enum status itself = look_to_write(directory);
    if (root)
        assert_int_equal(seteuid(0), 0);
    assert_int_equal(chmod(directory, 0700), 0);
    assert_int_equal(below, STATUS_IO_FAILED);
    assert_int_equal(itself, STATUS_IO_FAILED);
    assert_says("cannot write to the data directory");
    assert_says("Permission denied");
    snprintf(path, sizeof path, "%s/absent/below", directory);
    assert_int_equal(look_to_write(path), STATUS_IO_FAILED);
    assert_says("No such file or directory");
}

/* Whatever the umask would allow; one that exists keeps its mode. */
static void test_mode(void **state)
{
    (void)state;
    char path[sizeof directory + 64];
    struct stat found;
    mode_t before = umask(0);
    snprintf(path, sizeof path, "%s/new", directory);
    int lock = data_directory_lock(path, true);
    assert_true(lock >= 0);
    close(lock);
    assert_int_equal(stat(path, &found), 0);
    assert_int_equal(found.st_mode & 07777, 0700);
    assert_int_equal(chmod(path, 0750), 0);
    lock = data_directory_lock(path, true);
    assert_true(lock >= 0);
    close(lock);
    assert_int_equal(stat(path, &found), 0);
    assert_int_equal(found.st_mode & 07777, 0750);
    umask(before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_empty, make, destroy),
        cmocka_unit_test_setup_teardown(test_foreign, make, destroy),
        cmocka_unit_test_setup_teardown(test_journal_of_others, make, destroy),
        cmocka_unit_test_setup_teardown(test_restored_without_lock, make, destroy),
        cmocka_unit_test_setup_teardown(test_file_and_nothing, make, destroy),
        cmocka_unit_test_setup_teardown(test_writable, make, destroy),
        cmocka_unit_test_setup_teardown(test_mode, make, destroy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

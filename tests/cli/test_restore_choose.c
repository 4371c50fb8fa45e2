/* Times of --until, and which backups are chosen for them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/restore_choose.h"
#include "conform/directory.h"

static char directory[] = "/tmp/laud-choose-XXXXXX";
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

static void test_times(void **state)
{
    static const struct {
        const char *text;
        uint64_t time;
    } good[] = {{"0", 0},
                {"1794985331", 1794985331},
                {"2026-11-18T07:02:11Z", 1794985331},
                {"2026-11-18 07:02:11Z", 1794985331},
                {"2026-11-18T09:02:11+02:00", 1794985331},
                {"2026-11-18T03:32:11-03:30", 1794985331}};
    static const char *const bad[] = {"",
                                      "now",
                                      "2026-11-18",
                                      "2026-11-18T07:02:11",
                                      "2026-11-18T07:02Z",
                                      "2026-11-18T07:02:11+2",
                                      "2026-11-18T07:02:11+02:00x",
                                      "2026-11-18T07:02:11+0200",
                                      "2026-13-18T07:02:11Z",
                                      "99999999999",
                                      "-5",
                                      "1969-12-31T23:59:59Z"};
    uint64_t time;
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(restore_time(good[i].text, &time));
        assert_int_equal(time, good[i].time);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (restore_time(bad[i], &time))
            fail_msg("'%s' was accepted", bad[i]);
}

/* A backup with a manifest and no files. */
static void put(unsigned number, struct manifest manifest)
{
    char path[256];
    manifest.has_store = 1;
    int length = snprintf(path, sizeof path, "%s/%06u-20261118T070211Z", directory, number);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path + length, sizeof path - (size_t)length, "/data");
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path + length, sizeof path - (size_t)length, "/manifest");
    assert_int_equal(manifest_write(&manifest, path), 0);
}

/* The numbers of the backups for store and journal, as 10 * store + journal; or 1000: a failure. */
static unsigned choose(uint64_t until)
{
    struct restore_choice choice = {
        .path = directory, .has_until = until != UINT64_MAX, .until = until};
    enum status status = restore_choose(&choice, problem, sizeof problem);
    unsigned chosen = 1000;
    if (status == STATUS_OK)
        chosen = (unsigned)((choice.base != NULL ? 10 * choice.base->number : 0) +
                            choice.journal->number);
    else
        assert_true(problem[0] != '\0');
    restore_choose_free(&choice);
    return chosen;
}

static void test_nothing_to_choose(void **state)
{
    char path[256];
    (void)state;
    assert_int_equal(choose(UINT64_MAX), 1000);
    assert_non_null(strstr(problem, "no complete backup"));
    snprintf(path, sizeof path, "%s/000001-20261118T070211Z.partial", directory);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(choose(UINT64_MAX), 1000);
    snprintf(path, sizeof path, "%s/000001-20261118T070211Z", directory);
    assert_int_equal(mkdir(path, 0700), 0); /* without a manifest */
    assert_int_equal(choose(UINT64_MAX), 1000);
}

static void test_newest(void **state)
{
    (void)state;
    put(1, (struct manifest){.position = 10, .first = 5, .end = 20});
    put(10, (struct manifest){.position = 10, .first = 5, .end = 20});
    put(2, (struct manifest){.position = 10, .first = 5, .end = 20});
    assert_int_equal(choose(UINT64_MAX), 110);
}

static void test_one_backup_suffices(void **state)
{
    (void)state;
    put(1, (struct manifest){
               .position = 100, .first = 50, .end = 200, .checkpoint_s = 1000, .end_s = 1010});
    assert_int_equal(choose(1000), 11);
    assert_int_equal(choose(1009), 11);
    assert_int_equal(choose(1010), 1000);
    assert_non_null(strstr(problem, "before that time"));
    assert_int_equal(choose(999), 1000);
    assert_non_null(strstr(problem, "old enough"));
}

static void test_too_little_history(void **state)
{
    (void)state;
    put(1, (struct manifest){
               .position = 100, .first = 50, .end = 200, .checkpoint_s = 1000, .end_s = 1010});
    put(2, (struct manifest){
               .position = 300, .first = 101, .end = 400, .checkpoint_s = 2000, .end_s = 2010});
    assert_int_equal(choose(1500), 1000);
    assert_non_null(strstr(problem, "--journal-history"));
    assert_int_equal(choose(1005), 11);
    assert_int_equal(choose(2005), 22);
}

static void test_whole_journal_needs_no_store(void **state)
{
    (void)state;
    put(1, (struct manifest){
               .position = 300, .first = 0, .end = 400, .checkpoint_s = 2000, .end_s = 2010});
    assert_int_equal(choose(1500), 1);
    assert_int_equal(choose(2000), 11);
}

/* The journal of the later one is empty here, so it cannot continue the other. */
static void test_another_history(void **state)
{
    char path[256];
    (void)state;
    put(1, (struct manifest){
               .position = 100, .first = 50, .end = 200, .checkpoint_s = 1000, .end_s = 1010});
    put(2, (struct manifest){
               .position = 300, .first = 80, .end = 400, .checkpoint_s = 2000, .end_s = 2010});
    snprintf(path, sizeof path, "%s/000002-20261118T070211Z/data/journal", directory);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(choose(1500), 1000);
    assert_non_null(strstr(problem, "does not continue"));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, make, destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),
        CASE(test_nothing_to_choose),
        CASE(test_newest),
        CASE(test_one_backup_suffices),
        CASE(test_too_little_history),
        CASE(test_whole_journal_needs_no_store),
        CASE(test_another_history),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The manifest of a backup: what is written is read again, and nothing else is accepted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xxhash.h>

#include "cli/backup_list.h"
#include "cli/backup_manifest.h"
#include "conform/directory.h"

static char directory[] = "/tmp/laud-manifest-XXXXXX";
static char path[sizeof directory + 16];
static char problem[1024];

static int make(void **state)
{
    (void)state;
    directory_make(directory);
    snprintf(path, sizeof path, "%s/" MANIFEST_NAME, directory);
    return 0;
}

static int destroy(void **state)
{
    (void)state;
    directory_remove(directory);
    return 0;
}

static struct manifest sample(void)
{
    struct manifest manifest = {.has_store = 1,
                                .position = 1000,
                                .first = 40,
                                .end = UINT64_MAX,
                                .chain = 0x0123456789abcdef,
                                .checkpoint_s = 1790000000,
                                .end_s = 1790000005,
                                .made_s = 7};
    struct manifest_file *file = manifest_add(&manifest, "store/000007.sst");
    assert_non_null(file);
    file->bytes = UINT64_MAX - 1;
    file->check = 1;
    file->inode = 17;
    file->changed_ns = UINT64_MAX;
    assert_non_null(manifest_add(&manifest, "filters"));
    return manifest;
}

static void assert_same(const struct manifest *a, const struct manifest *b)
{
    assert_memory_equal(a, b, offsetof(struct manifest, files));
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        assert_string_equal(a->files[i].path, b->files[i].path);
        assert_memory_equal(&a->files[i].bytes, &b->files[i].bytes,
                            sizeof a->files[i] - offsetof(struct manifest_file, bytes));
    }
}

static size_t read_text(char *text, size_t size)
{
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    ssize_t length = read(fd, text, size - 1);
    close(fd);
    assert_true(length > 0 && (size_t)length < size - 1);
    text[length] = '\0';
    return (size_t)length;
}

static enum status parse(const char *text, size_t length)
{
    struct manifest manifest = {.count = 0};
    enum status status = manifest_parse(&manifest, text, length, "it", problem, sizeof problem);
    manifest_free(&manifest);
    return status;
}

/* With the checksum that fits. */
static enum status parse_sealed(const char *lines)
{
    char text[2048];
    int length = snprintf(text, sizeof text, "%scheck %016" PRIx64 "\n", lines,
                          (uint64_t)XXH3_64bits(lines, strlen(lines)));
    return parse(text, (size_t)length);
}

static void test_written_and_read(void **state)
{
    struct manifest written = sample(), found = {.count = 0};
    (void)state;
    assert_int_equal(manifest_write(&written, path), 0);
    assert_int_equal(manifest_read(&found, path, problem, sizeof problem), STATUS_OK);
    assert_same(&written, &found);
    assert_ptr_equal(manifest_find(&found, "filters"), &found.files[1]);
    assert_null(manifest_find(&found, "filter"));
    assert_int_equal(manifest_write(&written, path), -EEXIST);
    manifest_free(&written);
    manifest_free(&found);
}

static void test_absent(void **state)
{
    struct manifest found = {.count = 0};
    (void)state;
    assert_int_equal(manifest_read(&found, path, problem, sizeof problem), STATUS_NOT_FOUND);
    assert_non_null(strstr(problem, path));
    assert_int_equal(manifest_read(&found, directory, problem, sizeof problem), STATUS_IO_FAILED);
    manifest_free(&found);
}

/* Each bit, and each length. */
static void test_all_damage_is_found(void **state)
{
    struct manifest manifest = sample();
    char text[2048], bad[2048];
    (void)state;
    assert_int_equal(manifest_write(&manifest, path), 0);
    size_t length = read_text(text, sizeof text);
    assert_int_equal(parse(text, length), STATUS_OK);
    for (size_t bit = 0; bit < 8 * length; bit++) {
        memcpy(bad, text, length + 1);
        bad[bit / 8] = (char)(bad[bit / 8] ^ (1 << bit % 8));
        assert_int_equal(parse(bad, length), STATUS_DAMAGED);
    }
    for (size_t cut = 0; cut < length; cut++) {
        memcpy(bad, text, cut);
        bad[cut] = '\0';
        assert_int_equal(parse(bad, cut), STATUS_DAMAGED);
    }
    memcpy(bad, text, length);
    memcpy(bad + length, "\n", 2);
    assert_int_equal(parse(bad, length + 1), STATUS_DAMAGED);
    manifest_free(&manifest);
}

#define FIELDS(position, end)                                                                      \
    "store 1\nposition " position "\nfirst 0\nend " end "\nchain 0000000000000000\n"               \
    "checkpoint-time 0\nend-time 0\nmade 0\n"
#define FILE_LINE(name) "file 0000000000000000 1 2 3 " name "\n"

static void test_only_good_lines(void **state)
{
    static const char head[] = "laud-backup 1\n" FIELDS("5", "9");
    static const char *const wrong[] = {FILE_LINE("/etc/passwd"),
                                        FILE_LINE("../x"),
                                        FILE_LINE("a/../b"),
                                        FILE_LINE(""),
                                        FILE_LINE("a b"),
                                        FILE_LINE("a\tb"),
                                        "file\n",
                                        "fil\n",
                                        "\n",
                                        "file 0 1 2 3 a\n",
                                        "file 0000000000000000 01 2 3 a\n",
                                        "file 0000000000000000 99999999999999999999 2 3 a\n",
                                        "store 1\n"};
    char lines[1024];
    (void)state;
    assert_int_equal(parse_sealed(head), STATUS_OK);
    snprintf(lines, sizeof lines, "%s%s", head, FILE_LINE("store/a-1_B.c"));
    assert_int_equal(parse_sealed(lines), STATUS_OK);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        snprintf(lines, sizeof lines, "%s%s", head, wrong[i]);
        assert_int_equal(parse_sealed(lines), STATUS_DAMAGED);
        assert_non_null(strstr(problem, "a line"));
    }
    assert_int_equal(parse_sealed("laud-backup 1\n" FIELDS("9", "5")), STATUS_DAMAGED);
    snprintf(lines, sizeof lines, "%sfile 0000000000000000 1 2 3 %0200d\n", head, 0);
    assert_int_equal(parse_sealed(lines), STATUS_DAMAGED);
}

static void test_another_version(void **state)
{
    (void)state;
    assert_int_equal(parse_sealed("laud-backup 2\nanything else\n"), STATUS_DAMAGED);
    assert_non_null(strstr(problem, "format version"));
    assert_int_equal(parse_sealed("something else\n"), STATUS_DAMAGED);
    assert_non_null(strstr(problem, "not the manifest"));
}

static void test_names(void **state)
{
    char name[BACKUP_NAME_BYTES], shown[BACKUP_TIME_BYTES];
    (void)state;
    backup_list_name(12, 1794985331, name);
    assert_string_equal(name, "000012-20261118T070211Z");
    assert_string_equal(backup_list_time(1794985331, shown), "2026-11-18T07:02:11Z");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, make, destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_written_and_read), CASE(test_absent),          CASE(test_all_damage_is_found),
        CASE(test_only_good_lines),  CASE(test_another_version), CASE(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

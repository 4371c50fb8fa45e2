/*
 * Damage to the store's files, and rows that disagree. Whatever is broken, the store either still
 * answers everything right or says so, when it is opened or when it is asked: never less, and never
 * another answer.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/names.h"
#include "rocksdb_support.h"
#include "spans.h"

enum { FILES_MAX = 160, RUNS_TOO_MANY = 100 }; /* of runs: past where writes stop (tune.c) */

static const char *program;

/* Every file of a closed store, to be put back after each damage. */
struct files {
    struct kept {
        char name[256];
        uint8_t *bytes;
        size_t size;
    } kept[FILES_MAX];
    size_t count;
};

static void read_all(struct kept *kept)
{
    struct stat status = {0};
    int fd = open(test_path(kept->name), O_RDONLY);
    assert_true(fd >= 0 && fstat(fd, &status) == 0);
    kept->size = (size_t)status.st_size;
    kept->bytes = malloc(kept->size + 1);
    assert_int_equal(read(fd, kept->bytes, kept->size), kept->size);
    close(fd);
}

static void files_keep(struct files *files)
{
    DIR *directory = opendir(test_directory);
    assert_non_null(directory);
    files->count = 0;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        if (entry->d_type != DT_REG)
            continue;
        assert_true(files->count < FILES_MAX);
        struct kept *kept = &files->kept[files->count++];
        snprintf(kept->name, sizeof(kept->name), "%s", entry->d_name);
        read_all(kept);
    }
    closedir(directory);
}

static void write_all(const char *name, const uint8_t *bytes, size_t size)
{
    int fd = open(test_path(name), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), size);
    close(fd);
}

static void files_restore(const struct files *files)
{
    test_directory_teardown(NULL);
    assert_int_equal(mkdir(test_directory, 0755), 0);
    for (size_t i = 0; i < files->count; i++)
        write_all(files->kept[i].name, files->kept[i].bytes, files->kept[i].size);
}

static void files_drop(struct files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->kept[i].bytes);
}

static bool is_named(const struct kept *kept, const char *part)
{
    return strstr(kept->name, part) != NULL;
}

/* A few tables: some flushed, some taken whole. */
static void make_store(struct files *files)
{
    struct store *store = test_must_open(0);
    test_fill(store, 40);
    assert_int_equal(store_flush(&store->applier), STATUS_OK);
    test_fill(store, 80);
    assert_int_equal(store_flush(&store->applier), STATUS_OK);
    store_close(store);
    store = test_must_open(1);
    test_fill(store, 82);
    assert_int_equal(store_flush(&store->applier), STATUS_OK);
    store_close(store);
    files_keep(files);
}

/* Did the store notice? If not, everything it answered was right, and at the right position. */
static bool notices(bool read_only)
{
    char problem[256];
    struct store *store = test_open(0, read_only, problem);
    if (store == NULL) {
        assert_non_null(strstr(problem, test_directory));
        return true;
    }
    assert_int_equal(store_position(&store->applier), 82);
    enum status status = test_answers(store);
    assert_true(status == STATUS_OK || status == STATUS_DAMAGED || status == STATUS_IO_FAILED);
    store_close(store);
    return status != STATUS_OK;
}

static void test_missing_file(void **state)
{
    (void)state;
    static struct files files;
    make_store(&files);
    size_t tables = 0;
    for (size_t i = 0; i < files.count; i++) {
        const struct kept *kept = &files.kept[i];
        bool needed = is_named(kept, ".sst") || is_named(kept, "MANIFEST") ||
                      is_named(kept, "CURRENT") || is_named(kept, "DURABLE");
        tables += is_named(kept, ".sst");
        for (int read_only = 0; read_only < 2; read_only++) {
            files_restore(&files);
            assert_int_equal(unlink(test_path(kept->name)), 0);
            assert_int_equal(notices(read_only), needed);
        }
    }
    assert_true(tables >= 3);
    files_drop(&files);
}

static void test_truncated_file(void **state)
{
    (void)state;
    static struct files files;
    make_store(&files);
    for (size_t i = 0; i < files.count; i++) {
        const struct kept *kept = &files.kept[i];
        bool table = is_named(kept, ".sst");
        if (!table && !is_named(kept, "MANIFEST") && !is_named(kept, "CURRENT") &&
            !is_named(kept, "DURABLE"))
            continue;
        size_t step = kept->size / 12 + 1;
        for (size_t size = 0; size < kept->size; size += step) {
            files_restore(&files);
            write_all(kept->name, kept->bytes, size);
            bool noticed = notices(size % 2);
            if (!noticed && !is_named(kept, "MANIFEST"))
                fail_msg("%s cut to %zu of %zu bytes was not noticed", kept->name, size,
                         kept->size);
        }
        files_restore(&files);
        write_all(kept->name, kept->bytes, kept->size - 1);
        notices(false);
    }
    files_drop(&files);
}

static void flip_in(const struct kept *kept, size_t at, uint8_t bits)
{
    kept->bytes[at] ^= bits;
    write_all(kept->name, kept->bytes, kept->size);
    kept->bytes[at] ^= bits;
}

/*
 * Opens the store in a process of its own, because RocksDB may end it: what it ends with must be
 * the same refusal then.
 */
static bool notices_apart(bool read_only)
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        execl("/proc/self/exe", program, test_directory, read_only ? "read" : "write", NULL);
        _exit(127);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
        fail_msg("the store was neither read nor refused: wait status %d", status);
    return WEXITSTATUS(status) == 1;
}

/* Who is refused leaves RocksDB's threads behind: not what a sanitizer is to find in those. */
static void let_threads_end(void)
{
    char options[512];
    const char *now = getenv("TSAN_OPTIONS");
    snprintf(options, sizeof(options), "%s:report_thread_leaks=0", now != NULL ? now : "");
    assert_int_equal(setenv("TSAN_OPTIONS", options, 1), 0);
}

/*
 * More tables than RocksDB takes writes on top of, and one that cannot be merged: that was found out
 * before anything is applied, so no merge is waited for.
 */
static void test_merge_fails(void **state)
{
    (void)state;
    static struct files files;
    const uint8_t key = 0xff;
    struct store *store = test_must_open(0);
    test_fill(store, 2);
    assert_int_equal(store_flush(&store->applier), STATUS_OK);
    store_close(store);
    files_keep(&files);
    size_t before = files.count;
    files_drop(&files);
    test_write_runs(&key, 1, "x", 1, RUNS_TOO_MANY);
    files_keep(&files);
    assert_true(files.count >= before + RUNS_TOO_MANY);
    const struct kept *newest = &files.kept[0];
    for (size_t i = 0; i < files.count; i++)
        if (is_named(&files.kept[i], ".sst") &&
            (!is_named(newest, ".sst") || strcmp(files.kept[i].name, newest->name) > 0))
            newest = &files.kept[i];
    assert_true(is_named(newest, ".sst"));
    flip_in(newest, 3, 1);
    store = test_must_open(1);
    struct store_stats stats;
    do {
        usleep(1000);
        store_stats(&store->admin, &stats);
    } while (stats.state == STORE_OK);
    assert_int_equal(test_apply(store, 3), STATUS_DAMAGED);
    assert_int_equal(store_position(&store->applier), 2);
    store_close(store);
    files_drop(&files);
}

static bool apart_read_only, apart_noticed;

static void test_apart(void **state)
{
    (void)state;
    apart_noticed = notices(apart_read_only);
}

static int run_apart(const char *directory, const char *how)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_apart)};
    snprintf(test_directory, strlen(test_directory) + 1, "%s", directory);
    apart_read_only = strcmp(how, "read") == 0;
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL) != 0 ? 2 : apart_noticed;
}

static void test_flipped_byte(void **state)
{
    (void)state;
    static struct files files;
    const char *text = getenv("LAUD_SEED");
    uint64_t seed = text != NULL ? strtoull(text, NULL, 10) : (uint64_t)time(NULL);
    print_message("LAUD_SEED=%llu\n", (unsigned long long)seed);
    make_store(&files);
    size_t noticed = 0, tried = 0;
    for (size_t i = 0; i < files.count; i++) {
        const struct kept *kept = &files.kept[i];
        if (!is_named(kept, ".sst") && !is_named(kept, "MANIFEST") && !is_named(kept, "CURRENT") &&
            !is_named(kept, "DURABLE"))
            continue;
        for (uint32_t round = 0; round < 12; round++, tried++) {
            uint64_t dice = hash_3(seed, i, round);
            files_restore(&files);
            flip_in(kept, dice % kept->size, (uint8_t)(1U << (dice >> 32) % 8));
            noticed += notices_apart(round % 2);
        }
    }
    print_message("%zu of %zu flips noticed, the others did no harm\n", noticed, tried);
    assert_true(noticed > tried / 4);
    files_drop(&files);
}

/*
 * The one block that RocksDB reads before it verifies it: the properties of a table, which end where
 * the index of such blocks begins. Its last word tells its shape, and a table has only one.
 */
static void test_flipped_shape(void **state)
{
    (void)state;
    enum { FOOTER = 53, CHECK = 5 };
    static struct files files;
    make_store(&files);
    for (size_t i = 0; i < files.count; i++) {
        const struct kept *kept = &files.kept[i];
        if (!is_named(kept, ".sst"))
            continue;
        size_t index = 0, at = kept->size - FOOTER;
        for (unsigned shift = 0; shift == 0 || kept->bytes[at] >> 7 != 0; shift += 7)
            index |= (size_t)(kept->bytes[++at] & 0x7f) << shift;
        for (int read_only = 0; read_only < 2; read_only++) {
            files_restore(&files);
            flip_in(kept, index - CHECK - 1, 0x80);
            assert_true(notices_apart(read_only));
        }
    }
    files_drop(&files);
}

/* A row broken by hand; verifying must say what and where. */
static void expect_found(const struct files *files, const char *what)
{
    struct store *store = test_must_open(0);
    struct store_report report;
    assert_int_equal(store_verify(&store->admin, NULL, NULL, &report), STATUS_DAMAGED);
    if (strstr(report.problem, what) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", report.problem, what);
    store_close(store);
    files_restore(files);
}

static void test_verify_finds_rows(void **state)
{
    (void)state;
    static struct files files;
    uint8_t key[KEY_MAX], value[POSITION_BYTES];
    make_store(&files);
    struct store_reaction like = {.user.lo = 40 * 1000 + 3, .item.id.lo = 3, .time_s = 140};

    test_write_row(key, key_write_by_item(key, &like, 140), NULL, 0);
    expect_found(&files, "video:3: the counter like is 82, but there are 81 reactions");
    test_write_row(key, key_write_by_item(key, &like, 141), "", 0);
    expect_found(&files, "video:3: the counter like is 82, but there are 83 reactions");
    test_write_row(key, key_write_counters(key, like.item), NULL, 0);
    expect_found(&files, "video:3: the counter like is 0, but there are 82 reactions");
    test_write_row(key, key_write_counters(key, like.item), "\0\x80", 2);
    expect_found(&files, "video:3: its counters cannot be decoded");
    test_write_row(key, key_write_counters(key, (struct item){.id.lo = 77}), "\0\2", 2);
    expect_found(&files, "video:77: the counter like is 1, but there are 0 reactions");

    test_write_row(key, key_write_reaction(key, &like), NULL, 0);
    expect_found(&files, "video:3: a reaction is only in its item's list (user 40003, kind 0)");
    put_u32(value, 141);
    test_write_row(key, key_write_reaction(key, &like), value, 4);
    expect_found(&files, "video:3: a reaction has another time in its item's list");
    like.item.id.lo = 4;
    test_write_row(key, key_write_reaction(key, &like), value, 4);
    expect_found(&files, "video:4: a reaction is missing in its item's list");

    place_write(value, &(struct store_place){.position = 82, .reactions = 700});
    const uint8_t place = TAG_POSITION;
    test_write_row(&place, 1, value, sizeof(value));
    expect_found(&files, "700 reactions");
    test_write_row((const uint8_t *)"Rxyz", 4, "abcd", 4);
    expect_found(&files, "a row with the tag R");
    test_write_row((const uint8_t *)"Iabcdefghijklmnopqrstuvw", 24, "", 0);
    expect_found(&files, "a row with the tag I");
    files_drop(&files);
}

/* The same of by-user rows, which no counter stands for. */
static void test_verify_finds_by_user(void **state)
{
    (void)state;
    static struct files files;
    uint8_t key[KEY_MAX];
    make_store(&files);
    struct store_reaction like = {.user.lo = 40 * 1000 + 3, .item.id.lo = 3, .time_s = 140};

    test_write_row(key, key_write_by_user(key, &like, 140), NULL, 0);
    expect_found(&files, "video:3: a reaction is missing in its user's list (user 40003, kind 0)");
    test_write_row(key, key_write_by_user(key, &like, 141), "", 0);
    expect_found(&files, "video:3: a reaction has another time in its user's list");
    like.kind = 1;
    test_write_row(key, key_write_by_user(key, &like, 140), "", 0);
    expect_found(&files, "video:3: a reaction is only in its user's list (user 40003, kind 1)");
    /* as many as there should be, but one of them is another */
    test_write_row(key, key_write_by_user(key, &like, 140), "", 0);
    like.kind = 0;
    test_write_row(key, key_write_by_user(key, &like, 140), NULL, 0);
    expect_found(&files, "video:3: a reaction is only in its user's list (user 40003, kind 1)");
    test_write_row(key, key_write_by_user(key, &like, 140), "x", 1);
    expect_found(&files, "a row with the tag U");
    test_write_row((const uint8_t *)"Uabcdefghijklmnopqrstuvw", 24, "", 0);
    expect_found(&files, "a row with the tag U");
    files_drop(&files);
}

/* A list that meets a row it cannot read says so, and no other list does. */
static void test_lists_find_rows(void **state)
{
    (void)state;
    static struct files files;
    uint8_t key[KEY_MAX];
    size_t count;
    make_store(&files);
    struct store_reaction like = {.user.lo = 40 * 1000 + 3, .item.id.lo = 3, .time_s = 140};
    test_write_row(key, key_write_by_user(key, &like, 140) - 1, "", 0);
    test_write_row(key, key_write_by_item(key, &like, 140) - 1, "", 0);
    struct store *store = test_must_open(0);
    struct store_listed out[100], start = {0};
    assert_int_equal(store_list_reactions(&store->reader, like.user, 0, 0, start, out, 100, &count),
                     STATUS_DAMAGED);
    assert_int_equal(store_list_reactors(&store->reader, like.item, 0, start, out, 100, &count),
                     STATUS_DAMAGED);
    like.user.lo++, like.item.id.lo++;
    assert_int_equal(store_list_reactions(&store->reader, like.user, 0, 0, start, out, 100, &count),
                     STATUS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(store_list_reactors(&store->reader, like.item, 0, start, out, 100, &count),
                     STATUS_OK);
    assert_int_equal(count, 82);
    store_close(store);
    files_drop(&files);
}

/* Reading says so too, where it meets such a row. */
static void test_reads_find_rows(void **state)
{
    (void)state;
    static struct files files;
    uint8_t key[KEY_MAX];
    make_store(&files);
    struct store_reaction like = {.user.lo = 40 * 1000 + 3, .item.id.lo = 3};
    test_write_row(key, key_write_reaction(key, &like), "abc", 3);
    struct store *store = test_must_open(0);
    assert_int_equal(store_read_reactions(&store->reader, &like, 1), STATUS_DAMAGED);
    like.was_live = true;
    assert_int_equal(
        store_apply(&store->applier, &(struct store_changes){BOTH_SPANS(&like, 1), .position = 83}),
        STATUS_DAMAGED);
    struct store_stats stats;
    store_stats(&store->admin, &stats);
    assert_int_equal(stats.state, STORE_DAMAGED);
    store_close(store);
    files_restore(&files);
    test_write_row(key, key_write_counters(key, like.item), "\0\x80", 2);
    store = test_must_open(0);
    struct store_item item = {.item = like.item};
    struct store_values values = {0};
    assert_int_equal(store_read_items(&store->reader, NULL, &item, 1, &values), STATUS_DAMAGED);
    free(values.values);
    store_close(store);
    files_drop(&files);
}

int main(int argc, char **argv)
{
    program = argv[0];
    if (argc == 3)
        return run_apart(argv[1], argv[2]);
    let_threads_end();
#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, test_directory_setup, test_directory_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_missing_file),    TEST(test_truncated_file),    TEST(test_flipped_byte),
        TEST(test_flipped_shape),   TEST(test_verify_finds_rows), TEST(test_verify_finds_by_user),
        TEST(test_lists_find_rows), TEST(test_reads_find_rows),   TEST(test_merge_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Rows of tables in RocksDB: removed bytes leave the files, deletions do not slow scans down, damage is
 * found, and the format version comes with the first row.
 */
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/limits.h"
#include "rocksdb_support.h"

/* Texts without a common beginning, so that compression does not make one of them shorter. */
#define REMOVED     "qzjxkv1947"
#define OVERWRITTEN "WYHFGU8350"
#define STAYS       "mbpdlt6621"

static void apply_rows(struct store *store, const struct store_row *rows, size_t count)
{
    const struct store_changes changes = {
        .rows = rows, .row_count = count, .position = store_position(&store->applier) + 1};
    assert_int_equal(store_apply(&store->applier, &changes), STATUS_OK);
}

static struct store_bytes text(const char *bytes)
{
    return (struct store_bytes){.data = (const uint8_t *)bytes, .length = (uint32_t)strlen(bytes)};
}

static void put(struct store *store, const char *key, const char *value)
{
    const struct store_row row = {.table = STORE_CONTENT,
                                  .removed = value == NULL,
                                  .key = text(key),
                                  .value = text(value == NULL ? "" : value)};
    apply_rows(store, &row, 1);
}

static bool file_has(const char *path, const char *wanted)
{
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return false; /* RocksDB has deleted it meanwhile */
    size_t length = strlen(wanted), matched = 0;
    bool found = false;
    for (int byte = getc(file); !found && byte != EOF; byte = getc(file)) {
        if (byte != wanted[matched])
            matched = 0;
        if (byte == wanted[matched])
            found = ++matched == length;
    }
    fclose(file);
    return found;
}

/* In how many files of the directory these bytes are. They do not repeat their own beginning. */
static unsigned files_with(const char *wanted)
{
    unsigned files = 0;
    DIR *directory = opendir(test_directory);
    assert_non_null(directory);
    for (const struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory))
        if (entry->d_name[0] != '.')
            files += file_has(test_path(entry->d_name), wanted);
    closedir(directory);
    return files;
}

static unsigned files_with_old(void)
{
    return files_with(REMOVED) + files_with(OVERWRITTEN);
}

/* Of one text that was removed and one that was overwritten, both in files. */
static void write_and_remove(struct store *store)
{
    put(store, "comment1", REMOVED);
    put(store, "comment2", OVERWRITTEN);
    put(store, "comment3", STAYS);
    assert_int_equal(store_flush(&store->applier), STATUS_OK);
    assert_int_not_equal(files_with(REMOVED), 0);
    assert_int_not_equal(files_with(OVERWRITTEN), 0);
    put(store, "comment1", NULL);
    put(store, "comment2", "another text");
    assert_int_equal(store_flush(&store->applier), STATUS_OK);
    assert_int_not_equal(files_with(REMOVED), 0);
    assert_int_not_equal(files_with(OVERWRITTEN), 0);
}

static void expect_rest(struct store *store)
{
    const struct store_bytes keys[] = {text("comment1"), text("comment2"), text("comment3")};
    struct store_bytes values[3];
    struct store_arena arena = {0};
    assert_int_equal(store_read_rows(&store->reader, STORE_CONTENT, keys, 3, values, &arena),
                     STATUS_OK);
    assert_null(values[0].data);
    assert_memory_equal(values[1].data, "another text", values[1].length);
    assert_memory_equal(values[2].data, STAYS, values[2].length);
    store_arena_destroy(&arena);
    assert_int_equal(files_with(STAYS), 1);
}

static void count_calls(void *context, const struct store_report *report)
{
    assert_true(report->rows <= report->rows_total);
    ++*(unsigned *)context;
}

static void test_compact_erases(void **state)
{
    (void)state;
    struct store *store = test_must_open(0);
    unsigned calls = 0;
    write_and_remove(store);
    assert_int_equal(store_compact(&store->admin, count_calls, &calls), STATUS_OK);
    assert_int_equal(calls, 2);
    assert_int_equal(files_with_old(), 0);
    expect_rest(store);
    /* Also what has never been flushed, and what a file brought that RocksDB ingested. */
    put(store, "comment4", REMOVED);
    put(store, "comment4", NULL);
    assert_int_equal(store_compact(&store->admin, NULL, NULL), STATUS_OK);
    assert_int_equal(files_with_old(), 0);
    store_close(store);
    store = test_must_open(1);
    write_and_remove(store);
    assert_int_equal(store_compact(&store->admin, NULL, NULL), STATUS_OK);
    assert_int_equal(files_with_old(), 0);
    expect_rest(store);
    store_close(store);
    char problem[256];
    store = test_open(0, true, problem);
    assert_non_null(store);
    assert_int_equal(store_compact(&store->admin, NULL, NULL), STATUS_READONLY);
    store_close(store);
}

static void *compact_run(void *argument)
{
    struct store *store = argument;
    return (void *)(uintptr_t)store_compact(&store->admin, NULL, NULL);
}

/* Whether the snapshot is released before or while the call waits for it, the bytes go. */
static void test_compact_waits_for_snapshots(void **state)
{
    (void)state;
    struct store *store = test_must_open(0);
    put(store, "comment1", REMOVED " before");
    struct store_snapshot *snapshot = store_snapshot(&store->reader);
    write_and_remove(store);
    pthread_t thread;
    void *status;
    assert_int_equal(pthread_create(&thread, NULL, compact_run, store), 0);
    store_release(&store->reader, snapshot);
    assert_int_equal(pthread_join(thread, &status), 0);
    assert_int_equal((uintptr_t)status, STATUS_OK);
    assert_int_equal(files_with_old(), 0);
    expect_rest(store);
    store_close(store);
}

/* An idle store: nothing is written after the removal, and RocksDB is only asked to look. */
static void test_old_files_are_rewritten(void **state)
{
    (void)state;
    const struct store_rocksdb_options options = {.directory = test_directory,
                                                  .cache_bytes = MIB(1),
                                                  .write_buffer_bytes = MIB(2),
                                                  .rewrite_s = 1};
    char problem[256];
    struct store *store = store_rocksdb_open(&options, problem, sizeof(problem));
    assert_non_null(store);
    write_and_remove(store);
    uint64_t began_ns = clock_monotonic_ns();
    while (files_with_old() > 0 && clock_monotonic_ns() - began_ns < 120000000000ULL) {
        aging_look(rocksdb_of(store));
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    assert_int_equal(files_with_old(), 0);
    store_close(store);
    store = test_must_open(0); /* with the default */
    expect_rest(store);
    assert_int_equal(rocksdb_of(store)->rewrite_s, 3 * 24 * 3600);
    store_close(store);
}

static uint32_t format_of(struct store *store)
{
    uint8_t key = TAG_VERSION, value[4];
    size_t length;
    bool found;
    assert_int_equal(rocksdb_read_row(rocksdb_of(store), rocksdb_of(store)->read, &key, 1, value,
                                      sizeof(value), &length, &found),
                     STATUS_OK);
    assert_true(found && length == 4);
    return get_u32(value);
}

/* Programs before version 4 open a store that has no rows, and refuse one that has. */
static void test_format_comes_with_rows(void **state)
{
    (void)state;
    for (uint32_t bulk_min = 0; bulk_min < 2; bulk_min++) {
        struct store *store = test_must_open(bulk_min);
        test_fill(store, 3);
        assert_int_equal(format_of(store), 3);
        put(store, "comment1", "a text");
        assert_int_equal(format_of(store), 4);
        assert_int_equal(store_flush(&store->applier), STATUS_OK);
        store_close(store);
        store = test_must_open(bulk_min);
        assert_int_equal(format_of(store), 4);
        put(store, "comment2", "a text");
        assert_int_equal(format_of(store), 4);
        store_close(store);
        test_directory_teardown(NULL);
        test_directory_setup(NULL);
        store = test_must_open(bulk_min);
        struct store_token token = {.token = {1, 2}, .time_s = 9};
        struct store_changes changes = {
            .item.tokens = &token, .item.token_count = 1, .position = 1};
        assert_int_equal(store_apply(&store->applier, &changes), STATUS_OK);
        assert_int_equal(format_of(store), 3);
        token.value = 7;
        changes.position = 2;
        assert_int_equal(store_apply(&store->applier, &changes), STATUS_OK);
        assert_int_equal(format_of(store), 4);
        store_close(store);
        test_directory_teardown(NULL);
        test_directory_setup(NULL);
    }
}

/* Each damaged row is found by `verify` and named, and never returned by a read. */
static void expect_damage(const uint8_t *key, size_t key_length, size_t value_length,
                          const char *sentence)
{
    struct store *store = test_must_open(0);
    struct store_report report;
    put(store, "comment1", "a text");
    assert_int_equal(store_verify(&store->admin, NULL, NULL, &report), STATUS_OK);
    assert_int_equal(store_flush(&store->applier), STATUS_OK);
    store_close(store);
    uint8_t *value = calloc(1, value_length + 1);
    test_write_row(key, key_length, value, value_length);
    free(value);
    store = test_must_open(0);
    assert_int_equal(store_verify(&store->admin, NULL, NULL, &report), STATUS_DAMAGED);
    if (strstr(report.problem, sentence) == NULL)
        print_error("%s\n", report.problem);
    assert_non_null(strstr(report.problem, sentence));
    store_close(store);
    test_write_row(key, key_length, NULL, 0);
}

static void test_damage_is_named(void **state)
{
    (void)state;
    uint8_t key[128] = {0};
    size_t length = table_write_key(key, STORE_CONTENT, text("comment7"));
    expect_damage(key, length, STORE_VALUE_MAX + 1, "its value is too long");
    expect_damage(key, length - 1, 1,
                  "a row of table 3, with a key of 11 bytes and a value of 1, is damaged: "
                  "no key of this table has this length");
    expect_damage(key, length + STORE_REST_MAX + 1, 1, "no key of this table has this length");
    expect_damage(key, 3, 1, "its key is too short");
    key[2] ^= 1;
    expect_damage(key, length, 1, "it is not in the partition of its group");
    key[1] = STORE_TABLES;
    expect_damage(key, length, 1, "there is no such table");
    key[1] = 0;
    expect_damage(key, length, 1, "there is no such table");
}

enum { GROUP = 19, COMMENTS = 20, MOVES = 100000, WINDOW = 100 };

static struct store_row order_row(uint8_t *key, uint32_t likes, uint32_t comment)
{
    memset(key, 'p', GROUP);
    put_u32(key + GROUP, ~likes);
    key[GROUP + 4] = (uint8_t)comment;
    return (struct store_row){.table = STORE_ORDER, .key = {.data = key, .length = GROUP + 5}};
}

/* The first page of the order; returns how many deletions it stepped over. */
static uint64_t read_page(struct store *store, uint64_t *took_ns)
{
    struct store_row rows[COMMENTS];
    struct store_arena arena = {0};
    uint8_t group[GROUP];
    size_t count;
    bool more;
    memset(group, 'p', sizeof(group));
    const struct store_scan scan = {
        .table = STORE_ORDER, .group = {.data = group, .length = GROUP}, .limit_rows = COMMENTS};
    uint64_t began_ns = clock_monotonic_ns();
    assert_int_equal(store_scan_rows(&store->reader, &scan, rows, &count, &more, &arena),
                     STATUS_OK);
    *took_ns = clock_monotonic_ns() - began_ns;
    assert_true(count == COMMENTS && !more);
    store_arena_destroy(&arena);
    return rocksdb_of(store)->crowded.last_skipped;
}

/* Moves the top rows of one order, each by one like. */
static void move_rows(struct store *store, uint32_t *likes, uint32_t moves, uint32_t reads_every,
                      uint64_t *most)
{
    for (uint32_t i = 0; i < moves; i += WINDOW) {
        uint8_t keys[2 * COMMENTS][STORE_KEY_MAX];
        struct store_row rows[2 * COMMENTS];
        size_t count = 0;
        for (uint32_t comment = 0; comment < COMMENTS; comment++) {
            rows[count] = order_row(keys[count], likes[comment], comment);
            rows[count++].removed = true;
            likes[comment] += 1;
            rows[count] = order_row(keys[count], likes[comment], comment);
            count++;
        }
        apply_rows(store, rows, count);
        uint64_t took_ns, skipped;
        if (reads_every == 0 || i / WINDOW % reads_every != 0)
            continue;
        skipped = read_page(store, &took_ns);
        if (skipped > *most)
            *most = skipped;
    }
}

static void test_moves_do_not_slow_scans(void **state)
{
    (void)state;
    struct store *store = test_must_open(0);
    uint32_t likes[COMMENTS];
    uint64_t most = 0, slow_ns, fast_ns;
    for (uint32_t i = 0; i < COMMENTS; i++)
        likes[i] = i * 100000;
    uint8_t keys[COMMENTS][STORE_KEY_MAX];
    struct store_row rows[COMMENTS];
    for (uint32_t i = 0; i < COMMENTS; i++)
        rows[i] = order_row(keys[i], likes[i], i);
    apply_rows(store, rows, COMMENTS);
    /* 100,000 moves that nobody reads meanwhile, then one slow page. */
    move_rows(store, likes, MOVES / COMMENTS * WINDOW, 0, &most);
    uint64_t slow = read_page(store, &slow_ns);
    move_rows(store, likes, WINDOW, 0, &most);
    assert_int_equal(store_flush(&store->applier), STATUS_OK);
    uint64_t fast = read_page(store, &fast_ns);
    print_message(
        "after %d moves a page stepped over %lu deletions in %lu us, then %lu in %lu us\n", MOVES,
        slow, slow_ns / 1000, fast, fast_ns / 1000);
    assert_int_equal(atomic_load(&rocksdb_of(store)->crowded.renewed), 1);
    assert_true(slow > 10000);
    assert_true(fast < 1000);
    /* With readers it never becomes that slow. */
    most = 0;
    move_rows(store, likes, MOVES / COMMENTS * WINDOW, 10, &most);
    print_message("with readers at most %lu, renewed %lu times\n", most,
                  atomic_load(&rocksdb_of(store)->crowded.renewed));
    assert_true(most < 10000);
    assert_int_equal(store_verify(&store->admin, NULL, NULL, &(struct store_report){0}), STATUS_OK);
    store_close(store);
}

#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, test_directory_setup, test_directory_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_compact_erases),          TEST(test_compact_waits_for_snapshots),
        TEST(test_old_files_are_rewritten), TEST(test_format_comes_with_rows),
        TEST(test_damage_is_named),         TEST(test_moves_do_not_slow_scans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

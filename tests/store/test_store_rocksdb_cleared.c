/*
 * What RocksDB keeps of cleared reactions: for how long, through crashes and merges, and in a store
 * that an earlier version made.
 */
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rocksdb_support.h"

enum { CLEARED = 40, FIRST_S = 100 };

static const struct id user = {.lo = 9};

static struct store_reaction cleared(uint32_t number)
{
    return (struct store_reaction){
        .user = user,
        .item = {.id = {.hi = number % 2, .lo = number}, .type = (uint16_t)(number % 3)},
        .cleared_s = FIRST_S + number};
}

/* All of them at once, each a second after the one before. */
static void clear_all(struct store *store, uint32_t horizon_s)
{
    struct store_reaction rows[CLEARED];
    for (uint32_t i = 0; i < CLEARED; i++)
        rows[i] = cleared(i);
    assert_int_equal(
        store_apply(&store->applier,
                    &(struct store_changes){.user.transient = rows,
                                            .user.transient_count = CLEARED,
                                            .newest_s = FIRST_S + CLEARED,
                                            .user.cleared_horizon_s = horizon_s,
                                            .position = store_position(&store->applier) + 1}),
        STATUS_OK);
}

static void raise_horizon(struct store *store, uint32_t horizon_s)
{
    assert_int_equal(
        store_apply(&store->applier,
                    &(struct store_changes){.user.cleared_horizon_s = horizon_s,
                                            .position = store_position(&store->applier) + 1}),
        STATUS_OK);
}

static enum status told(struct store *store, uint32_t since_s, size_t *count)
{
    static struct store_listed rows[CLEARED];
    struct store_changed changed;
    enum status status = store_list_changes(&store->reader, user, since_s, (struct store_listed){0},
                                            rows, CLEARED, &changed);
    *count = changed.count;
    return status;
}

static void expect_told(struct store *store, uint32_t since_s, size_t expected)
{
    size_t count;
    assert_int_equal(told(store, since_s, &count), STATUS_OK);
    assert_int_equal(count, expected);
}

static void expect_start_over(struct store *store, uint32_t since_s)
{
    size_t count;
    assert_int_equal(told(store, since_s, &count), STATUS_START_OVER);
}

static uint64_t rows_there(struct store *store)
{
    struct store_report report;
    assert_int_equal(store_verify(&store->admin, NULL, NULL, &report), STATUS_OK);
    return report.rows;
}

static void merge_all(struct store *store)
{
    rocksdb_compact_range(rocksdb_of(store)->database, NULL, 0, NULL, 0);
}

static void test_merges_drop_what_is_past(void **state)
{
    (void)state;
    struct store *store = test_must_open(0);
    clear_all(store, 0);
    assert_int_equal(rows_there(store), CLEARED);
    merge_all(store);
    assert_int_equal(rows_there(store), CLEARED);
    raise_horizon(store, FIRST_S + 10);
    expect_start_over(store, FIRST_S + 9);
    expect_told(store, FIRST_S + 10, CLEARED - 10);
    merge_all(store);
    assert_int_equal(rows_there(store), CLEARED); /* nobody has flushed that horizon */
    assert_int_equal(store_flush(&store->applier), STATUS_OK);
    merge_all(store);
    assert_int_equal(rows_there(store), CLEARED - 10);
    expect_told(store, FIRST_S + 10, CLEARED - 10);
    store_close(store);
    store = test_must_open(0);
    expect_start_over(store, FIRST_S + 9);
    expect_told(store, FIRST_S + 10, CLEARED - 10);
    struct store_stats stats;
    store_stats(&store->admin, &stats);
    assert_int_equal(stats.newest_s, FIRST_S + CLEARED);
    store_close(store);
}

/* The child: killed with a horizon that is not flushed. */
static int be_killed(const char *directory)
{
    const struct store_rocksdb_options options = {.directory = directory};
    char problem[256];
    struct store *store = store_rocksdb_open(&options, problem, sizeof(problem));
    if (store == NULL)
        return 1;
    clear_all(store, FIRST_S);
    if (store_flush(&store->applier) != STATUS_OK)
        return 1;
    raise_horizon(store, FIRST_S + 30);
    kill(getpid(), SIGKILL);
    return 1;
}

/* A crash takes the horizon back to the last flush, and every row from there on must still be. */
static void test_a_crash_takes_no_rows(void **state)
{
    (void)state;
    pid_t child;
    char *words[] = {"self", "crash", test_directory, NULL};
    assert_int_equal(posix_spawn(&child, "/proc/self/exe", NULL, NULL, words, environ), 0);
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
    struct store *store = test_must_open(0);
    merge_all(store);
    expect_told(store, FIRST_S, CLEARED);
    expect_start_over(store, FIRST_S - 1);
    store_close(store);
}

/* What is read again from the journal after its time is over is not written again. */
static void test_what_is_past_is_not_written(void **state)
{
    (void)state;
    struct store *store = test_must_open(0);
    clear_all(store, FIRST_S + 5);
    assert_int_equal(rows_there(store), CLEARED - 5);
    store_close(store);
}

/* The version before had no such rows and a shorter place; it is brought up when it is opened. */
static void test_version_before(void **state)
{
    (void)state;
    struct store *store = test_must_open(0);
    test_fill(store, 5);
    assert_int_equal(store_flush(&store->applier), STATUS_OK);
    uint8_t place[POSITION_BYTES];
    place_write(place, &rocksdb_of(store)->place);
    store_close(store);
    const uint8_t version = TAG_VERSION, position = TAG_POSITION, before[] = {0, 0, 0, 2};
    test_write_row(&version, 1, before, sizeof(before));
    test_write_row(&position, 1, place, POSITION_BYTES_BEFORE);

    char problem[256];
    store = test_open(0, true, problem); /* as laud check does: it stays as it is */
    assert_non_null(store);
    assert_int_equal(test_answers(store), STATUS_OK);
    expect_told(store, 1, 0);
    store_close(store);

    store = test_must_open(0);
    assert_int_equal(test_answers(store), STATUS_OK);
    expect_told(store, 1, 0);
    expect_start_over(store, 2);
    uint8_t value[4];
    size_t length;
    bool found;
    assert_int_equal(rocksdb_read_row(rocksdb_of(store), rocksdb_of(store)->read, &version, 1,
                                      value, sizeof(value), &length, &found),
                     STATUS_OK);
    assert_true(found && length == 4 && get_u32(value) == STORE_FORMAT_PLAIN);
    test_fill(store, 9);
    assert_int_equal(test_answers(store), STATUS_OK);
    store_close(store);
    store = test_must_open(0);
    assert_int_equal(test_answers(store), STATUS_OK);
    store_close(store);
}

/* Rows that no writer makes are found. */
static void test_damage_is_found(void **state)
{
    (void)state;
    uint8_t key[KEY_MAX];
    struct store_reaction row = cleared(3);
    size_t length = key_write_cleared(key, &row);
    const struct {
        size_t length;
        size_t value_length;
        int flipped;
    } bad[] = {{length - 1, 0, -1}, {length, 1, -1}, {length, 0, 1}, {2, 0, -1}};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct store *store = test_must_open(0);
        clear_all(store, 0);
        assert_int_equal(store_flush(&store->applier), STATUS_OK);
        store_close(store);
        uint8_t edited[KEY_MAX];
        memcpy(edited, key, sizeof(edited));
        if (bad[i].flipped >= 0)
            edited[bad[i].flipped] ^= 1;
        test_write_row(edited, bad[i].length, "v", bad[i].value_length);
        char problem[256];
        store = test_open(0, true, problem);
        assert_non_null(store);
        struct store_report report;
        assert_int_equal(store_verify(&store->admin, NULL, NULL, &report), STATUS_DAMAGED);
        assert_non_null(strstr(report.problem, "tag X"));
        store_close(store);
        test_directory_teardown(NULL);
        test_directory_setup(NULL);
    }
}

#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, test_directory_setup, test_directory_teardown)

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "crash") == 0)
        return be_killed(argv[2]);
    const struct CMUnitTest tests[] = {
        TEST(test_merges_drop_what_is_past),
        TEST(test_a_crash_takes_no_rows),
        TEST(test_what_is_past_is_not_written),
        TEST(test_version_before),
        TEST(test_damage_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

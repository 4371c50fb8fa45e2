/* Rows of tables, one behaviour at a time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spans.h"
#include "store_suite.h"
#include "store_suite_rows.h"

struct store_bytes suite_text(const char *text)
{
    return (struct store_bytes){.data = (const uint8_t *)text, .length = (uint32_t)strlen(text)};
}

struct store_row suite_row(enum store_table table, const char *key, const char *value)
{
    struct store_row row = {
        .table = (uint8_t)table, .removed = value == NULL, .key = suite_text(key)};
    if (value != NULL)
        row.value = suite_text(value);
    return row;
}

void suite_put(struct store *store, enum store_table table, const char *key, const char *value)
{
    struct store_row row = suite_row(table, key, value);
    suite_apply(store, (struct store_changes){.rows = &row, .row_count = 1});
}

/* Appends `length` bytes to a text in `size` bytes. */
static void append(char *text, size_t size, const void *bytes, size_t length)
{
    size_t used = strlen(text);
    assert_true(used + length < size);
    memcpy(text + used, bytes, length);
    text[used + length] = '\0';
}

/* All values of these keys (up to a NULL) in one text, with "-" for a row that does not exist. */
static void expect_values(struct store *store, enum store_table table, const char *const *keys,
                          const char *expected)
{
    struct store_bytes names[16] = {0}, values[16];
    struct store_arena arena = {0};
    char text[256] = "";
    size_t count = 0;
    for (; keys[count] != NULL; count++)
        names[count] = suite_text(keys[count]);
    memset(values, 0xee, sizeof(values));
    assert_int_equal(store_read_rows(&store->reader, table, names, count, values, &arena),
                     STATUS_OK);
    for (size_t i = 0; i < count; i++) {
        if (values[i].data == NULL)
            append(text, sizeof(text), "-", 1);
        else
            append(text, sizeof(text), values[i].data, values[i].length);
        append(text, sizeof(text), ".", 1);
    }
    assert_string_equal(text, expected);
    store_arena_destroy(&arena);
}

void store_suite_rows_few(void **state)
{
    (void)state;
    struct store *store = store_suite_open();
    const char *const keys[] = {"comment1", "comment2", "comment3", "comment1x", NULL};
    expect_values(store, STORE_COMMENT, keys, "-.-.-.-.");
    suite_put(store, STORE_COMMENT, "comment1", "one");
    suite_put(store, STORE_COMMENT, "comment3", "");
    suite_put(store, STORE_CONTENT, "comment2", "another table");
    expect_values(store, STORE_COMMENT, keys, "one.-..-.");
    const struct store_row rows[] = {suite_row(STORE_COMMENT, "comment3", NULL),
                                     suite_row(STORE_COMMENT, "comment1", "other"),
                                     suite_row(STORE_COMMENT, "comment1x", "longer key"),
                                     suite_row(STORE_COMMENT, "comment2", NULL)};
    suite_apply(store, (struct store_changes){.rows = rows, .row_count = 4});
    expect_values(store, STORE_COMMENT, keys, "other.-.-.longer key.");
    expect_values(store, STORE_CONTENT, keys, "-.another table.-.-.");
    assert_int_equal(store_flush(&store->applier), STATUS_OK);
    store = store_suite_reopen(store);
    expect_values(store, STORE_COMMENT, keys, "other.-.-.longer key.");
    char *dump = suite_dump(store);
    assert_string_equal(dump, "row 2 636f6d6d656e7431 6f74686572\n"
                              "row 2 636f6d6d656e743178 6c6f6e676572206b6579\n"
                              "row 3 636f6d6d656e7432 616e6f74686572207461626c65\n");
    free(dump);
    assert_int_equal(store_read_rows(&store->reader, STORE_USER, NULL, 0, NULL, NULL), STATUS_OK);
    suite_verify(store);
    suite_done(store);
}

/* Every table takes the shortest and the longest key, and values from nothing to the longest. */
void store_suite_rows_lengths(void **state)
{
    (void)state;
    struct store *store = store_suite_open();
    uint8_t *long_value = malloc(STORE_VALUE_MAX), key[STORE_KEY_MAX];
    struct store_arena arena = {0};
    memset(long_value, 'v', STORE_VALUE_MAX);
    for (unsigned table = 1; table < STORE_TABLES; table++)
        for (uint32_t rest = 0; rest <= STORE_REST_MAX; rest += STORE_REST_MAX) {
            memset(key, rest == 0 ? 0 : 0xff, sizeof(key));
            const struct store_row row = {
                .table = (uint8_t)table,
                .key = {.data = key, .length = (uint32_t)store_group_length(table) + rest},
                .value = {.data = long_value, .length = rest == 0 ? STORE_VALUE_MAX : 1}};
            suite_apply(store, (struct store_changes){.rows = &row, .row_count = 1});
            struct store_bytes value;
            assert_int_equal(store_read_rows(&store->reader, table, &row.key, 1, &value, &arena),
                             STATUS_OK);
            assert_int_equal(value.length, row.value.length);
            assert_memory_equal(value.data, long_value, value.length);
            struct store_row found;
            size_t count;
            bool more;
            const struct store_scan scan = {
                .table = table,
                .group = {.data = key, .length = (uint32_t)store_group_length(table)},
                .reverse = rest != 0,
                .limit_rows = 1};
            assert_int_equal(store_scan_rows(&store->reader, &scan, &found, &count, &more, &arena),
                             STATUS_OK);
            assert_true(count == 1 && !more && found.table == table);
            assert_int_equal(found.key.length, row.key.length);
            assert_memory_equal(found.key.data, key, row.key.length);
            assert_int_equal(found.value.length, row.value.length);
        }
    store_arena_destroy(&arena);
    free(long_value);
    suite_verify(store);
    suite_done(store);
}

/* The keys that a scan returns after their group, separated by spaces, and "…" if there are more. */
void suite_expect_scan(struct store *store, struct store_scan scan, const char *expected)
{
    struct store_row rows[64];
    struct store_arena arena = {0};
    char text[1024] = "";
    size_t count = 99;
    bool more;
    if (scan.limit_rows == 0)
        scan.limit_rows = 64;
    assert_int_equal(store_scan_rows(&store->reader, &scan, rows, &count, &more, &arena),
                     STATUS_OK);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(rows[i].table, scan.table);
        assert_false(rows[i].removed);
        assert_memory_equal(rows[i].key.data, scan.group.data, scan.group.length);
        append(text, sizeof(text), " ", i > 0);
        append(text, sizeof(text), rows[i].key.data + scan.group.length,
               rows[i].key.length - scan.group.length);
    }
    append(text, sizeof(text), "…", more ? strlen("…") : 0);
    assert_string_equal(text, expected);
    store_arena_destroy(&arena);
}

static const char *const groups[] = {"user-of-16-bytes", "user-of-16-bytet", "user-of-16-byter",
                                     "\xff\xff\xff\xff\xff\xff\xff\xff"
                                     "\xff\xff\xff\xff\xff\xff\xff\xff"};

static void fill_groups(struct store *store)
{
    const char *const rests[] = {"", "b", "ba", "bb", "d", "\xff", "\xff\xff"};
    for (size_t group = 0; group < 4; group++)
        for (size_t i = 0; i < 7; i++) {
            char key[64];
            snprintf(key, sizeof(key), "%s%s", groups[group], rests[i]);
            suite_put(store, STORE_INBOX, key, "12345");
            suite_put(store, STORE_WRITTEN, key, "x");
        }
}

void store_suite_rows_scan(void **state)
{
    (void)state;
    struct store *store = store_suite_open();
    fill_groups(store);
    for (size_t group = 0; group < 4; group++) {
        struct store_scan scan = {.table = STORE_INBOX, .group = suite_text(groups[group])};
        suite_expect_scan(store, scan, " b ba bb d \xff \xff\xff");
        scan.limit_rows = 3;
        suite_expect_scan(store, scan, " b ba…");
        scan.from = suite_text("ba");
        suite_expect_scan(store, scan, "bb d \xff…");
        scan.from = suite_text("bc");
        suite_expect_scan(store, scan, "d \xff \xff\xff");
        scan.from = suite_text("\xff\xff");
        suite_expect_scan(store, scan, "");
        scan.from = suite_text("b");
        scan.until = suite_text("bb");
        suite_expect_scan(store, scan, "ba");
        scan.until = suite_text("bbb");
        suite_expect_scan(store, scan, "ba bb");
        scan.until = suite_text("b");
        suite_expect_scan(store, scan, "");
        scan.until = suite_text("a");
        suite_expect_scan(store, scan, "");
    }
    const char *absent = "user-of-16-bytea";
    suite_expect_scan(store, (struct store_scan){.table = STORE_INBOX, .group = suite_text(absent)},
                      "");
    suite_expect_scan(store,
                      (struct store_scan){.table = STORE_USER, .group = suite_text(groups[0])}, "");
    suite_done(store);
}

void store_suite_rows_scan_reverse(void **state)
{
    (void)state;
    struct store *store = store_suite_open();
    fill_groups(store);
    assert_int_equal(store_flush(&store->applier), STATUS_OK);
    for (size_t group = 0; group < 4; group++) {
        struct store_scan scan = {
            .table = STORE_INBOX, .group = suite_text(groups[group]), .reverse = true};
        suite_expect_scan(store, scan, "\xff\xff \xff d bb ba b ");
        scan.limit_rows = 2;
        suite_expect_scan(store, scan, "\xff\xff \xff…");
        scan.from = suite_text("\xff");
        suite_expect_scan(store, scan, "d bb…");
        scan.from = suite_text("c");
        suite_expect_scan(store, scan, "bb ba…");
        scan.from = suite_text("ba");
        suite_expect_scan(store, scan, "b ");
        scan.from = suite_text("d");
        scan.until = suite_text("b");
        suite_expect_scan(store, scan, "bb ba");
        scan.until = suite_text("ba");
        suite_expect_scan(store, scan, "bb");
        scan.until = suite_text("d");
        suite_expect_scan(store, scan, "");
        scan.until = suite_text("e");
        suite_expect_scan(store, scan, "");
    }
    suite_done(store);
}

/* The bound counts keys and values, and the first row is returned even if it alone is more. */
void store_suite_rows_scan_bytes(void **state)
{
    (void)state;
    struct store *store = store_suite_open();
    fill_groups(store);
    struct store_scan scan = {
        .table = STORE_INBOX, .group = suite_text(groups[0]), .limit_bytes = 21 + 22};
    suite_expect_scan(store, scan, " b…");
    scan.limit_bytes--;
    suite_expect_scan(store, scan, "…");
    scan.limit_bytes = 1;
    suite_expect_scan(store, scan, "…");
    scan.from = suite_text("\xff");
    suite_expect_scan(store, scan, "\xff\xff");
    scan.reverse = true;
    scan.from = suite_text("b");
    suite_expect_scan(store, scan, "");
    scan.from = suite_text("bb");
    scan.limit_bytes = 23 + 22 + 21;
    suite_expect_scan(store, scan, "ba b ");
    scan.limit_rows = 2;
    suite_expect_scan(store, scan, "ba b…");
    suite_done(store);
}

/* Rows are part of their change: of its position, of its refusal, and of being applied once. */
void store_suite_rows_position(void **state)
{
    (void)state;
    struct store *store = store_suite_open();
    const char *const keys[] = {"comment1", "comment2", NULL};
    struct store_row row = suite_row(STORE_COMMENT, "comment1", "first");
    struct store_changes change = {.rows = &row, .row_count = 1, .position = 7};
    assert_int_equal(store_apply(&store->applier, &change), STATUS_OK);
    assert_int_equal(store_position(&store->applier), 7);
    row.value = suite_text("second");
    for (change.position = 6; change.position <= 7; change.position++)
        assert_int_equal(store_apply(&store->applier, &change), STATUS_OK);
    expect_values(store, STORE_COMMENT, keys, "first.-.");
    struct store_reaction claim = suite_reaction(3, 3, 1, 0);
    claim.was_live = true;
    const struct store_row two[] = {suite_row(STORE_COMMENT, "comment1", NULL),
                                    suite_row(STORE_COMMENT, "comment2", "two")};
    assert_int_equal(
        store_apply(&store->applier, &(struct store_changes){BOTH_SPANS(&claim, 1), .rows = two,
                                                             .row_count = 2, .position = 9}),
        STATUS_DAMAGED);
    expect_values(store, STORE_COMMENT, keys, "first.-.");
    assert_int_equal(
        store_apply(&store->applier,
                    &(struct store_changes){.rows = two, .row_count = 2, .position = 9}),
        STATUS_OK);
    expect_values(store, STORE_COMMENT, keys, "-.two.");
    suite_done(store);
}

struct visited {
    struct store_row last;
    uint8_t key[STORE_KEY_MAX];
    size_t count;
    size_t stop;
    uint32_t first, end;
};

static enum status visit_in_order(void *context, const struct store_row *row)
{
    struct visited *visited = context;
    uint32_t partition = store_group_partition(row->key.data, store_group_length(row->table));
    assert_in_range(partition, visited->first, visited->end - 1);
    if (visited->count > 0 && visited->last.table == row->table) {
        uint32_t before =
            store_group_partition(visited->key, store_group_length(visited->last.table));
        assert_true(before <= partition);
        if (before == partition) {
            uint32_t shorter = visited->last.key.length < row->key.length ? visited->last.key.length
                                                                          : row->key.length;
            int order = memcmp(visited->key, row->key.data, shorter);
            assert_true(order < 0 || (order == 0 && visited->last.key.length < row->key.length));
        }
    }
    assert_true(visited->count == 0 || visited->last.table <= row->table);
    visited->last = *row;
    memcpy(visited->key, row->key.data, row->key.length);
    return ++visited->count == visited->stop ? STATUS_NO_MEMORY : STATUS_OK;
}

static size_t visit_count(struct store *store, uint32_t tables, uint32_t first, uint32_t end)
{
    struct visited visited = {.first = first, .end = end == 0 ? STORE_PARTITIONS : end};
    const struct store_visitor visitor = {.row = visit_in_order,
                                          .context = &visited,
                                          .tables = tables,
                                          .partition_first = first,
                                          .partition_end = end};
    assert_int_equal(store_visit(&store->admin, &visitor), STATUS_OK);
    return visited.count;
}

void store_suite_rows_visit(void **state)
{
    (void)state;
    enum { ROWS = 300 };
    struct store *store = store_suite_open();
    struct store_row rows[2 * ROWS];
    char keys[ROWS][16];
    for (int i = 0; i < ROWS; i++) {
        snprintf(keys[i], sizeof(keys[i]), "%08d%d", i / 2, i % 2);
        rows[i] = suite_row(STORE_COMMENT, keys[i], "meta");
        rows[ROWS + i] = suite_row(STORE_HISTORY, keys[i], "text");
    }
    suite_apply(store, (struct store_changes){.rows = rows, .row_count = 2 * ROWS});
    assert_int_equal(visit_count(store, 0, 0, 0), 2 * ROWS);
    assert_int_equal(visit_count(store, store_table_bit(STORE_HISTORY), 0, 0), ROWS);
    assert_int_equal(
        visit_count(store, store_table_bit(STORE_HISTORY) | store_table_bit(STORE_QUEUE), 0, 0),
        ROWS);
    assert_int_equal(visit_count(store, store_table_bit(STORE_QUEUE), 0, 0), 0);
    size_t together = 0;
    for (uint32_t first = 0; first < STORE_PARTITIONS; first += STORE_PARTITIONS / 8) {
        size_t some = visit_count(store, 0, first, first + STORE_PARTITIONS / 8);
        assert_in_range(some, 1, 2 * ROWS - 1);
        together += some;
    }
    assert_int_equal(together, 2 * ROWS);
    struct visited stopped = {.stop = 3, .end = STORE_PARTITIONS};
    assert_int_equal(store_visit(&store->admin, &(struct store_visitor){.row = visit_in_order,
                                                                        .context = &stopped}),
                     STATUS_NO_MEMORY);
    assert_int_equal(stopped.count, 3);
    suite_done(store);
}

/* A token stands for a value, or for nothing. */
void store_suite_rows_tokens(void **state)
{
    (void)state;
    struct store *store = store_suite_open();
    const struct store_token tokens[] = {
        {.token = {1, 1}, .time_s = 100, .item = suite_count(1, 0, 0).item, .value = UINT64_MAX},
        {.token = {2, 2}, .time_s = 200, .item = suite_count(5, 0, 0).item, .value = 77},
        {.token = {3, 3}, .time_s = 200, .item = suite_count(5, 0, 0).item}};
    suite_apply(store, (struct store_changes){.item.tokens = tokens, .item.token_count = 3});
    const char *all = "token 1.1 100 1:0.1 = 18446744073709551615\n"
                      "token 2.2 200 1:5.5 = 77\n"
                      "token 3.3 200 1:5.5\n";
    assert_int_equal(store_flush(&store->applier), STATUS_OK);
    store = store_suite_reopen(store);
    char *dump = suite_dump(store);
    assert_string_equal(dump, all);
    free(dump);
    suite_verify(store);
    suite_apply(store, (struct store_changes){.item.token_horizon_s = 150});
    dump = suite_dump(store);
    assert_string_equal(dump, strchr(all, '\n') + 1);
    free(dump);
    suite_done(store);
}

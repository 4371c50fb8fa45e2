/* Many changes of rows: against a model, as files, in one crowded group, and with readers meanwhile. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chance.h"
#include "spans.h"
#include "store_suite_rows.h"

/*
 * The model is an array with an entry for each possible row: two tables with groups of 8 and 16 bytes,
 * four groups, and rests of up to three letters out of four, of which one is 0 and one is 255.
 */
enum { LETTERS = 4, RESTS = 1 + 4 + 16 + 64, GROUPS = 4, ENTRIES = 2 * GROUPS * RESTS };

struct entry {
    struct store_row row;
    uint8_t key[STORE_KEY_MAX];
    uint8_t value[24];
    bool there;
};

struct model {
    struct entry entries[ENTRIES]; /* of a group in the order of keys */
};

static const uint8_t letters[LETTERS] = {0, 'a', 'b', 255};

/* Writes the rests in order: each one is before those that begin with it. */
static void model_rests(struct entry **at, const uint8_t *key, uint32_t length, uint32_t rest,
                        uint8_t table)
{
    struct entry *entry = (*at)++;
    *entry = (struct entry){.row = {.table = table}};
    memcpy(entry->key, key, length + rest);
    entry->row.key = (struct store_bytes){.data = entry->key, .length = length + rest};
    for (uint32_t i = 0; rest < 3 && i < LETTERS; i++) {
        uint8_t longer[STORE_KEY_MAX];
        memcpy(longer, key, length + rest);
        longer[length + rest] = letters[i];
        model_rests(at, longer, length, rest + 1, table);
    }
}

static void model_start(struct model *model)
{
    struct entry *at = model->entries;
    for (int of = 0; of < 2 * GROUPS; of++) {
        uint8_t table = of < GROUPS ? STORE_COMMENT : STORE_INBOX, key[STORE_KEY_MAX] = {0};
        uint32_t length = (uint32_t)store_group_length(table);
        memset(key, of % 2 == 0 ? 0xff : 'g', length);
        key[length - 1] = (uint8_t)(of % GROUPS < 2 ? 0xff : 0);
        model_rests(&at, key, length, 0, table);
    }
    assert_int_equal(at - model->entries, ENTRIES);
}

static void model_change(struct model *model, struct chance *chance, struct store *store)
{
    static struct store_row rows[ENTRIES];
    size_t count = 0;
    uint32_t share = 1 + chance_below(chance, 20) * chance_below(chance, 20);
    for (size_t i = 0; i < ENTRIES; i++) {
        struct entry *entry = &model->entries[i];
        if (chance_below(chance, share) != 0)
            continue;
        entry->there = chance_below(chance, 3) != 0;
        entry->row.removed = !entry->there;
        uint32_t length = chance_below(chance, sizeof(entry->value) + 1);
        for (uint32_t byte = 0; byte < length; byte++)
            entry->value[byte] = (uint8_t)chance_next(chance);
        entry->row.value = (struct store_bytes){.data = entry->value, .length = length};
        rows[count++] = entry->row;
    }
    for (size_t i = count; i > 1; i--) {
        size_t other = chance_below(chance, (uint32_t)i);
        struct store_row swapped = rows[i - 1];
        rows[i - 1] = rows[other];
        rows[other] = swapped;
    }
    struct store_changes changes = {
        .rows = rows, .row_count = count, .position = store_position(&store->applier) + 1};
    for (uint32_t times = 1 + chance_below(chance, 3); times > 0; times--)
        assert_int_equal(store_apply(&store->applier, &changes), STATUS_OK);
    /* An older change that comes again has no effect. */
    changes.position--;
    for (size_t i = 0; i < count; i++)
        rows[i].removed = true;
    assert_int_equal(store_apply(&store->applier, &changes), STATUS_OK);
}

static void expect_row(const struct store_row *row, const struct entry *entry)
{
    assert_true(entry->there && row->table == entry->row.table);
    assert_int_equal(row->key.length, entry->row.key.length);
    assert_memory_equal(row->key.data, entry->key, row->key.length);
    assert_int_equal(row->value.length, entry->row.value.length);
    assert_memory_equal(row->value.data, entry->value, row->value.length);
}

static bool entry_is_wanted(const struct entry *entry, const struct entry *group,
                            const struct entry *from, const struct entry *until, bool reverse)
{
    if (entry < group || entry >= group + RESTS || !entry->there)
        return false;
    if (from != NULL && (reverse ? entry >= from : entry <= from))
        return false;
    return until == NULL || (reverse ? entry > until : entry < until);
}

static struct store_bytes rest_of(const struct entry *entry)
{
    uint32_t group = (uint32_t)store_group_length(entry->row.table);
    return (struct store_bytes){.data = entry->key + group,
                                .length = entry->row.key.length - group};
}

/* A bound must have at least one byte: the first entry of a group has none. */
static const struct entry *random_bound(const struct entry *group, struct chance *chance)
{
    return chance_below(chance, 2) == 0 ? NULL : group + 1 + chance_below(chance, RESTS - 1);
}

static void model_scan(const struct model *model, struct chance *chance, struct store *store)
{
    struct store_row rows[RESTS];
    struct store_arena arena = {0};
    const struct entry *group = &model->entries[(size_t)chance_below(chance, 2 * GROUPS) * RESTS];
    const struct entry *from = random_bound(group, chance), *until = random_bound(group, chance);
    struct store_scan scan = {.table = group->row.table,
                              .group = group->row.key,
                              .reverse = chance_below(chance, 2) == 0,
                              .limit_rows = chance_below(chance, RESTS + 1),
                              .limit_bytes = chance_below(chance, 2) * chance_below(chance, 2000)};
    if (from != NULL)
        scan.from = rest_of(from);
    if (until != NULL)
        scan.until = rest_of(until);
    size_t count, expected = 0, bytes = 0;
    bool more;
    assert_int_equal(store_scan_rows(&store->reader, &scan, rows, &count, &more, &arena),
                     STATUS_OK);
    bool expected_more = false;
    for (size_t i = 0; !expected_more && i < RESTS; i++) {
        const struct entry *entry = scan.reverse ? group + RESTS - 1 - i : group + i;
        if (!entry_is_wanted(entry, group, from, until, scan.reverse))
            continue;
        bytes += entry->row.key.length + entry->row.value.length;
        expected_more = expected == scan.limit_rows ||
                        (expected > 0 && scan.limit_bytes != 0 && bytes > scan.limit_bytes);
        if (expected_more)
            break;
        assert_true(expected < count);
        expect_row(&rows[expected++], entry);
    }
    assert_int_equal(count, expected);
    assert_int_equal(more, expected_more);
    store_arena_destroy(&arena);
}

static void model_read(const struct model *model, struct store *store)
{
    struct store_arena arena = {0};
    static struct store_bytes keys[ENTRIES / 2], values[ENTRIES / 2];
    for (size_t first = 0; first < ENTRIES; first += ENTRIES / 2) {
        for (size_t i = 0; i < ENTRIES / 2; i++)
            keys[i] = model->entries[first + i].row.key;
        assert_int_equal(store_read_rows(&store->reader, model->entries[first].row.table, keys,
                                         ENTRIES / 2, values, &arena),
                         STATUS_OK);
        for (size_t i = 0; i < ENTRIES / 2; i++) {
            const struct entry *entry = &model->entries[first + i];
            assert_int_equal(values[i].data != NULL, entry->there);
            if (entry->there)
                expect_row(&(struct store_row){.table = entry->row.table,
                                               .key = keys[i],
                                               .value = values[i]},
                           entry);
        }
        store_arena_empty(&arena);
    }
    store_arena_destroy(&arena);
}

static enum status count_row(void *context, const struct store_row *row)
{
    assert_true(store_key_fits(row->table, row->key.length));
    ++*(size_t *)context;
    return STATUS_OK;
}

void store_suite_rows_model(void **state)
{
    (void)state;
    static struct model model;
    struct chance chance = {test_seed()};
    struct store *store = store_suite_open();
    model_start(&model);
    for (int round = 0; round < 400 / SANITIZED_PART; round++) {
        model_change(&model, &chance, store);
        for (int i = 0; i < 20; i++)
            model_scan(&model, &chance, store);
        if (chance_below(&chance, 10) == 0)
            model_read(&model, store);
        if (chance_below(&chance, 10) == 0)
            assert_int_equal(store_flush(&store->applier), STATUS_OK);
        if (chance_below(&chance, 20) == 0) {
            assert_int_equal(store_flush(&store->applier), STATUS_OK);
            store = store_suite_reopen(store);
        }
        if (chance_below(&chance, 50) == 0)
            assert_int_equal(store_compact(&store->admin, NULL, NULL), STATUS_OK);
    }
    model_read(&model, store);
    size_t there = 0, visited = 0;
    for (size_t i = 0; i < ENTRIES; i++)
        there += model.entries[i].there;
    assert_int_equal(
        store_visit(&store->admin, &(struct store_visitor){.row = count_row, .context = &visited}),
        STATUS_OK);
    assert_int_equal(visited, there);
    suite_verify(store);
    suite_done(store);
}

/* Reactions, counters, tokens, names and rows in one change, which some stores write as files. */
void store_suite_rows_large_batch(void **state)
{
    (void)state;
    enum { MANY = 3000 };
    struct store *store = store_suite_open();
    struct store_reaction *reactions = calloc(MANY, sizeof(*reactions));
    struct store_count *counts = calloc(MANY, sizeof(*counts));
    struct store_token *tokens = calloc(MANY, sizeof(*tokens));
    struct store_row *rows = calloc(MANY, sizeof(*rows));
    char(*keys)[24] = calloc(MANY, sizeof(*keys));
    struct store_name name = suite_name(1, 0, "video");
    for (uint32_t i = 0; i < MANY; i++) {
        reactions[i] = suite_reaction(i, i, 0, i + 1);
        counts[i] = suite_count(i, 0, 1);
        tokens[i] = (struct store_token){.token = {i, i}, .time_s = i + 1, .value = i};
        snprintf(keys[i], sizeof(keys[i]), "%08u-%u", i % 7, i);
        rows[i] = suite_row(i % 2 ? STORE_CONTENT : STORE_COMMENT, keys[i], keys[i]);
    }
    suite_apply(store, (struct store_changes){BOTH_SPANS(reactions, MANY), .item.counts = counts,
                                              .item.count_count = MANY, .item.tokens = tokens,
                                              .item.token_count = MANY, .names = &name,
                                              .name_count = 1, .rows = rows, .row_count = MANY});
    suite_verify(store);
    for (uint32_t i = 0; i < MANY; i++)
        rows[i].removed = i % 3 != 0;
    suite_apply(store, (struct store_changes){.rows = rows, .row_count = MANY});
    struct store_bytes value;
    struct store_arena arena = {0};
    for (uint32_t i = 0; i < MANY; i++) {
        assert_int_equal(
            store_read_rows(&store->reader, rows[i].table, &rows[i].key, 1, &value, &arena),
            STATUS_OK);
        assert_int_equal(value.data != NULL, i % 3 == 0);
        if (i % 3 == 0)
            assert_memory_equal(value.data, keys[i], strlen(keys[i]));
    }
    size_t visited = 0;
    assert_int_equal(
        store_visit(&store->admin, &(struct store_visitor){.row = count_row, .context = &visited}),
        STATUS_OK);
    assert_int_equal(visited, MANY / 3);
    store_arena_destroy(&arena);
    free(reactions);
    free(counts);
    free(tokens);
    free(rows);
    free(keys);
    suite_verify(store);
    suite_done(store);
}

/* An order of ten comments, each at its likes; the row of one that gets a like moves. */
enum { PARENT_BYTES = 19, COMMENTS = 10 };

static struct store_row order_row(uint8_t *key, uint32_t likes, uint32_t comment)
{
    memset(key, 'p', PARENT_BYTES);
    for (int i = 0; i < 4; i++)
        key[PARENT_BYTES + i] = (uint8_t)(~likes >> (24 - 8 * i));
    key[PARENT_BYTES + 4] = (uint8_t)comment;
    return (struct store_row){.table = STORE_ORDER,
                              .key = {.data = key, .length = PARENT_BYTES + 5}};
}

/* The page of an order is exact, however often its rows have moved. */
static void expect_order(struct store *store, const uint32_t *likes, bool reverse)
{
    struct store_row rows[COMMENTS + 1];
    struct store_arena arena = {0};
    size_t count;
    bool more, seen[COMMENTS] = {false};
    uint8_t group[PARENT_BYTES];
    memset(group, 'p', sizeof(group));
    const struct store_scan scan = {.table = STORE_ORDER,
                                    .group = {.data = group, .length = PARENT_BYTES},
                                    .reverse = reverse,
                                    .limit_rows = COMMENTS + 1};
    assert_int_equal(store_scan_rows(&store->reader, &scan, rows, &count, &more, &arena),
                     STATUS_OK);
    assert_int_equal(count, COMMENTS);
    for (size_t i = 0; i < count; i++) {
        uint8_t comment = rows[i].key.data[PARENT_BYTES + 4], key[STORE_KEY_MAX];
        struct store_row expected = order_row(key, likes[comment], comment);
        assert_memory_equal(rows[i].key.data, key, expected.key.length);
        assert_false(seen[comment]);
        seen[comment] = true;
    }
    store_arena_destroy(&arena);
}

void store_suite_rows_crowded(void **state)
{
    (void)state;
    enum { MOVES = 30000 / SANITIZED_PART, WINDOW = 8 };
    struct chance chance = {test_seed()};
    struct store *store = store_suite_open();
    uint32_t likes[COMMENTS] = {0};
    uint8_t keys[2 * COMMENTS][STORE_KEY_MAX];
    struct store_row rows[2 * COMMENTS];
    for (uint32_t i = 0; i < COMMENTS; i++)
        rows[i] = order_row(keys[i], 0, i);
    suite_apply(store, (struct store_changes){.rows = rows, .row_count = COMMENTS});
    for (int moves = 0; moves < MOVES; moves += WINDOW) {
        uint32_t before[COMMENTS];
        size_t count = 0;
        memcpy(before, likes, sizeof(before));
        for (int i = 0; i < WINDOW; i++)
            likes[chance_below(&chance, 1 + chance_below(&chance, COMMENTS))]++;
        for (uint32_t i = 0; i < COMMENTS; i++)
            if (likes[i] != before[i]) {
                rows[count] = order_row(keys[count], before[i], i);
                rows[count++].removed = true;
                rows[count] = order_row(keys[count], likes[i], i);
                count++;
            }
        suite_apply(store, (struct store_changes){.rows = rows, .row_count = count});
        if (moves % (WINDOW * 16) == 0)
            expect_order(store, likes, moves % (WINDOW * 32) == 0);
    }
    expect_order(store, likes, false);
    suite_verify(store);
    suite_done(store);
}

/*
 * A writer replaces three rows of a group by three others, whose keys and values have the number of the
 * change; nobody may see two numbers at the same time.
 */
struct scanner {
    pthread_t thread;
    struct store *store;
    atomic_bool *stop;
    uint64_t torn;
    uint64_t scans;
};

enum { PER_ROUND = 3 };

static struct store_row numbered(uint8_t key[16], uint32_t number, uint32_t which)
{
    memset(key, 'c', 8);
    key[8] = (uint8_t)(number % 251);
    key[9] = (uint8_t)which;
    memcpy(key + 10, &number, 4);
    return (struct store_row){.table = STORE_HISTORY,
                              .key = {.data = key, .length = 14},
                              .value = {.data = key + 10, .length = 4}};
}

static uint64_t torn_scan(struct store *store, bool reverse, struct store_arena *arena)
{
    struct store_row rows[8];
    size_t count = 0;
    bool more;
    const struct store_scan scan = {.table = STORE_HISTORY,
                                    .group = {.data = (const uint8_t *)"cccccccc", .length = 8},
                                    .reverse = reverse,
                                    .limit_rows = 8};
    store_arena_empty(arena);
    if (store_scan_rows(&store->reader, &scan, rows, &count, &more, arena) != STATUS_OK ||
        count != PER_ROUND || more)
        return 1;
    for (size_t i = 0; i < count; i++)
        if (memcmp(rows[i].value.data, rows[0].value.data, 4) != 0 ||
            rows[i].key.data[9] != (reverse ? count - 1 - i : i))
            return 1;
    struct store_bytes keys[PER_ROUND], values[PER_ROUND];
    for (size_t i = 0; i < count; i++)
        keys[i] = rows[i].key;
    if (store_read_rows(&store->reader, STORE_HISTORY, keys, PER_ROUND, values, arena) != STATUS_OK)
        return 1;
    for (size_t i = 1; i < count; i++)
        if ((values[i].data == NULL) != (values[0].data == NULL))
            return 1;
    return 0;
}

static void *scanner_work(void *context)
{
    struct scanner *scanner = context;
    struct store_arena arena = {0};
    while (!atomic_load(scanner->stop) || scanner->scans < 50) {
        scanner->torn += torn_scan(scanner->store, scanner->scans % 2 == 1, &arena);
        scanner->scans++;
    }
    store_arena_destroy(&arena);
    return NULL;
}

/* On a busy machine the scanners may have snapshots for longer than one call waits. */
static void compact(struct store *store)
{
    enum status status;
    do {
        status = store_compact(&store->admin, NULL, NULL);
    } while (status == STATUS_TOO_BUSY);
    assert_int_equal(status, STATUS_OK);
}

static void replace_rows(struct store *store, uint32_t number)
{
    uint8_t keys[2 * PER_ROUND][16];
    struct store_row rows[2 * PER_ROUND];
    size_t count = 0;
    for (uint32_t i = 0; i < PER_ROUND; i++) {
        rows[count] = numbered(keys[count], number, i);
        count++;
        if (number > 1) {
            rows[count] = numbered(keys[count], number - 1, i);
            rows[count++].removed = true;
        }
    }
    suite_apply(store, (struct store_changes){.rows = rows, .row_count = count});
}

void store_suite_rows_threads(void **state)
{
    (void)state;
    enum { SCANNERS = 2, ROUNDS = 6000 / SANITIZED_PART };
    struct store *store = store_suite_open();
    atomic_bool stop = false;
    struct scanner scanners[SCANNERS];
    replace_rows(store, 1);
    for (uint32_t i = 0; i < SCANNERS; i++) {
        scanners[i] = (struct scanner){.store = store, .stop = &stop};
        assert_int_equal(pthread_create(&scanners[i].thread, NULL, scanner_work, &scanners[i]), 0);
    }
    for (uint32_t number = 2; number <= ROUNDS; number++) {
        replace_rows(store, number);
        if (number % 500 == 0)
            assert_int_equal(store_flush(&store->applier), STATUS_OK);
        if (number % (ROUNDS / 2) == 0)
            compact(store);
    }
    atomic_store(&stop, true);
    for (uint32_t i = 0; i < SCANNERS; i++) {
        pthread_join(scanners[i].thread, NULL);
        assert_int_equal(scanners[i].torn, 0);
        assert_true(scanners[i].scans >= 50);
    }
    suite_done(store);
}

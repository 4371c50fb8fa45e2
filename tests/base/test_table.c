#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/table.h"
#include "chance.h"

struct bed {
    struct memory_budget budget;
    struct slab_pool *pool;
    struct slab slab;
    struct table table;
    uint64_t hash_mask; /* fewer bits: more rows with the same hash */
};

static void bed_open(struct bed *bed, uint64_t limit, uint64_t hash_mask)
{
    *bed = (struct bed){.budget.limit = limit, .hash_mask = hash_mask};
    bed->pool = slab_pool_new(&bed->budget);
    assert_non_null(bed->pool);
    assert_true(slab_init(&bed->slab, bed->pool));
    table_init(&bed->table, &bed->slab);
}

static void bed_close(struct bed *bed)
{
    table_destroy(&bed->table);
    slab_destroy(&bed->slab);
    slab_pool_free(bed->pool);
    assert_int_equal(memory_used(&bed->budget), 0);
}

static uint64_t hash_of(const struct bed *bed, uint64_t key)
{
    return hash_mix(key, 5) & bed->hash_mask;
}

static uint32_t find(const struct bed *bed, uint64_t key)
{
    struct table_walk walk = table_walk_start(&bed->table, hash_of(bed, key));
    for (;;) {
        uint32_t cell = table_walk_next(&walk);
        if (cell == 0 || *(uint64_t *)slab_at(&bed->slab, cell) == key)
            return cell;
    }
}

static bool insert(struct bed *bed, uint64_t key)
{
    if (!table_reserve(&bed->table, hash_of(bed, key)))
        return false;
    uint32_t cell = slab_alloc(&bed->slab, 8);
    if (cell == 0)
        return false;
    *(uint64_t *)slab_at(&bed->slab, cell) = key;
    table_insert(&bed->table, hash_of(bed, key), cell);
    return true;
}

static void remove_key(struct bed *bed, uint64_t key)
{
    uint32_t cell = find(bed, key);
    table_remove(&bed->table, hash_of(bed, key), cell);
    slab_free(&bed->slab, cell, 8);
}

struct tally {
    uint64_t count;
    uint64_t sum;
};

static void count_row(void *context, struct slab *slab, void *row)
{
    (void)slab;
    struct tally *tally = context;
    tally->count++;
    tally->sum += *(uint64_t *)row;
}

static void check_whole(uint64_t keys, uint64_t hash_mask)
{
    struct bed bed;
    bed_open(&bed, MIB(256), hash_mask);
    assert_int_equal(find(&bed, 1), 0);
    for (uint64_t key = 1; key <= keys; key++) {
        assert_int_equal(find(&bed, key), 0);
        assert_true(insert(&bed, key));
        if (key % 3 == 0)
            remove_key(&bed, key / 3);
    }
    struct tally expected = {0};
    for (uint64_t key = 1; key <= keys; key++) {
        bool there = key > keys / 3;
        assert_int_equal(find(&bed, key) != 0, there);
        expected.count += there;
        expected.sum += there ? key : 0;
    }
    struct tally tally = {0};
    table_visit(&bed.table, count_row, &tally);
    assert_int_equal(tally.count, expected.count);
    assert_int_equal(tally.sum, expected.sum);
    assert_int_equal(bed.table.rows, expected.count);
    bed_close(&bed);
}

static void test_finds_what_is_there(void **state)
{
    (void)state;
    check_whole(100000, UINT64_MAX);
}

/* Few hashes for many rows: long rests, all of them split again and again. */
static void test_finds_among_equal_hashes(void **state)
{
    (void)state;
    check_whole(3000, 0xff);
    check_whole(300, 0);
    check_whole(3000, 0x3f00000000ULL);
}

static void test_stays_small(void **state)
{
    (void)state;
    struct bed bed;
    bed_open(&bed, MIB(256), UINT64_MAX);
    for (uint64_t key = 1; key <= 200000; key++)
        assert_true(insert(&bed, key));
    assert_in_range(memory_used(&bed.budget) / 200000, 8, 8 + 16);
    bed_close(&bed);
}

static void test_replace_moves_a_row(void **state)
{
    (void)state;
    struct bed bed;
    bed_open(&bed, MIB(16), UINT64_MAX);
    for (uint64_t key = 1; key <= 1000; key++)
        assert_true(insert(&bed, key));
    uint32_t old_cell = find(&bed, 500);
    uint32_t new_cell = slab_alloc(&bed.slab, 16);
    *(uint64_t *)slab_at(&bed.slab, new_cell) = 500;
    table_replace(&bed.table, hash_of(&bed, 500), old_cell, new_cell);
    assert_int_equal(find(&bed, 500), new_cell);
    assert_int_equal(table_peek(table_prefetch(&bed.table, hash_of(&bed, 500)), hash_of(&bed, 500)),
                     new_cell);
    assert_int_equal(bed.table.rows, 1000);
    bed_close(&bed);
}

/* Every row is found by peeking at its bucket, or else at the bucket's rest; some are in the rest. */
static void test_peek_finds_the_rest(void **state)
{
    (void)state;
    struct bed bed;
    bed_open(&bed, MIB(16), UINT64_MAX);
    for (uint64_t key = 1; key <= 100000; key++)
        assert_true(insert(&bed, key));
    unsigned direct = 0, in_rest = 0;
    for (uint64_t key = 1; key <= 100000; key++) {
        uint64_t hash = hash_of(&bed, key);
        uint32_t next = table_peek(table_prefetch(&bed.table, hash), hash);
        bool linked = next & TABLE_LINK;
        direct += !linked && next != 0;
        if (linked)
            next = table_peek(slab_hint(&bed.slab, next & ~TABLE_LINK), hash);
        in_rest += linked && next != 0 && !(next & TABLE_LINK);
        assert_true(next == 0 || next & TABLE_LINK || next == find(&bed, key));
    }
    assert_true(direct > 70000);
    assert_in_range(direct + in_rest, 99900, 100000);
    assert_true(in_rest > 1000);
    bed_close(&bed);
}

/* Where there is none, nothing is found, or the rest of a bucket in which there is none either. */
static void test_peek_finds_nothing(void **state)
{
    (void)state;
    struct bed bed;
    bed_open(&bed, MIB(16), UINT64_MAX);
    assert_int_equal(table_peek(table_prefetch(&bed.table, 1), 1), 0);
    for (uint64_t key = 1; key <= 10000; key++)
        assert_true(insert(&bed, key));
    unsigned linked = 0, wrong = 0;
    for (uint64_t key = 10001; key <= 20000; key++) {
        uint64_t hash = hash_of(&bed, key);
        uint32_t next = table_peek(table_prefetch(&bed.table, hash), hash);
        linked += (next & TABLE_LINK) != 0;
        while (next & TABLE_LINK)
            next = table_peek(slab_hint(&bed.slab, next & ~TABLE_LINK), hash);
        wrong += next != 0; /* all 32 bits of another's tag */
    }
    assert_true(linked > 100 && linked < 5000);
    assert_true(wrong < 3);
    bed_close(&bed);
}

/* Without memory to grow the table goes on until there is none for rows; nothing is lost. */
static void test_full_budget_loses_nothing(void **state)
{
    (void)state;
    struct bed bed;
    bed_open(&bed, 10 * SLAB_PAGE_BYTES, UINT64_MAX);
    uint64_t keys = 0;
    while (insert(&bed, keys + 1))
        keys++;
    assert_true(keys > 8000);
    assert_true(memory_used(&bed.budget) <= bed.budget.limit);
    for (uint64_t key = 1; key <= keys; key++)
        assert_int_not_equal(find(&bed, key), 0);
    assert_int_equal(find(&bed, keys + 1), 0);
    bed_close(&bed);
}

/* What a walk may meet: rows that it moves or removes, and others that come and go meanwhile. */
enum { KEYS = 20000 };

enum key_state {
    KEY_ABSENT,
    KEY_NEW,    /* inserted since the walk began: may be missed */
    KEY_STAYED, /* there since before: may not */
};

struct walker {
    struct bed bed;
    struct chance chance;
    uint8_t states[KEYS + 1];
    uint32_t visits[KEYS + 1];
    uint32_t rows;
    uint32_t stuck; /* rows that could not be moved */
};

static bool row_move(struct walker *walker, uint64_t key, uint32_t cell)
{
    struct bed *bed = &walker->bed;
    uint32_t to = slab_alloc(&bed->slab, 8);
    if (to == 0)
        return false;
    *(uint64_t *)slab_at(&bed->slab, to) = key;
    table_replace(&bed->table, hash_of(bed, key), cell, to);
    slab_free(&bed->slab, cell, 8);
    return true;
}

static void walker_remove(struct walker *walker, uint64_t key)
{
    remove_key(&walker->bed, key);
    walker->states[key] = KEY_ABSENT;
    walker->rows--;
}

static void walker_visit(void *context, struct slab *slab, uint32_t cell)
{
    struct walker *walker = context;
    uint64_t key = *(uint64_t *)slab_at(slab, cell);
    assert_in_range(key, 1, KEYS);
    assert_int_not_equal(walker->states[key], KEY_ABSENT);
    walker->visits[key]++;
    uint32_t what = chance_below(&walker->chance, 8);
    if (what == 0)
        walker_remove(walker, key);
    else if (what == 1 || slab_is_retiring(slab, cell))
        walker->stuck += !row_move(walker, key, cell) && slab_is_retiring(slab, cell);
}

static void walker_meddle(struct walker *walker, uint32_t times)
{
    while (times-- != 0) {
        uint64_t key = 1 + chance_below(&walker->chance, KEYS);
        uint32_t cell = find(&walker->bed, key);
        assert_int_equal(cell != 0, walker->states[key] != KEY_ABSENT);
        if (cell == 0 && insert(&walker->bed, key)) {
            walker->states[key] = KEY_NEW;
            walker->rows++;
        } else if (cell != 0 && chance_below(&walker->chance, 4) == 0) {
            walker_remove(walker, key);
        } else if (cell != 0) {
            (void)row_move(walker, key, cell);
        }
    }
}

static void walker_check_round(struct walker *walker)
{
    for (uint64_t key = 1; key <= KEYS; key++) {
        if (walker->states[key] == KEY_STAYED)
            assert_int_not_equal(walker->visits[key], 0);
        assert_int_equal(find(&walker->bed, key) != 0, walker->states[key] != KEY_ABSENT);
    }
    assert_int_equal(walker->bed.table.rows, walker->rows);
}

/* One walk; pages retire by it if it gets everything out of them. Returns how many did. */
static uint32_t walker_round(struct walker *walker)
{
    struct bed *bed = &walker->bed;
    for (uint64_t key = 1; key <= KEYS; key++)
        if (walker->states[key] != KEY_ABSENT)
            walker->states[key] = KEY_STAYED;
    memset(walker->visits, 0, sizeof(walker->visits));
    walker->stuck = 0;
    uint32_t retiring = slab_retire_begin(&bed->slab, chance_below(&walker->chance, 20));
    uint32_t cursor = 0;
    do {
        cursor = table_visit_some(&bed->table, cursor, 1 + chance_below(&walker->chance, 200),
                                  walker_visit, walker);
        walker_meddle(walker, chance_below(&walker->chance, 200));
    } while (cursor != 0);
    walker_check_round(walker);
    if (slab_retire_left(&bed->slab) != 0) {
        slab_retire_cancel(&bed->slab);
        return 0;
    }
    assert_int_equal(walker->stuck, 0);
    slab_retire_end(&bed->slab);
    return retiring;
}

static void check_walks(uint64_t limit, uint64_t hash_mask, uint32_t rounds)
{
    struct walker *walker = calloc(1, sizeof(*walker));
    assert_non_null(walker);
    bed_open(&walker->bed, limit, hash_mask);
    walker->chance.state = test_seed();
    assert_int_equal(table_visit_some(&walker->bed.table, 0, 10, walker_visit, walker), 0);
    walker_meddle(walker, KEYS / 4);
    uint32_t retired = 0;
    for (uint32_t round = 0; round < rounds; round++)
        retired += walker_round(walker);
    assert_int_not_equal(retired, 0);
    bed_close(&walker->bed);
    free(walker);
}

static void test_walk_misses_none_that_stayed(void **state)
{
    (void)state;
    check_walks(MIB(16), UINT64_MAX, 30);
}

static void test_walk_of_long_rests(void **state)
{
    (void)state;
    check_walks(MIB(16), 0xff, 10);
    check_walks(MIB(16), 0x3f0000001fULL, 4);
}

static void test_walk_in_a_full_budget(void **state)
{
    (void)state;
    check_walks(8 * SLAB_PAGE_BYTES, UINT64_MAX, 40);
}

static void ignore_row(void *context, struct slab *slab, uint32_t cell)
{
    (void)context;
    (void)slab;
    (void)cell;
}

/* Once the rows are gone, a walk frees the cells that long buckets needed for them. */
static void test_walk_tightens(void **state)
{
    (void)state;
    struct bed bed;
    bed_open(&bed, MIB(16), 0);
    for (uint64_t key = 1; key <= 6000; key++)
        assert_true(insert(&bed, key));
    for (uint64_t key = 2; key <= 6000; key++)
        remove_key(&bed, key);
    uint32_t before = slab_retire_empty(&bed.slab);
    assert_int_equal(table_visit_some(&bed.table, 0, UINT32_MAX, ignore_row, NULL), 0);
    assert_in_range(slab_idle_bytes(&bed.slab), SLAB_PAGE_BYTES, MIB(16));
    uint32_t pages = bed.slab.page_count - before;
    uint32_t after = slab_retire_empty(&bed.slab);
    uint32_t segments = atomic_load(&bed.table.buckets) / TABLE_SEGMENT_BUCKETS + 1;
    uint32_t fixed = segments / (SLAB_PAGE_BYTES / 4096) + 1;
    assert_in_range(after, pages - fixed - 2, pages);
    assert_int_not_equal(find(&bed, 1), 0);
    bed_close(&bed);
}

/* No memory to move the table's own cells to: they stay, all is found, and the owner can tell. */
static void test_walk_without_memory_reports(void **state)
{
    (void)state;
    struct bed bed;
    bed_open(&bed, 10 * SLAB_PAGE_BYTES, 0);
    uint64_t keys = 0;
    while (insert(&bed, keys + 1))
        keys++;
    while (slab_alloc(&bed.slab, 8) != 0) {
    }
    uint32_t picked = slab_retire_begin(&bed.slab, 3);
    assert_int_equal(picked, 3);
    assert_int_equal(table_visit_some(&bed.table, 0, UINT32_MAX, ignore_row, NULL), 0);
    assert_int_not_equal(slab_retire_left(&bed.slab), 0);
    slab_retire_cancel(&bed.slab);
    struct tally tally = {0};
    table_visit(&bed.table, count_row, &tally);
    assert_int_equal(tally.count, keys);
    assert_int_equal(tally.sum, keys * (keys + 1) / 2);
    bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finds_what_is_there),
        cmocka_unit_test(test_finds_among_equal_hashes),
        cmocka_unit_test(test_stays_small),
        cmocka_unit_test(test_replace_moves_a_row),
        cmocka_unit_test(test_peek_finds_the_rest),
        cmocka_unit_test(test_peek_finds_nothing),
        cmocka_unit_test(test_full_budget_loses_nothing),
        cmocka_unit_test(test_walk_misses_none_that_stayed),
        cmocka_unit_test(test_walk_of_long_rests),
        cmocka_unit_test(test_walk_in_a_full_budget),
        cmocka_unit_test(test_walk_tightens),
        cmocka_unit_test(test_walk_without_memory_reports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

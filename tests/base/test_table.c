#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/table.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finds_what_is_there),
        cmocka_unit_test(test_finds_among_equal_hashes),
        cmocka_unit_test(test_stays_small),
        cmocka_unit_test(test_replace_moves_a_row),
        cmocka_unit_test(test_full_budget_loses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

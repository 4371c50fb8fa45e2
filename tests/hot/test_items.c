#include "support.h"

struct item_bed {
    struct memory_budget budget;
    struct slab_pool *pool;
    struct item_shard shard;
};

static void item_bed_open(struct item_bed *bed, uint64_t limit)
{
    memset(bed, 0, sizeof(*bed));
    bed->budget.limit = limit;
    bed->pool = slab_pool_new(&bed->budget);
    assert_non_null(bed->pool);
    assert_true(item_shard_init(&bed->shard, bed->pool));
}

static void item_bed_close(struct item_bed *bed)
{
    item_shard_destroy(&bed->shard);
    slab_pool_free(bed->pool);
    assert_int_equal(memory_used(&bed->budget), 0);
}

static enum status add(struct item_bed *bed, struct item item, uint8_t name, int64_t delta)
{
    uint64_t hash = item_hash(item, 3);
    uint32_t cell = item_cell(&bed->shard, hash, item);
    enum status status = item_reserve(&bed->shard, hash, item, name, delta, 0, &cell);
    if (status == STATUS_OK)
        item_add(&bed->shard, item_at(&bed->shard, cell), name, delta, 77);
    return status;
}

static int64_t value(struct item_bed *bed, struct item item, uint8_t name)
{
    return item_value(item_find(&bed->shard, item_hash(item, 3), item), name);
}

/* All names there can be, in rows that grow step by step, narrow and wide. */
static void test_every_counter_fits_a_row(void **state)
{
    (void)state;
    struct item_bed bed;
    item_bed_open(&bed, MIB(16));
    for (uint32_t name = 0; name < LIMIT_NAMES; name++) {
        for (uint32_t number = 0; number < 12; number++)
            assert_int_equal(add(&bed, item_number(number), (uint8_t)name, name * 10 + number),
                             STATUS_OK);
        for (uint32_t number = 0; number < 12; number++)
            for (uint32_t before = 0; before <= name; before++)
                assert_int_equal(value(&bed, item_number(number), (uint8_t)before),
                                 before * 10 + number);
    }
    struct hot_counter counters[LIMIT_NAMES];
    struct item item = item_number(5);
    struct item_row *row = item_find(&bed.shard, item_hash(item, 3), item);
    assert_int_equal(row->count, LIMIT_NAMES);
    assert_true(item_equal(item_of(row), item));
    assert_int_equal(item_read(row, counters), LIMIT_NAMES);
    for (uint32_t i = 0; i < LIMIT_NAMES; i++)
        assert_int_equal(counters[i].value, counters[i].name * 10 + 5);
    assert_int_equal(bed.shard.table.rows, 12);
    item_bed_close(&bed);
}

static void test_values_widen(void **state)
{
    (void)state;
    struct item_bed bed;
    struct item narrow = item_number(0);
    struct item wide = item_number(4);
    assert_true(id_is_wide(wide.id));
    item_bed_open(&bed, MIB(1));
    const struct item items[] = {narrow, wide};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(add(&bed, items[i], 1, INT32_MAX), STATUS_OK);
        assert_int_equal(add(&bed, items[i], 2, INT32_MIN), STATUS_OK);
        assert_int_equal(add(&bed, items[i], 1, 1), STATUS_OK);
        assert_true(value(&bed, items[i], 1) == (int64_t)INT32_MAX + 1);
        assert_true(value(&bed, items[i], 2) == INT32_MIN);
        assert_int_equal(add(&bed, items[i], 2, -1), STATUS_OK);
        assert_true(value(&bed, items[i], 2) == (int64_t)INT32_MIN - 1);
    }
    item_bed_close(&bed);
}

static void test_overflow_is_refused(void **state)
{
    (void)state;
    struct item_bed bed;
    struct item item = item_number(1);
    item_bed_open(&bed, MIB(1));
    assert_int_equal(add(&bed, item, 1, INT64_MAX), STATUS_OK);
    assert_int_equal(add(&bed, item, 1, 1), STATUS_COUNTER_OVERFLOW);
    assert_true(value(&bed, item, 1) == INT64_MAX);
    assert_int_equal(add(&bed, item, 2, INT64_MIN), STATUS_OK);
    assert_int_equal(add(&bed, item, 2, -1), STATUS_COUNTER_OVERFLOW);
    assert_true(value(&bed, item, 2) == INT64_MIN);
    assert_int_equal(add(&bed, item, 2, INT64_MAX), STATUS_OK);
    assert_true(value(&bed, item, 2) == -1);
    item_bed_close(&bed);
}

/* What is reserved and not used can be read as nothing. */
static void test_reserving_shows_nothing(void **state)
{
    (void)state;
    struct item_bed bed;
    uint32_t cell = 0;
    struct hot_counter counters[LIMIT_NAMES];
    struct item item = item_number(1);
    uint64_t hash = item_hash(item, 3);
    item_bed_open(&bed, MIB(1));
    assert_int_equal(item_reserve(&bed.shard, hash, item, 1, INT64_MAX, 0, &cell), STATUS_OK);
    const struct item_row *row = item_at(&bed.shard, cell);
    assert_int_equal(item_read(row, counters), 0);
    assert_int_equal(row->stamp, 0);
    assert_int_equal(add(&bed, item, 1, 5), STATUS_OK);
    cell = item_cell(&bed.shard, hash, item);
    assert_int_equal(item_reserve(&bed.shard, hash, item, 2, 1, 0, &cell), STATUS_OK);
    row = item_at(&bed.shard, cell);
    assert_int_equal(item_read(row, counters), 1);
    assert_int_equal(counters[0].name, 1);
    assert_int_equal(counters[0].value, 5);
    assert_int_equal(row->stamp, 77);
    item_bed_close(&bed);
}

static void test_four_short_counters_take_40_bytes(void **state)
{
    (void)state;
    struct item_bed bed;
    item_bed_open(&bed, MIB(64));
    for (uint64_t id = 0; id < 100000; id++)
        for (uint8_t name = 0; name < 4; name++)
            assert_int_equal(add(&bed, (struct item){.id = {.lo = id}}, name, 1), STATUS_OK);
    assert_in_range(memory_used(&bed.budget) / 100000, 40, 64);
    item_bed_close(&bed);
}

static bool fill(struct item_bed *bed, struct item item, const struct store_value *values,
                 uint32_t count)
{
    return item_fill(&bed->shard, item_hash(item, 3), item, values, count);
}

static struct item_row *row_of(struct item_bed *bed, struct item item)
{
    return item_find(&bed->shard, item_hash(item, 3), item);
}

/* What the store has makes a row, completes a partial one, and leaves a whole one alone. */
static void test_filling(void **state)
{
    (void)state;
    const struct store_value values[] = {{.value = 7, .name = 1}, {.value = 1LL << 40, .name = 2}};
    struct item_bed bed;
    item_bed_open(&bed, MIB(1));
    for (uint32_t number = 0; number < 6; number++) {
        struct item item = item_number(number);
        assert_true(fill(&bed, item, values, 2));
        assert_int_equal(value(&bed, item, 1), 7);
        assert_true(value(&bed, item, 2) == 1LL << 40);
        assert_int_equal(row_of(&bed, item)->stamp, 0);
        assert_int_equal(add(&bed, item, 1, 1), STATUS_OK);
        assert_true(fill(&bed, item, values, 2));
        assert_int_equal(value(&bed, item, 1), 8);
    }
    struct item partial = item_number(20);
    uint64_t hash = item_hash(partial, 3);
    uint32_t cell = 0;
    assert_int_equal(item_reserve(&bed.shard, hash, partial, 1, -3, ITEM_PARTIAL, &cell),
                     STATUS_OK);
    item_add(&bed.shard, item_at(&bed.shard, cell), 1, -3, 55);
    assert_int_equal(add(&bed, partial, 3, 4), STATUS_OK);
    assert_true(row_of(&bed, partial)->flags & ITEM_PARTIAL);
    assert_true(fill(&bed, partial, values, 2));
    assert_false(row_of(&bed, partial)->flags & ITEM_PARTIAL);
    assert_int_equal(value(&bed, partial, 1), 4);
    assert_true(value(&bed, partial, 2) == 1LL << 40);
    assert_int_equal(value(&bed, partial, 3), 4);
    assert_int_equal(row_of(&bed, partial)->stamp, 77); /* that of its last change */
    struct item nothing = item_number(30);
    assert_true(fill(&bed, nothing, NULL, 0));
    assert_int_equal(row_of(&bed, nothing)->count, 0);
    item_bed_close(&bed);
}

/* No memory half-way: a new row is gone again, a partial one still partial and as it was. */
static void test_filling_without_memory(void **state)
{
    (void)state;
    struct store_value values[LIMIT_NAMES];
    struct item_bed bed;
    struct item partial = item_number(20);
    uint32_t cell = 0;
    for (uint32_t i = 0; i < LIMIT_NAMES; i++)
        values[i] = (struct store_value){.value = 1LL << 40, .name = (uint8_t)i};
    item_bed_open(&bed, MIB(1));
    assert_int_equal(
        item_reserve(&bed.shard, item_hash(partial, 3), partial, 1, 5, ITEM_PARTIAL, &cell),
        STATUS_OK);
    item_add(&bed.shard, item_at(&bed.shard, cell), 1, 5, 55);
    uint32_t filled = 0;
    while (fill(&bed, item_number(100 + filled), values, LIMIT_NAMES))
        filled++;
    assert_true(filled > 10);
    assert_null(row_of(&bed, item_number(100 + filled)));
    assert_int_equal(bed.shard.table.rows, 1 + filled);
    assert_false(fill(&bed, partial, values, LIMIT_NAMES));
    assert_true(row_of(&bed, partial)->flags & ITEM_PARTIAL);
    assert_int_equal(value(&bed, partial, 1), 5);
    item_evict(&bed.shard, item_hash(item_number(100), 3),
               item_cell(&bed.shard, item_hash(item_number(100), 3), item_number(100)));
    assert_true(fill(&bed, partial, values, LIMIT_NAMES));
    assert_true(value(&bed, partial, 1) == (1LL << 40) + 5);
    assert_true(value(&bed, partial, 200) == 1LL << 40);
    item_bed_close(&bed);
}

/* Rows of all forms move and go; those that stay keep everything. */
static void test_moving_and_evicting(void **state)
{
    (void)state;
    enum { ROWS = 3000 };
    struct chance chance = {test_seed()};
    struct item_bed bed;
    static int64_t values[ROWS][6];
    static bool there[ROWS];
    memset(values, 0, sizeof(values));
    memset(there, 0, sizeof(there));
    item_bed_open(&bed, MIB(8));
    for (uint32_t step = 0; step < 60000; step++) {
        uint32_t number = chance_below(&chance, ROWS);
        struct item item = item_number(number);
        uint64_t hash = item_hash(item, 3);
        uint32_t cell = item_cell(&bed.shard, hash, item);
        uint32_t dice = chance_below(&chance, 10);
        assert_int_equal(cell != 0, there[number]);
        if (dice < 6) {
            uint8_t name = (uint8_t)chance_below(&chance, 6);
            int64_t delta = (int64_t)(chance_next(&chance) >> (30 + chance_below(&chance, 30)));
            assert_int_equal(add(&bed, item, name, delta), STATUS_OK);
            values[number][name] += delta;
            there[number] = true;
        } else if (dice < 8 && cell != 0) {
            assert_true(item_relocate(&bed.shard, hash, cell));
            assert_int_not_equal(item_cell(&bed.shard, hash, item), cell);
            assert_int_equal(row_of(&bed, item)->stamp, 77);
        } else if (cell != 0) {
            item_evict(&bed.shard, hash, cell);
            memset(values[number], 0, sizeof(values[number]));
            there[number] = false;
        }
        for (uint8_t name = 0; name < 6; name++)
            assert_true(value(&bed, item, name) == values[number][name]);
    }
    item_bed_close(&bed);
}

/* What is added to a partial row may leave the range of a counter, and return with its base. */
static void test_a_part_may_leave_the_range(void **state)
{
    (void)state;
    struct item_bed bed;
    struct item item = item_number(1);
    uint64_t hash = item_hash(item, 3);
    const struct store_value base = {.name = 1, .value = INT64_MIN};
    item_bed_open(&bed, MIB(1));
    uint32_t cell = 0;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(item_reserve(&bed.shard, hash, item, 1, INT64_MAX, ITEM_PARTIAL, &cell),
                         STATUS_OK);
        item_add(&bed.shard, item_at(&bed.shard, cell), 1, INT64_MAX, 7);
    }
    assert_true(item_fill(&bed.shard, hash, item, &base, 1));
    assert_int_equal(value(&bed, item, 1), INT64_MAX - 1);
    item_bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_counter_fits_a_row),
        cmocka_unit_test(test_values_widen),
        cmocka_unit_test(test_overflow_is_refused),
        cmocka_unit_test(test_reserving_shows_nothing),
        cmocka_unit_test(test_four_short_counters_take_40_bytes),
        cmocka_unit_test(test_filling),
        cmocka_unit_test(test_filling_without_memory),
        cmocka_unit_test(test_moving_and_evicting),
        cmocka_unit_test(test_a_part_may_leave_the_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

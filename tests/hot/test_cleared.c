/*
 * What was cleared lately, against a plain list: each is there from when it is noted until it is
 * set again or its stamp is clean, whatever moves in between.
 */
#include "support.h"

enum { KEYS = 300 };

struct cleared_bed {
    struct memory_budget budget;
    struct slab_pool *pool;
    struct slab slab;
    struct cleared cleared;
};

static void cleared_bed_open(struct cleared_bed *bed, uint64_t limit)
{
    memset(bed, 0, sizeof(*bed));
    bed->budget.limit = limit;
    bed->pool = slab_pool_new(&bed->budget);
    assert_non_null(bed->pool);
    assert_true(slab_init(&bed->slab, bed->pool));
    cleared_init(&bed->cleared, &bed->slab, 7);
}

static void cleared_bed_close(struct cleared_bed *bed)
{
    cleared_destroy(&bed->cleared);
    slab_destroy(&bed->slab);
    slab_pool_free(bed->pool);
    assert_int_equal(memory_used(&bed->budget), 0);
}

static struct cleared_key key_number(uint32_t number)
{
    return (struct cleared_key){.user = id_number(number % 7),
                                .item = item_number(number / 7),
                                .kind = (uint8_t)(number % 3)};
}

static bool has(struct cleared_bed *bed, uint32_t number)
{
    struct cleared_key key = key_number(number);
    return cleared_has(&bed->cleared, &key);
}

static uint32_t add(struct cleared_bed *bed, uint32_t number)
{
    struct cleared_key key = key_number(number);
    return cleared_add(&bed->cleared, &key);
}

static void move(struct cleared_bed *bed, uint32_t pages)
{
    slab_retire_begin(&bed->slab, pages);
    assert_true(cleared_relocate(&bed->cleared));
    bed_move_table(&bed->cleared.table);
    assert_int_equal(slab_retire_left(&bed->slab), 0);
    slab_retire_end(&bed->slab);
}

/* All that is clean is gone: they expire in order, so nothing that is not holds one back. */
static void check_expired(struct cleared_bed *bed, uint32_t stamps[KEYS], uint32_t clean)
{
    cleared_expire(&bed->cleared, clean, UINT32_MAX);
    for (uint32_t i = 0; i < KEYS; i++) {
        if (stamps[i] < clean)
            stamps[i] = 0;
        assert_int_equal(has(bed, i), stamps[i] != 0);
    }
}

static void test_against_a_list(void **state)
{
    (void)state;
    struct chance chance = {test_seed()};
    struct cleared_bed bed;
    uint32_t stamps[KEYS] = {0}; /* 0: not there */
    uint32_t now = 1;
    cleared_bed_open(&bed, MIB(4));
    for (uint32_t step = 0; step < 100000; step++) {
        uint32_t number = chance_below(&chance, KEYS);
        struct cleared_key key = key_number(number);
        now += chance_below(&chance, 3) == 0;
        assert_int_equal(has(&bed, number), stamps[number] != 0);
        if (stamps[number] != 0) {
            cleared_remove(&bed.cleared, &key);
            stamps[number] = 0;
        } else {
            uint32_t cell = add(&bed, number);
            assert_int_not_equal(cell, 0);
            assert_true(has(&bed, number));
            if (chance_below(&chance, 8) == 0) {
                cleared_give_up(&bed.cleared, cell);
            } else {
                cleared_stamp(&bed.cleared, cell, now);
                stamps[number] = now;
            }
        }
        assert_int_equal(has(&bed, number), stamps[number] != 0);
        if (step % 400 == 0)
            move(&bed, 1 + chance_below(&chance, 3));
        if (step % 300 == 0 && now > 100)
            check_expired(&bed, stamps, now - chance_below(&chance, 100));
    }
    check_expired(&bed, stamps, now + 1);
    assert_int_equal(bed.cleared.table.rows, 0);
    assert_int_equal(bed.cleared.oldest, 0);
    assert_int_equal(bed.cleared.newest, 0);
    cleared_bed_close(&bed);
}

static void test_only_so_many_at_a_time(void **state)
{
    (void)state;
    struct cleared_bed bed;
    cleared_bed_open(&bed, MIB(4));
    for (uint32_t i = 0; i < 100; i++)
        cleared_stamp(&bed.cleared, add(&bed, i), 5);
    cleared_expire(&bed.cleared, 5, 100);
    assert_int_equal(bed.cleared.table.rows, 100);
    cleared_expire(&bed.cleared, 6, 30);
    assert_int_equal(bed.cleared.table.rows, 70);
    assert_false(has(&bed, 29));
    assert_true(has(&bed, 30));
    cleared_bed_close(&bed);
}

/* Past the budget nothing is noted, and what was given up makes room again. */
static void test_no_memory(void **state)
{
    (void)state;
    struct cleared_bed bed;
    cleared_bed_open(&bed, KIB(100));
    uint32_t count = 0;
    uint32_t last = 0;
    for (uint32_t cell; (cell = add(&bed, count)) != 0; count++) {
        cleared_stamp(&bed.cleared, cell, 5);
        last = cell;
    }
    assert_true(count > 100);
    assert_false(has(&bed, count));
    for (int i = 0; i < 10000; i++) {
        cleared_give_up(&bed.cleared, last);
        last = add(&bed, count - 1);
        assert_int_not_equal(last, 0);
    }
    cleared_bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_a_list),
        cmocka_unit_test(test_only_so_many_at_a_time),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

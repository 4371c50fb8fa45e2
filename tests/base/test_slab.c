#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/limits.h"
#include "base/slab.h"

struct bed {
    struct memory_budget budget;
    struct slab_pool *pool;
    struct slab slab;
};

static void bed_open(struct bed *bed, uint64_t limit)
{
    *bed = (struct bed){.budget.limit = limit};
    bed->pool = slab_pool_new(&bed->budget);
    assert_non_null(bed->pool);
    assert_true(slab_init(&bed->slab, bed->pool));
}

static void bed_close(struct bed *bed)
{
    slab_destroy(&bed->slab);
    slab_pool_free(bed->pool);
    assert_int_equal(memory_used(&bed->budget), 0);
}

static size_t size_of(uint32_t number)
{
    return 8 + number * 40 % (SLAB_CELL_MAX - 7) / 8 * 8;
}

/* Every cell keeps what was written to it, whatever else is taken and given back. */
static void test_cells_do_not_overlap(void **state)
{
    (void)state;
    enum { CELLS = 4000 };
    static uint32_t cells[CELLS];
    struct bed bed;
    bed_open(&bed, MIB(64));
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t i = round; i < CELLS; i += round + 1) {
            if (cells[i] != 0)
                slab_free(&bed.slab, cells[i], size_of(i));
            cells[i] = slab_alloc(&bed.slab, size_of(i));
            assert_int_not_equal(cells[i], 0);
            memset(slab_at(&bed.slab, cells[i]), (int)(i % 251), size_of(i));
        }
    }
    for (uint32_t i = 0; i < CELLS; i++) {
        const uint8_t *bytes = slab_at(&bed.slab, cells[i]);
        for (size_t at = 0; at < size_of(i); at++)
            assert_int_equal(bytes[at], i % 251);
    }
    bed_close(&bed);
}

static void test_freed_cell_comes_again(void **state)
{
    (void)state;
    struct bed bed;
    bed_open(&bed, MIB(1));
    uint32_t first = slab_alloc(&bed.slab, 40);
    uint32_t second = slab_alloc(&bed.slab, 40);
    assert_int_not_equal(first, second);
    slab_free(&bed.slab, first, 40);
    assert_int_not_equal(slab_alloc(&bed.slab, 48), first);
    assert_int_equal(slab_alloc(&bed.slab, 40), first);
    bed_close(&bed);
}

static void test_budget_is_kept(void **state)
{
    (void)state;
    struct bed bed;
    uint64_t limit = 3 * SLAB_PAGE_BYTES + 100;
    bed_open(&bed, limit);
    uint32_t count = 0;
    uint32_t last = 0;
    for (uint32_t cell; (cell = slab_alloc(&bed.slab, 1024)) != 0; count++)
        last = cell;
    assert_in_range(count, 3 * SLAB_PAGE_BYTES / 1024 - 3, 3 * SLAB_PAGE_BYTES / 1024);
    assert_true(memory_used(&bed.budget) <= limit);
    assert_int_equal(slab_alloc(&bed.slab, 1024), 0);
    slab_free(&bed.slab, last, 1024);
    assert_int_equal(slab_alloc(&bed.slab, 1024), last);
    bed_close(&bed);
}

/* Past the budget, what was freed in one size serves for smaller ones. */
static void test_free_cells_are_cut_up(void **state)
{
    (void)state;
    struct bed bed;
    bed_open(&bed, SLAB_PAGE_BYTES + SLAB_LINE);
    uint32_t cell = slab_alloc(&bed.slab, 1024);
    while (slab_alloc(&bed.slab, 8) != 0) {
    }
    slab_free(&bed.slab, cell, 1024);
    for (int i = 0; i < 1024 / 64; i++) {
        uint32_t piece = slab_alloc(&bed.slab, 64);
        assert_in_range(piece, cell, cell + (1024 - 64) / SLAB_UNIT);
    }
    assert_int_equal(slab_alloc(&bed.slab, 64), 0);
    bed_close(&bed);
}

static void test_lines_are_aligned(void **state)
{
    (void)state;
    struct bed bed;
    bed_open(&bed, MIB(4));
    for (uint32_t i = 0; i < 300; i++) {
        assert_int_not_equal(slab_alloc(&bed.slab, 8 + i % 9 * 8), 0);
        uint32_t cell = slab_alloc_lines(&bed.slab, i % 3 == 0 ? 4096 : 128);
        assert_int_not_equal(cell, 0);
        assert_int_equal((uintptr_t)slab_at(&bed.slab, cell) % SLAB_LINE, 0);
        memset(slab_at(&bed.slab, cell), 0xee, i % 3 == 0 ? 4096 : 128);
    }
    bed_close(&bed);
}

static void test_slabs_share_a_pool(void **state)
{
    (void)state;
    struct bed bed;
    struct slab other;
    bed_open(&bed, MIB(4));
    assert_true(slab_init(&other, bed.pool));
    uint64_t *mine = slab_at(&bed.slab, slab_alloc(&bed.slab, 8));
    uint64_t *theirs = slab_at(&other, slab_alloc(&other, 8));
    assert_ptr_not_equal(mine, theirs);
    slab_destroy(&other);
    bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells_do_not_overlap), cmocka_unit_test(test_freed_cell_comes_again),
        cmocka_unit_test(test_budget_is_kept),       cmocka_unit_test(test_free_cells_are_cut_up),
        cmocka_unit_test(test_lines_are_aligned),    cmocka_unit_test(test_slabs_share_a_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Slabs whose budget is spent: what can be had all the same, and for whom the last pages are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/slab.h"
#include "slab_bed.h"

/* What is freed in retiring pages serves again if they stay, whatever its size. */
static void test_cancel_gives_back_what_was_freed(void **state)
{
    (void)state;
    struct bed bed;
    bed_open(&bed, 4 * SLAB_PAGE_BYTES + 4 * SLAB_LINE);
    enum { ROOM = 4 * SLAB_PAGE_BYTES / 64 };
    uint32_t cells[ROOM];
    uint32_t count = 0;
    while ((cells[count] = slab_alloc(&bed.slab, count % 2 ? 64 : 192)) != 0)
        count++;
    uint32_t pages = slab_retire_begin(&bed.slab, UINT32_MAX);
    assert_true(pages >= 3);
    for (uint32_t i = 1; i < count; i++)
        slab_free(&bed.slab, cells[i], i % 2 ? 64 : 192);
    assert_int_not_equal(slab_retire_left(&bed.slab), 0);
    slab_retire_cancel(&bed.slab);
    for (uint32_t i = 1; i < count; i++)
        assert_int_not_equal(slab_alloc(&bed.slab, i % 2 ? 64 : 192), 0);
    assert_int_equal(slab_alloc(&bed.slab, 192), 0);
    bed_close(&bed);
}

/* The page that is being filled can retire once there are cells that it has no room for. */
static void test_a_page_that_is_nearly_full_retires(void **state)
{
    (void)state;
    struct bed bed;
    bed_open(&bed, SLAB_PAGE_BYTES + 4 * SLAB_LINE);
    uint32_t cell = slab_alloc(&bed.slab, 1024);
    assert_int_equal(slab_retire_begin(&bed.slab, 1), 0);
    uint32_t taken = 1024;
    while (SLAB_PAGE_BYTES - taken > SLAB_CELL_MAX) {
        assert_int_not_equal(slab_alloc(&bed.slab, 1024), 0);
        taken += 1024;
    }
    assert_int_equal(slab_retire_begin(&bed.slab, 1), 1);
    slab_free(&bed.slab, cell, 1024);
    slab_retire_cancel(&bed.slab);
    assert_int_not_equal(slab_alloc(&bed.slab, 1024), 0);
    bed_close(&bed);
}

/* The pool's last pages are for those who move; kept ones stay charged when the pool shrinks. */
static void test_pages_are_kept(void **state)
{
    (void)state;
    struct bed bed = {.budget.limit = 8 * (SLAB_PAGE_BYTES + SLAB_LINE)};
    bed.pool = slab_pool_new(&bed.budget);
    assert_non_null(bed.pool);
    assert_true(slab_pool_keep(bed.pool, 3 * SLAB_PAGE_BYTES, 2));
    assert_int_equal(slab_pool_free_pages(bed.pool), 3);
    assert_in_range(memory_used(&bed.budget), 5 * SLAB_PAGE_BYTES, 6 * SLAB_PAGE_BYTES);
    assert_int_equal(slab_pool_shrink(bed.pool, SIZE_MAX), 0);
    assert_true(slab_init(&bed.slab, bed.pool));
    while (slab_alloc(&bed.slab, 1024) != 0)
        continue;
    assert_int_equal(bed.slab.page_count, 6);
    bed.slab.moving = true;
    for (uint32_t i = 0; i < 2 * SLAB_PAGE_BYTES / 1024; i++)
        assert_int_not_equal(slab_alloc(&bed.slab, 1024), 0);
    assert_int_equal(slab_alloc(&bed.slab, 1024), 0);
    bed_close(&bed);
    struct memory_budget little = {.limit = 3 * SLAB_PAGE_BYTES};
    struct slab_pool *pool = slab_pool_new(&little);
    assert_false(slab_pool_keep(pool, 3 * SLAB_PAGE_BYTES, 2));
    slab_pool_free(pool);
    assert_int_equal(memory_used(&little), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cancel_gives_back_what_was_freed),
        cmocka_unit_test(test_a_page_that_is_nearly_full_retires),
        cmocka_unit_test(test_pages_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/slab.h"
#include "chance.h"
#include "slab_bed.h"

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

/* New cells of a part of a line lie within one, those of whole lines begin at one; gaps are used. */
static void test_new_cells_keep_to_lines(void **state)
{
    (void)state;
    static const size_t sizes[] = {40, 128, 16, 32, 24, 64, 8, 320};
    struct bed bed;
    bed_open(&bed, MIB(64));
    for (uint32_t i = 0; i < 4000; i++) {
        size_t size = sizes[i % 8];
        uint32_t cell = slab_alloc(&bed.slab, size);
        assert_int_not_equal(cell, 0);
        uintptr_t at = (uintptr_t)slab_at(&bed.slab, cell);
        if (size % SLAB_LINE == 0)
            assert_int_equal(at % SLAB_LINE, 0);
        if (size == 16 || size == 32)
            assert_int_equal(at / SLAB_LINE, (at + size - 1) / SLAB_LINE);
        memset(slab_at(&bed.slab, cell), 1, size);
    }
    assert_true(slab_idle_bytes(&bed.slab) < 4000 * 40);
    bed_close(&bed);
}

/* Side by side while they are new, each from where one was freed after that; both or neither. */
static void test_two_at_once(void **state)
{
    (void)state;
    struct bed bed;
    uint32_t cell, other, next, next_other;
    bed_open(&bed, KIB(192));
    assert_true(slab_alloc_two(&bed.slab, 24, 104, &cell, &other));
    assert_ptr_equal(slab_at(&bed.slab, other), (char *)slab_at(&bed.slab, cell) + 24);
    assert_int_equal((uintptr_t)slab_at(&bed.slab, cell) % SLAB_LINE, 0);
    slab_free(&bed.slab, other, 104);
    assert_true(slab_alloc_two(&bed.slab, 24, 104, &next, &next_other));
    assert_int_equal(next_other, other);
    assert_int_not_equal(next, cell);
    slab_free(&bed.slab, cell, 24);
    slab_free(&bed.slab, next, 24);
    slab_free(&bed.slab, next_other, 104);
    uint32_t last = 0;
    for (uint32_t more; (more = slab_alloc(&bed.slab, 512)) != 0;)
        last = more;
    while (slab_alloc(&bed.slab, 8) != 0)
        continue;
    assert_false(slab_alloc_two(&bed.slab, 24, 104, &cell, &other));
    slab_free(&bed.slab, last, 512);
    uint32_t most = slab_alloc(&bed.slab, 440); /* 72 bytes are left: enough for one of them */
    assert_int_not_equal(most, 0);
    assert_false(slab_alloc_two(&bed.slab, 24, 104, &cell, &other));
    assert_int_not_equal(slab_alloc(&bed.slab, 24), 0); /* it was not kept */
    assert_int_not_equal(slab_alloc(&bed.slab, 48), 0);
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

/*
 * An owner of slabs that share a pool, and what it knows of each of its cells: where it is and the
 * number that every word of it holds. A cell that another one overlaps, or that was given away with
 * its page, would hold another number.
 */
enum { OWNED_SLABS = 3, OWNED_CELLS = 6000 };

struct owned {
    uint32_t slab;
    uint32_t cell; /* 0: none */
    size_t size;
    uint64_t stamp;
};

struct owner {
    struct memory_budget budget;
    struct slab_pool *pool;
    struct slab slabs[OWNED_SLABS];
    struct owned cells[OWNED_CELLS];
    uint32_t walked[OWNED_SLABS]; /* how far the walk for retiring pages has come */
    bool retiring[OWNED_SLABS];
    uint64_t stamps;
    struct chance chance;
};

static struct owner *owner_open(uint64_t limit, uint64_t seed)
{
    struct owner *owner = calloc(1, sizeof(*owner));
    assert_non_null(owner);
    owner->budget.limit = limit;
    owner->chance.state = seed;
    owner->pool = slab_pool_new(&owner->budget);
    assert_non_null(owner->pool);
    for (uint32_t i = 0; i < OWNED_SLABS; i++)
        assert_true(slab_init(&owner->slabs[i], owner->pool));
    return owner;
}

static void owner_close(struct owner *owner)
{
    for (uint32_t i = 0; i < OWNED_SLABS; i++)
        slab_destroy(&owner->slabs[i]);
    slab_pool_free(owner->pool);
    assert_int_equal(memory_used(&owner->budget), 0);
    free(owner);
}

static void owned_check(const struct owner *owner, const struct owned *owned)
{
    const uint64_t *words = slab_at(&owner->slabs[owned->slab], owned->cell);
    for (size_t i = 0; i < owned->size / 8; i++)
        assert_int_equal(words[i], owned->stamp);
}

static void owned_fill(const struct owner *owner, const struct owned *owned)
{
    uint64_t *words = slab_at(&owner->slabs[owned->slab], owned->cell);
    for (size_t i = 0; i < owned->size / 8; i++)
        words[i] = owned->stamp;
}

static bool owned_take(struct owner *owner, struct owned *owned, uint32_t slab, size_t size)
{
    uint32_t cell = slab_alloc(&owner->slabs[slab], size);
    if (cell == 0)
        return false;
    assert_false(slab_is_retiring(&owner->slabs[slab], cell));
    *owned = (struct owned){.slab = slab, .cell = cell, .size = size, .stamp = ++owner->stamps};
    owned_fill(owner, owned);
    return true;
}

static void owned_drop(struct owner *owner, struct owned *owned)
{
    owned_check(owner, owned);
    slab_free(&owner->slabs[owned->slab], owned->cell, owned->size);
    owned->cell = 0;
}

/* Out of a retiring page: moved if there is room, else dropped. */
static void owned_evacuate(struct owner *owner, struct owned *owned)
{
    struct owned before = *owned;
    if (!owned_take(owner, owned, before.slab, before.size))
        owned->cell = 0;
    owned_drop(owner, &before);
}

static void owner_retire_begin(struct owner *owner, uint32_t slab, uint32_t count)
{
    uint32_t picked = slab_retire_begin(&owner->slabs[slab], count);
    assert_true(picked <= count);
    owner->retiring[slab] = picked != 0;
    owner->walked[slab] = 0;
}

/* Goes on with the walk over the cells; at its end nothing must be left. */
static void owner_retire_step(struct owner *owner, uint32_t slab, uint32_t count)
{
    uint32_t *walked = &owner->walked[slab];
    for (; count != 0 && *walked < OWNED_CELLS; count--, (*walked)++) {
        struct owned *owned = &owner->cells[*walked];
        if (owned->cell != 0 && owned->slab == slab &&
            slab_is_retiring(&owner->slabs[slab], owned->cell))
            owned_evacuate(owner, owned);
    }
    if (*walked != OWNED_CELLS)
        return;
    assert_int_equal(slab_retire_left(&owner->slabs[slab]), 0);
    slab_retire_end(&owner->slabs[slab]);
    owner->retiring[slab] = false;
}

static void owner_retire(struct owner *owner, uint32_t slab, uint32_t count)
{
    owner_retire_begin(owner, slab, count);
    if (owner->retiring[slab])
        owner_retire_step(owner, slab, OWNED_CELLS);
}

/* Sizes of one time, then of another: the phase decides how large. */
static size_t owner_size(struct owner *owner, uint32_t phase)
{
    static const uint32_t largest[] = {4, 64, SLAB_CELL_MAX / SLAB_UNIT, 12};
    return (1 + chance_below(&owner->chance, largest[phase % 4])) * SLAB_UNIT;
}

static void owner_disturb(struct owner *owner, uint32_t slab)
{
    uint32_t what = chance_below(&owner->chance, 16);
    if (what == 0)
        (void)slab_pool_shrink(owner->pool, chance_below(&owner->chance, 8) * SLAB_PAGE_BYTES);
    else if (what == 1 && !owner->retiring[slab])
        (void)slab_retire_empty(&owner->slabs[slab]);
    else if (!owner->retiring[slab])
        owner_retire_begin(owner, slab, 1 + chance_below(&owner->chance, 12));
    else if (what == 2) {
        slab_retire_cancel(&owner->slabs[slab]);
        assert_int_equal(slab_retire_left(&owner->slabs[slab]), 0);
        owner->retiring[slab] = false;
    } else if (what < 6)
        (void)slab_retire_sift(&owner->slabs[slab], chance_below(&owner->chance, 200));
    else
        owner_retire_step(owner, slab, chance_below(&owner->chance, OWNED_CELLS));
}

static void owner_settle(struct owner *owner)
{
    for (uint32_t slab = 0; slab < OWNED_SLABS; slab++)
        if (owner->retiring[slab])
            owner_retire_step(owner, slab, OWNED_CELLS);
}

static void test_random_rounds_keep_contents(void **state)
{
    (void)state;
    struct owner *owner = owner_open(MIB(4), test_seed());
    uint32_t refused = 0;
    for (uint32_t step = 0; step < 200000; step++) {
        struct owned *owned = &owner->cells[chance_below(&owner->chance, OWNED_CELLS)];
        uint32_t slab = chance_below(&owner->chance, OWNED_SLABS);
        if (owned->cell != 0)
            owned_drop(owner, owned);
        else
            refused += !owned_take(owner, owned, slab, owner_size(owner, step / 20000));
        if (chance_below(&owner->chance, 32) == 0)
            owner_disturb(owner, slab);
        assert_true(memory_used(&owner->budget) <= owner->budget.limit);
    }
    assert_int_not_equal(refused, 0);
    owner_settle(owner);
    for (uint32_t i = 0; i < OWNED_CELLS; i++)
        if (owner->cells[i].cell != 0)
            owned_drop(owner, &owner->cells[i]);
    size_t charged = memory_used(&owner->budget) / SLAB_PAGE_BYTES;
    for (uint32_t slab = 0; slab < OWNED_SLABS; slab++)
        (void)slab_retire_empty(&owner->slabs[slab]);
    assert_in_range(slab_pool_free_pages(owner->pool), charged - OWNED_SLABS, charged);
    owner_close(owner);
}

/* All that the budget holds in small cells; then all of it, in another slab, in large ones. */
static void test_sizes_shift_within_a_budget(void **state)
{
    (void)state;
    struct owner *owner = owner_open(MIB(1), test_seed());
    uint32_t small = 0;
    while (small < OWNED_CELLS && owned_take(owner, &owner->cells[small], 0, 240))
        small++;
    assert_in_range(small, MIB(1) / 240 * 9 / 10, OWNED_CELLS - 1);
    assert_int_equal(slab_alloc(&owner->slabs[1], 4096), 0);
    uint32_t large = 0;
    for (uint32_t i = 0; i < small; i++) {
        if (i % 9 != 0)
            owned_drop(owner, &owner->cells[i]);
    }
    assert_true(slab_idle_bytes(&owner->slabs[0]) > MIB(1) * 8 / 10);
    while (slab_idle_bytes(&owner->slabs[0]) > 2 * SLAB_PAGE_BYTES)
        owner_retire(owner, 0, 4);
    uint32_t next = small;
    for (; owned_take(owner, &owner->cells[next], 1, 4096); next++)
        large++;
    assert_in_range(large, MIB(1) / 4096 * 8 / 10, MIB(1) / 4096);
    for (uint32_t i = 0; i < next; i++) {
        if (owner->cells[i].cell != 0)
            owned_drop(owner, &owner->cells[i]);
        else
            assert_int_not_equal(i % 9, 0);
    }
    owner_close(owner);
}

/* Pages with never-freed cells stay, all others go when nothing is in them. */
static void test_all_but_fixed_pages_return(void **state)
{
    (void)state;
    struct bed bed;
    bed_open(&bed, MIB(8));
    enum { CELLS = 400, FIXED = 20 };
    uint32_t cells[CELLS];
    uint32_t fixed[FIXED];
    for (uint32_t i = 0; i < CELLS; i++) {
        cells[i] = slab_alloc(&bed.slab, 4096);
        if (i % 20 == 0) {
            fixed[i / 20] = slab_alloc_lines(&bed.slab, 4096);
            memset(slab_at(&bed.slab, fixed[i / 20]), 0xab, 4096);
        }
    }
    assert_int_equal(slab_retire_empty(&bed.slab), 0);
    assert_int_not_equal(slab_retire_begin(&bed.slab, UINT32_MAX), 0);
    for (uint32_t i = 0; i < FIXED; i++)
        assert_false(slab_is_retiring(&bed.slab, fixed[i]));
    slab_retire_cancel(&bed.slab);
    for (uint32_t i = 0; i < CELLS; i++)
        slab_free(&bed.slab, cells[i], 4096);
    uint32_t fixed_pages = (FIXED * 4096 + SLAB_PAGE_BYTES - 1) / SLAB_PAGE_BYTES;
    uint32_t returned = slab_retire_empty(&bed.slab);
    assert_in_range(returned, bed.slab.page_count - fixed_pages - 1,
                    bed.slab.page_count - fixed_pages);
    assert_int_equal(slab_pool_free_pages(bed.pool), returned);
    for (uint32_t i = 0; i < FIXED; i++)
        for (uint32_t at = 0; at < 4096; at++)
            assert_int_equal(((uint8_t *)slab_at(&bed.slab, fixed[i]))[at], 0xab);
    uint32_t count = bed.slab.page_count;
    for (uint32_t i = 0; i < returned * 8; i++)
        assert_int_not_equal(slab_alloc(&bed.slab, 4096), 0);
    assert_int_equal(slab_pool_free_pages(bed.pool), 0);
    assert_int_equal(bed.slab.page_count, count);
    bed_close(&bed);
}

static void test_emptiest_pages_retire_first(void **state)
{
    (void)state;
    struct bed bed;
    bed_open(&bed, MIB(4));
    enum { PAGES = 16, IN_PAGE = SLAB_PAGE_BYTES / 1024 };
    uint32_t cells[PAGES * IN_PAGE];
    for (uint32_t i = 0; i < PAGES * IN_PAGE; i++)
        cells[i] = slab_alloc(&bed.slab, 1024);
    uint32_t thin = cells[7 * IN_PAGE] >> SLAB_PAGE_SHIFT;
    for (uint32_t i = 0; i < PAGES * IN_PAGE; i++) {
        if (cells[i] >> SLAB_PAGE_SHIFT == thin && i != 7 * IN_PAGE) {
            slab_free(&bed.slab, cells[i], 1024);
            cells[i] = 0;
        }
    }
    assert_int_equal(slab_retire_begin(&bed.slab, 1), 1);
    assert_true(slab_is_retiring(&bed.slab, cells[7 * IN_PAGE]));
    assert_int_equal(slab_retire_left(&bed.slab), 1024);
    assert_true(slab_at(&bed.slab, slab_alloc(&bed.slab, 1024)) != NULL);
    slab_retire_cancel(&bed.slab);
    assert_false(slab_is_retiring(&bed.slab, cells[7 * IN_PAGE]));
    bool turns[PAGES + 1] = {false}; /* it could not be emptied: now each page has its turn */
    for (uint32_t i = 0; i < PAGES; i++) {
        assert_int_equal(slab_retire_begin(&bed.slab, 1), 1);
        turns[bed.slab.retiring - 1] = true;
        slab_retire_cancel(&bed.slab);
    }
    for (uint32_t i = 0; i < PAGES * IN_PAGE; i++)
        assert_true(cells[i] == 0 || turns[cells[i] >> SLAB_PAGE_SHIFT] ||
                    cells[i] >> SLAB_PAGE_SHIFT == bed.slab.fresh >> SLAB_PAGE_SHIFT);

    /* Equally full ones each in their turn, and none twice before the others. */
    slab_free(&bed.slab, cells[7 * IN_PAGE], 1024);
    assert_int_equal(slab_retire_empty(&bed.slab), 1);
    bool seen[PAGES + 2] = {false};
    for (uint32_t i = 0; i < PAGES - 3; i++) {
        assert_int_equal(slab_retire_begin(&bed.slab, 1), 1);
        uint32_t number = bed.slab.retiring - 1;
        assert_false(seen[number]);
        seen[number] = true;
        slab_retire_cancel(&bed.slab);
    }
    bed_close(&bed);
}

/* After a cancelled round all free cells are to be had, those that it has come to and the others. */
static void test_cancel_in_the_middle_keeps_free_cells(void **state)
{
    (void)state;
    struct bed bed;
    bed_open(&bed, 4 * SLAB_PAGE_BYTES + 4 * SLAB_LINE);
    enum { ROOM = 4 * SLAB_PAGE_BYTES / 1024 };
    uint32_t cells[ROOM];
    uint32_t count = 0;
    while ((cells[count] = slab_alloc(&bed.slab, 1024)) != 0)
        count++;
    uint32_t freed = 0;
    for (uint32_t i = 0; i < count; i += 2, freed++)
        slab_free(&bed.slab, cells[i], 1024);
    assert_int_equal(slab_retire_begin(&bed.slab, 1), 1);
    assert_false(slab_retire_sift(&bed.slab, 3));
    slab_retire_cancel(&bed.slab);
    uint32_t again = 0;
    while (slab_alloc(&bed.slab, 1024) != 0)
        again++;
    assert_int_equal(again, freed);
    bed_close(&bed);
}

/* A shrunk pool holds no memory and no charge, and its pages serve again before new ones. */
static void test_pool_shrinks(void **state)
{
    (void)state;
    struct bed bed;
    bed_open(&bed, MIB(8));
    enum { CELLS = 64 };
    uint32_t cells[CELLS];
    uint8_t *addresses[CELLS];
    for (uint32_t i = 0; i < CELLS; i++) {
        cells[i] = slab_alloc(&bed.slab, 4096);
        addresses[i] = slab_at(&bed.slab, cells[i]);
    }
    uint64_t full = memory_used(&bed.budget);
    for (uint32_t i = 0; i < CELLS; i++)
        slab_free(&bed.slab, cells[i], 4096);
    size_t pages = slab_retire_empty(&bed.slab);
    assert_true(pages >= 7);
    assert_int_equal(memory_used(&bed.budget), full);
    assert_int_equal(slab_pool_shrink(bed.pool, SLAB_PAGE_BYTES - 1), 0);
    assert_int_equal(slab_pool_shrink(bed.pool, 3 * SLAB_PAGE_BYTES + 1), 3 * SLAB_PAGE_BYTES);
    assert_int_equal(slab_pool_free_pages(bed.pool), pages - 3);
    assert_true(memory_used(&bed.budget) <= full - 3 * SLAB_PAGE_BYTES);
    assert_int_equal(slab_pool_shrink(bed.pool, SIZE_MAX), (pages - 3) * SLAB_PAGE_BYTES);
    assert_int_equal(slab_pool_free_pages(bed.pool), 0);
    for (uint32_t i = 0; i < CELLS; i++)
        assert_ptr_equal(slab_hint(&bed.slab, cells[i]), addresses[i]);
    uintptr_t first = (uintptr_t)addresses[0] / SLAB_PAGE_BYTES * SLAB_PAGE_BYTES;
    uintptr_t last = first + (size_t)bed.slab.page_count * SLAB_PAGE_BYTES - 1;
    for (uint32_t i = 0; i < CELLS; i++) {
        uint8_t *again = slab_at(&bed.slab, slab_alloc(&bed.slab, 4096));
        assert_in_range((uintptr_t)again, first, last);
        memset(again, (int)i, 4096);
    }
    assert_int_equal(memory_used(&bed.budget), full);
    bed_close(&bed);
}

/* What was made ready is charged, and the slabs get it before anything else. */
static void test_made_ready(void **state)
{
    (void)state;
    struct bed bed = {.budget.limit = MIB(16)};
    bed.pool = slab_pool_new(&bed.budget);
    assert_non_null(bed.pool);
    slab_pool_make_ready(bed.pool, MIB(3));
    size_t pages = MIB(3) / SLAB_PAGE_BYTES;
    assert_int_equal(slab_pool_free_pages(bed.pool), pages);
    uint64_t used = memory_used(&bed.budget);
    assert_in_range(used, MIB(3), MIB(3) + MIB(1));
    assert_true(slab_init(&bed.slab, bed.pool));
    uint64_t beside = memory_used(&bed.budget) - used;
    while (slab_pool_free_pages(bed.pool) > 0)
        assert_int_not_equal(slab_alloc(&bed.slab, SLAB_CELL_MAX), 0);
    assert_int_equal(memory_used(&bed.budget), used + beside);
    bed_close(&bed);
}

/* No more is made ready than the budget has. */
static void test_made_ready_within_budget(void **state)
{
    (void)state;
    struct memory_budget budget = {.limit = MIB(1)};
    struct slab_pool *pool = slab_pool_new(&budget);
    assert_non_null(pool);
    slab_pool_make_ready(pool, MIB(8));
    assert_in_range(slab_pool_free_pages(pool), 1, MIB(1) / SLAB_PAGE_BYTES);
    assert_in_range(memory_used(&budget), 1, MIB(1));
    slab_pool_free(pool);
    assert_int_equal(memory_used(&budget), 0);
}

static void test_hint_stays_inside(void **state)
{
    (void)state;
    struct bed bed;
    bed_open(&bed, MIB(1));
    uint32_t cell = slab_alloc(&bed.slab, 64);
    assert_ptr_equal(slab_hint(&bed.slab, cell), slab_at(&bed.slab, cell));
    assert_null(slab_hint(&bed.slab, cell + SLAB_PAGE_UNITS));
    assert_null(slab_hint(&bed.slab, bed.slab.page_limit << SLAB_PAGE_SHIFT));
    assert_null(slab_hint(&bed.slab, SLAB_CELL_LAST));
    assert_null(slab_hint(&bed.slab, UINT32_MAX));
    bed_close(&bed);
}

struct churn {
    pthread_t thread;
    struct slab slab;
    struct slab *other; /* looked at without a lock */
    struct slab_pool *pool;
    uint64_t stamp;
};

/* Takes and gives back whole pages while the other thread does the same. */
static void *churn_run(void *argument)
{
    struct churn *churn = argument;
    enum { CELLS = 200 };
    uint32_t cells[CELLS];
    for (uint32_t round = 0; round < 60; round++) {
        for (uint32_t i = 0; i < CELLS; i++) {
            cells[i] = slab_alloc(&churn->slab, 2048);
            if (cells[i] != 0)
                *(uint64_t *)slab_at(&churn->slab, cells[i]) = churn->stamp + i;
            __builtin_prefetch(slab_hint(churn->other, cells[i]));
        }
        for (uint32_t i = 0; i < CELLS; i++) {
            if (cells[i] == 0)
                continue;
            if (*(uint64_t *)slab_at(&churn->slab, cells[i]) != churn->stamp + i)
                return churn;
            slab_free(&churn->slab, cells[i], 2048);
        }
        (void)slab_retire_empty(&churn->slab);
        (void)slab_pool_shrink(churn->pool, round % 3 * SLAB_PAGE_BYTES);
    }
    return NULL;
}

static void test_threads_share_a_pool(void **state)
{
    (void)state;
    struct bed bed;
    bed_open(&bed, 20 * SLAB_PAGE_BYTES);
    struct churn churns[2] = {{.pool = bed.pool, .stamp = 1000}, {.pool = bed.pool, .stamp = 2000}};
    for (int i = 0; i < 2; i++) {
        assert_true(slab_init(&churns[i].slab, bed.pool));
        churns[i].other = &churns[1 - i].slab;
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&churns[i].thread, NULL, churn_run, &churns[i]), 0);
    for (int i = 0; i < 2; i++) {
        void *wrong;
        assert_int_equal(pthread_join(churns[i].thread, &wrong), 0);
        assert_null(wrong);
    }
    for (int i = 0; i < 2; i++)
        slab_destroy(&churns[i].slab);
    bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells_do_not_overlap),
        cmocka_unit_test(test_freed_cell_comes_again),
        cmocka_unit_test(test_budget_is_kept),
        cmocka_unit_test(test_free_cells_are_cut_up),
        cmocka_unit_test(test_lines_are_aligned),
        cmocka_unit_test(test_new_cells_keep_to_lines),
        cmocka_unit_test(test_two_at_once),
        cmocka_unit_test(test_slabs_share_a_pool),
        cmocka_unit_test(test_random_rounds_keep_contents),
        cmocka_unit_test(test_sizes_shift_within_a_budget),
        cmocka_unit_test(test_all_but_fixed_pages_return),
        cmocka_unit_test(test_emptiest_pages_retire_first),
        cmocka_unit_test(test_cancel_in_the_middle_keeps_free_cells),
        cmocka_unit_test(test_pool_shrinks),
        cmocka_unit_test(test_made_ready),
        cmocka_unit_test(test_made_ready_within_budget),
        cmocka_unit_test(test_hint_stays_inside),
        cmocka_unit_test(test_threads_share_a_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

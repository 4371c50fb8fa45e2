#include "support.h"

struct shelf_bed {
    struct memory_budget budget;
    struct slab_pool *pool;
    struct slab slab;
    struct shelf shelf;
};

static void shelf_bed_open(struct shelf_bed *bed, bool wide)
{
    *bed = (struct shelf_bed){.budget.limit = MIB(8),
                              .shelf.flags = wide ? SHELF_USED | SHELF_WIDE : SHELF_USED};
    bed->pool = slab_pool_new(&bed->budget);
    assert_non_null(bed->pool);
    assert_true(slab_init(&bed->slab, bed->pool));
}

static void shelf_bed_close(struct shelf_bed *bed)
{
    slab_destroy(&bed->slab);
    slab_pool_free(bed->pool);
}

static void push(struct shelf_bed *bed, struct id id, uint32_t time_s)
{
    size_t size = shelf_chunk_size(&bed->slab, &bed->shelf);
    uint32_t chunk = size == 0 ? 0 : slab_alloc(&bed->slab, size);
    shelf_push(&bed->slab, &bed->shelf, chunk, (struct shelf_entry){.id = id, .time_s = time_s},
               time_s);
}

/* Lower halves repeat among wide ids: only both halves together tell them apart. */
static struct id entry_id(uint32_t number, bool wide)
{
    return wide ? (struct id){.hi = 1 + number, .lo = number / 3} : (struct id){.lo = number};
}

struct sequence {
    uint32_t numbers[4096];
    uint32_t count;
    uint32_t seen;
    bool wide;
};

static void see_chunk(void *context, const uint64_t *lo, const uint64_t *hi, const uint32_t *times,
                      size_t count)
{
    struct sequence *sequence = context;
    assert_int_not_equal(count, 0);
    assert_int_equal(hi != NULL, sequence->wide);
    for (size_t i = count; i-- > 0;) {
        uint32_t expected = sequence->numbers[sequence->count - 1 - sequence->seen++];
        struct id id = {.hi = hi != NULL ? hi[i] : 0, .lo = lo[i]};
        assert_true(id_equal(id, entry_id(expected, sequence->wide)));
        assert_int_equal(times[i], expected + 7);
    }
}

static void check_order(struct shelf_bed *bed, struct sequence *sequence)
{
    sequence->seen = 0;
    shelf_visit(&bed->slab, &bed->shelf, see_chunk, sequence);
    assert_int_equal(sequence->seen, sequence->count);
    assert_int_equal(bed->shelf.count, sequence->count);
    if (sequence->count == 0) {
        assert_int_equal(shelf_stamp(&bed->slab, &bed->shelf), 0);
        return;
    }
    struct shelf_entry oldest = shelf_oldest(&bed->slab, &bed->shelf);
    assert_true(id_equal(oldest.id, entry_id(sequence->numbers[0], sequence->wide)));
    /* stamps are those of the newest in each chunk, or more: never less */
    struct shelf_tail tail = shelf_tail(&bed->slab, &bed->shelf);
    assert_in_range(tail.count, 1, sequence->count);
    assert_int_equal(tail.time_s, sequence->numbers[tail.count - 1] + 7);
    assert_true(tail.stamp >= sequence->numbers[tail.count - 1] + 7);
    assert_true(shelf_stamp(&bed->slab, &bed->shelf) >= sequence->numbers[sequence->count - 1] + 7);
    assert_true(shelf_stamp(&bed->slab, &bed->shelf) >= tail.stamp);
}

/* Some pages are emptied under the shelf. */
static void move_chunks(struct shelf_bed *bed, uint32_t pages)
{
    slab_retire_begin(&bed->slab, pages);
    assert_true(shelf_relocate(&bed->slab, &bed->shelf));
    assert_false(shelf_is_retiring(&bed->slab, &bed->shelf));
    assert_int_equal(slab_retire_left(&bed->slab), 0);
    slab_retire_end(&bed->slab);
}

static void sequence_drop(struct sequence *sequence, uint32_t index, uint32_t count)
{
    sequence->count -= count;
    memmove(sequence->numbers + index, sequence->numbers + index + count,
            (sequence->count - index) * sizeof(uint32_t));
}

/* Too many, too old, or neither; perhaps not clean. What should go does, and nothing else. */
static void check_cut(struct shelf_bed *bed, struct sequence *sequence, struct chance *chance)
{
    uint32_t tail = shelf_tail(&bed->slab, &bed->shelf).count;
    uint32_t count = sequence->count;
    uint32_t most = chance_below(chance, 2) ? 1 + chance_below(chance, count + 2) : UINT32_MAX;
    uint32_t old = chance_below(chance, 2) ? chance_below(chance, count) : 0;
    uint32_t oldest_s = sequence->numbers[old] + 7;
    bool clean = chance_below(chance, 4) != 0;
    uint32_t gone = shelf_cut(&bed->slab, &bed->shelf, most, oldest_s, clean ? UINT32_MAX : 7);
    uint32_t more = count > most ? count - most : 0;
    if (!clean)
        assert_int_equal(gone, 0);
    else
        assert_in_range(gone, more, more > old ? more : old);
    if (clean && old >= tail)
        assert_true(gone >= tail);
    sequence_drop(sequence, 0, gone);
}

/* Any mix of adding, removing and dropping keeps the order and everything else. */
static void check_mix(scan_fn *scan, bool wide)
{
    struct chance chance = {test_seed()};
    struct shelf_bed bed;
    static struct sequence sequence;
    sequence = (struct sequence){.wide = wide};
    shelf_bed_open(&bed, wide);
    uint32_t next = 1;
    for (uint32_t step = 0; step < 20000; step++) {
        uint32_t grow = step / 2000 % 2 == 0 ? 70 : 35;
        uint32_t dice = chance_below(&chance, 100);
        if (dice < grow && sequence.count < 4096) {
            sequence.numbers[sequence.count++] = next;
            push(&bed, entry_id(next, wide), next + 7);
            next++;
        } else if (dice < 85 && sequence.count != 0) {
            uint32_t index = chance_below(&chance, sequence.count);
            struct shelf_slot slot =
                shelf_find(&bed.slab, &bed.shelf, scan, entry_id(sequence.numbers[index], wide));
            assert_int_not_equal(slot.chunk, 0);
            shelf_remove(&bed.slab, &bed.shelf, slot);
            sequence_drop(&sequence, index, 1);
        } else if (dice < 99 && sequence.count != 0) {
            shelf_drop_oldest(&bed.slab, &bed.shelf);
            sequence_drop(&sequence, 0, 1);
        } else if (sequence.count != 0) {
            check_cut(&bed, &sequence, &chance);
        }
        if (step % 64 == 0)
            move_chunks(&bed, 1 + chance_below(&chance, 3));
        assert_int_equal(shelf_find(&bed.slab, &bed.shelf, scan, entry_id(next, wide)).chunk, 0);
        if (step % 16 == 0)
            check_order(&bed, &sequence);
    }
    check_order(&bed, &sequence);
    shelf_empty(&bed.slab, &bed.shelf);
    sequence.count = 0;
    check_order(&bed, &sequence);
    shelf_bed_close(&bed);
}

static void test_narrow(void **state)
{
    (void)state;
    check_mix(scan_plain(), false);
}

static void test_wide(void **state)
{
    (void)state;
    check_mix(scan_plain(), true);
}

static void test_with_wide_scan(void **state)
{
    (void)state;
    if (scan_wide() == NULL)
        skip();
    check_mix(scan_wide(), false);
    check_mix(scan_wide(), true);
}

static void check_scan(scan_fn *scan)
{
    uint64_t numbers[70];
    for (uint32_t i = 0; i < 70; i++)
        numbers[i] = (uint64_t)i << 32 | (i % 2 ? 5 : 0);
    for (uint32_t start = 0; start < 4; start++) {
        for (uint32_t count = 0; count + start < 70; count++) {
            for (uint32_t at = 0; at < count; at++)
                assert_int_equal(scan(numbers + start, count, numbers[start + at]), at);
            assert_int_equal(scan(numbers + start, count, numbers[start + count]), count);
        }
    }
    numbers[9] = numbers[30] = 1;
    assert_int_equal(scan(numbers, 70, 1), 9);
}

static void test_scan(void **state)
{
    (void)state;
    check_scan(scan_plain());
    if (scan_wide() != NULL)
        check_scan(scan_wide());
}

/* What is not used of a shelf stays small, at any length. */
static void test_slack(void **state)
{
    (void)state;
    struct shelf_bed bed;
    shelf_bed_open(&bed, false);
    size_t bytes = 0;
    for (uint32_t count = 1; count <= 1000; count++) {
        bytes += shelf_chunk_size(&bed.slab, &bed.shelf);
        push(&bed, entry_id(count, false), 1);
        if (count == 100)
            assert_true(bytes <= 100 * 14);
        if (count >= 64)
            assert_true(bytes <= count * 12 * 8 / 5);
        if (count >= 250)
            assert_true(bytes <= count * 12 * 4 / 3);
    }
    shelf_bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scan),  cmocka_unit_test(test_narrow),
        cmocka_unit_test(test_wide),  cmocka_unit_test(test_with_wide_scan),
        cmocka_unit_test(test_slack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

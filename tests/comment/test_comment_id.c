/* Ids of comments: they rise, have their gene, and are never made outside of their range. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "comment/comment_id.h"

static void ids_rise_and_have_their_gene(void **state)
{
    (void)state;
    struct comment_clock clock = {0};
    uint64_t last = 0;
    uint64_t id = 0;
    for (uint32_t i = 0; i < 3000; i++) {
        assert_true(comment_id_next(&clock, COMMENT_EPOCH_S + i / 1000, 8191, &id));
        assert_true(id > last);
        assert_true(id >> 63 == 0);
        assert_int_equal(comment_id_gene(id), 8191);
        last = id;
    }
    assert_int_equal(comment_id_ms(last), 2000 + 999 / COMMENT_SEQUENCE_COUNT);
}

static void a_used_up_sequence_borrows_the_next_millisecond(void **state)
{
    (void)state;
    struct comment_clock clock = {0};
    uint64_t id = 0;
    for (uint32_t i = 0; i < COMMENT_SEQUENCE_COUNT; i++)
        assert_true(comment_id_next(&clock, COMMENT_EPOCH_S + 1, 5, &id));
    assert_int_equal(comment_id_ms(id), 1000);
    assert_true(comment_id_next(&clock, COMMENT_EPOCH_S + 1, 5, &id));
    assert_int_equal(comment_id_ms(id), 1001);
    assert_int_equal(id & (COMMENT_SEQUENCE_COUNT - 1), 0);
    assert_int_equal(comment_id_gene(id), 5);
}

static void no_id_is_zero(void **state)
{
    (void)state;
    struct comment_clock clock = {0};
    uint64_t id = 0;
    assert_true(comment_id_next(&clock, COMMENT_EPOCH_S, 0, &id));
    assert_int_not_equal(id, 0);
}

static void times_outside_of_an_id_are_refused(void **state)
{
    (void)state;
    const uint32_t last_s = (uint32_t)(COMMENT_EPOCH_S + ((1ULL << COMMENT_MS_BITS) - 1) / 1000);
    struct comment_clock clock = {0};
    uint64_t id = 7;
    assert_false(comment_id_next(&clock, COMMENT_EPOCH_S - 1, 1, &id));
    assert_false(comment_id_next(&clock, 0, 1, &id));
    assert_false(comment_id_next(&clock, last_s + 1, 1, &id));
    assert_false(comment_id_next(&clock, UINT32_MAX, 1, &id));
    assert_int_equal(clock.newest, 0);
    assert_int_equal(id, 7);
    assert_true(comment_id_next(&clock, last_s, 1, &id));
    clock.newest = (1ULL << (COMMENT_MS_BITS + COMMENT_SEQUENCE_BITS)) - 1;
    assert_false(comment_id_next(&clock, last_s, 1, &id));
}

static void later_ids_are_above_those_that_exist(void **state)
{
    (void)state;
    struct comment_clock clock = {0};
    struct comment_clock other = {0};
    uint64_t first = 0;
    uint64_t next = 0;
    assert_true(comment_id_next(&clock, COMMENT_EPOCH_S + 500, 9, &first));
    comment_id_note(&other, first);
    assert_true(comment_id_next(&other, COMMENT_EPOCH_S + 400, 9, &next));
    assert_int_equal(next, first + 1);
    comment_id_note(&other, first); /* an older one changes nothing */
    assert_true(comment_id_next(&other, COMMENT_EPOCH_S + 400, 9, &next));
    assert_int_equal(next, first + 2);
    uint64_t newest = other.newest;
    comment_id_note(&other, UINT64_MAX); /* an item that somebody else has named so */
    assert_int_equal(other.newest, newest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_rise_and_have_their_gene),
        cmocka_unit_test(a_used_up_sequence_borrows_the_next_millisecond),
        cmocka_unit_test(no_id_is_zero),
        cmocka_unit_test(times_outside_of_an_id_are_refused),
        cmocka_unit_test(later_ids_are_above_those_that_exist),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

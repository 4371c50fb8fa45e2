#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buckets.h"

static void a_bound_belongs_to_what_it_bounds(void **state)
{
    (void)state;
    assert_int_equal(buckets_place(0, 0), 0);
    assert_int_equal(buckets_place(1, 0), 0);
    assert_int_equal(buckets_place(2, 0), 1);
    assert_int_equal(buckets_place(3, 0), 2);
    for (uint32_t shift = 0; shift <= BUCKETS_SHIFT_NS; shift += BUCKETS_SHIFT_NS) {
        for (uint32_t i = 0; i < BUCKETS_BOUNDED; i++) {
            uint64_t bound = (uint64_t)1 << (shift + i);
            assert_int_equal(buckets_place(bound, shift), i);
            assert_int_equal(buckets_place(bound + 1, shift), i + 1);
        }
        assert_int_equal(buckets_place(UINT64_MAX, shift), BUCKETS_BOUNDED);
    }
}

static void what_is_added_is_read(void **state)
{
    (void)state;
    static struct buckets one, two;
    struct buckets_total total = {0};
    buckets_add(&one, 1000, BUCKETS_SHIFT_NS, 3);
    buckets_add(&one, 1025, BUCKETS_SHIFT_NS, 1);
    buckets_add(&two, UINT64_MAX / 2, BUCKETS_SHIFT_NS, 1);
    assert_int_equal(buckets_read(&one, &total), 4);
    assert_int_equal(buckets_read(&two, &total), 1);
    assert_int_equal(total.counts[0], 3);
    assert_int_equal(total.counts[1], 1);
    assert_int_equal(total.counts[BUCKETS_BOUNDED], 1);
    assert_int_equal(total.sum, 4025 + UINT64_MAX / 2);
    assert_int_equal(buckets_count(&total), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bound_belongs_to_what_it_bounds),
        cmocka_unit_test(what_is_added_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"

static void test_data_leaves_the_reserve(void **state)
{
    (void)state;
    struct memory_budget budget = {.limit = 100, .reserve = 10};
    assert_true(memory_charge(&budget, 90));
    assert_int_equal(memory_left(&budget), 0);
    assert_false(memory_charge(&budget, 1));
    assert_true(memory_charge_connection(&budget, 10));
    assert_false(memory_charge_connection(&budget, 1));
    memory_release(&budget, 100);
    assert_int_equal(memory_used(&budget), 0);
}

/* A share bounds whoever has it, and is bounded by what it is a share of. */
static void test_a_share_is_charged_to_both(void **state)
{
    (void)state;
    struct memory_budget whole = {.limit = 100, .reserve = 10};
    struct memory_budget share = {.limit = 50, .within = &whole};
    assert_true(memory_charge(&share, 40));
    assert_int_equal(memory_used(&whole), 40);
    assert_false(memory_charge(&share, 11));
    assert_int_equal(memory_used(&share), 40);
    assert_int_equal(memory_used(&whole), 40);
    assert_true(memory_charge(&whole, 45));
    assert_false(memory_charge(&share, 6));
    assert_int_equal(memory_used(&share), 40);
    assert_int_equal(memory_used(&whole), 85);
    assert_true(memory_charge(&share, 5));
    memory_release(&share, 45);
    assert_int_equal(memory_used(&share), 0);
    assert_int_equal(memory_used(&whole), 45);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_data_leaves_the_reserve),
        cmocka_unit_test(test_a_share_is_charged_to_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

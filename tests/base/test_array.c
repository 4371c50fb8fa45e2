/* How arrays grow, and that nothing changes where they cannot. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/array.h"

static void test_grow(void **state)
{
    (void)state;
    size_t room = 0;
    uint64_t *numbers = array_grow(NULL, &room, 1, 4, sizeof *numbers);
    assert_non_null(numbers);
    assert_int_equal(room, 4); /* the least */
    for (uint64_t i = 0; i < 1000; i++) {
        if (i == room) {
            numbers = array_grow(numbers, &room, i + 1, 4, sizeof *numbers);
            assert_non_null(numbers);
            assert_int_equal(room, i * 2);
        }
        numbers[i] = i;
    }
    numbers = array_grow(numbers, &room, 5000, 4, sizeof *numbers);
    assert_int_equal(room, 5000); /* what is needed */
    for (uint64_t i = 0; i < 1000; i++)
        assert_int_equal(numbers[i], i);
    assert_null(array_grow(numbers, &room, SIZE_MAX / 4, 4, sizeof *numbers));
    assert_int_equal(room, 5000);
    assert_int_equal(numbers[999], 999);
    free(numbers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

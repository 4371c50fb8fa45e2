/* The order of a board, and selecting by it, against plain sorting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/ranked.h"
#include "chance.h"

#define MOST 300

static void order(void **state)
{
    (void)state;
    const struct ranked sorted[] = {
        {{0, 5}, INT64_MAX}, {{0, 1}, 7}, {{0, 2}, 7},  {{1, 0}, 7},         {{1, 1}, 7},
        {{2, 0}, 7},         {{0, 0}, 1}, {{0, 9}, -1}, {{0, 1}, INT64_MIN},
    };
    size_t count = sizeof sorted / sizeof sorted[0];
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++) {
            int got = ranked_order(sorted[i], sorted[j]);
            assert_true(i < j ? got < 0 : i > j ? got > 0 : got == 0);
        }
}

static void best(void **state)
{
    (void)state;
    struct chance chance = {test_seed()};
    struct ranked entries[MOST], sorted[MOST];
    for (uint32_t turn = 0; turn < 3000; turn++) {
        uint32_t count = chance_below(&chance, MOST) + 1, want = chance_below(&chance, count + 1);
        for (uint32_t i = 0; i < count; i++)
            entries[i] = (struct ranked){{0, turn % 2 ? i : count - i},
                                         turn % 5 == 0 ? i : chance_below(&chance, turn + 1)};
        memcpy(sorted, entries, sizeof sorted);
        ranked_sort(sorted, count);
        for (uint32_t i = 1; i < count; i++)
            assert_true(ranked_order(sorted[i - 1], sorted[i]) < 0);
        ranked_best(entries, count, want);
        ranked_sort(entries, want);
        ranked_sort(entries + want, count - want);
        assert_memory_equal(entries, sorted, count * sizeof(*entries));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order),
        cmocka_unit_test(best),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

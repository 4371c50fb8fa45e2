/* When removed texts leave the journal. Time and positions are whatever the test says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/erasure.h"

enum { HOUR = 3600000, START = 5 };

static void nothing_is_done_without_need(void **state)
{
    (void)state;
    struct erasure erasure = {.within_ms = HOUR};
    for (uint64_t now = START; now < START + 10ULL * HOUR; now += 1000)
        assert_false(erasure_turn(&erasure, now, 0, 0));
    for (uint64_t now = START; now < START + 10ULL * HOUR; now += 1000)
        assert_false(erasure_turn(&erasure, now, 500, 500)); /* it has left by itself */
}

static void a_text_leaves_in_time(void **state)
{
    (void)state;
    struct erasure erasure = {.within_ms = HOUR};
    uint64_t now = START, asked = 0;
    while (!erasure_turn(&erasure, now, 700, 500) && now < START + 2ULL * HOUR)
        now += 1000;
    asked = now;
    assert_in_range(asked, START + HOUR / 2, START + HOUR - 2 * ERASURE_RETRY_MS);
    assert_false(erasure_turn(&erasure, now + 1000, 700, 500)); /* it is being done */
    assert_false(erasure_turn(&erasure, now + 2000, 700, 700));
    for (; now < START + 10ULL * HOUR; now += 1000)
        assert_false(erasure_turn(&erasure, now, 700, 700));
}

static void each_text_leaves_in_time(void **state)
{
    (void)state;
    struct erasure erasure = {.within_ms = HOUR};
    uint64_t first = 1, asks = 0, removed_at[400] = {0}, oldest = 0, count = 0;
    for (uint64_t second = 1; second < 100000; second++) {
        if (second % 300 == 0)
            removed_at[count++] = second; /* its event ends at position 10 × count */
        if (erasure_turn(&erasure, START + second * 1000, 10 * count + 1, first)) {
            asks++;
            first = 10 * count + 1;
        }
        while (oldest < count && 10 * (oldest + 1) < first)
            oldest++;
        assert_true(oldest == count || second - removed_at[oldest] < 3600);
    }
    assert_in_range(asks, 20, 60); /* and no more often than needed */
}

static void a_failure_is_tried_again_and_told(void **state)
{
    (void)state;
    struct erasure erasure = {.within_ms = HOUR};
    uint64_t asks = 0, second = 0;
    for (; second < 3600; second++)
        asks += erasure_turn(&erasure, START + second * 1000, 700, 500);
    assert_in_range(asks, 2, 20);
    assert_false(erasure.is_late);
    for (; second < 3700; second++)
        asks += erasure_turn(&erasure, START + second * 1000, 700, 500);
    assert_true(erasure.is_late);
    assert_false(erasure_turn(&erasure, START + second * 1000, 700, 700));
    assert_false(erasure.is_late);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_done_without_need),
        cmocka_unit_test(a_text_leaves_in_time),
        cmocka_unit_test(each_text_leaves_in_time),
        cmocka_unit_test(a_failure_is_tried_again_and_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

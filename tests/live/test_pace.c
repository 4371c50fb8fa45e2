/* The share of a thread's time, with times that are passed in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "live/pace.h"

#define SECOND 1000000000ULL

/* Spends whatever there is every ten milliseconds for a second; returns how much that was. */
static uint64_t spend_a_second(uint64_t waited_ns, uint64_t over_ns)
{
    struct pace pace = {.at_ns = 5 * SECOND};
    uint64_t spent_ns = 0;
    for (uint64_t now_ns = 5 * SECOND; now_ns <= 6 * SECOND; now_ns += SECOND / 100) {
        pace.waited_ns += waited_ns;
        pace_earn(&pace, now_ns);
        uint64_t has_ns = pace_has_ns(&pace);
        if (has_ns == 0)
            continue;
        pace_spend(&pace, has_ns + over_ns);
        spent_ns += has_ns + over_ns;
    }
    return spent_ns;
}

static void a_busy_thread_gives_little(void **state)
{
    (void)state;
    assert_int_equal(spend_a_second(0, 0), SECOND / 1000 * PACE_BUSY_MILLE);
}

static void waiting_half_of_the_time_is_busy(void **state)
{
    (void)state;
    assert_int_equal(spend_a_second(SECOND / 200, 0), SECOND / 1000 * PACE_BUSY_MILLE);
}

static void a_waiting_thread_gives_more(void **state)
{
    (void)state;
    uint64_t mille = PACE_BUSY_MILLE + PACE_IDLE_MILLE / 2;
    assert_in_range(spend_a_second(SECOND / 100, 0), SECOND / 1000 * mille * 99 / 100,
                    SECOND / 1000 * mille);
}

/* A step that took longer than it was allowed to is made up for by waiting. */
static void what_was_too_much_is_paid_back(void **state)
{
    (void)state;
    uint64_t over_ns = 3000000;
    assert_in_range(spend_a_second(0, over_ns), 1,
                    SECOND / 1000 * PACE_BUSY_MILLE + over_ns + PACE_MOST_NS);
}

static void little_is_saved_up(void **state)
{
    (void)state;
    struct pace pace = {.at_ns = 1};
    pace_earn(&pace, UINT64_MAX);
    assert_int_equal(pace_has_ns(&pace), PACE_MOST_NS);
    pace_earn(&pace, UINT64_MAX);
    assert_int_equal(pace_has_ns(&pace), PACE_MOST_NS);
}

/* Neither a clock that was set back nor more waiting than there was time is worth anything. */
static void lying_clocks_earn_nothing(void **state)
{
    (void)state;
    struct pace pace = {.at_ns = 10 * SECOND, .waited_ns = 100 * SECOND};
    pace_earn(&pace, 9 * SECOND);
    assert_int_equal(pace_has_ns(&pace), 0);
    pace.waited_ns = UINT64_MAX / 2;
    pace_earn(&pace, 9 * SECOND + 1000);
    assert_in_range(pace_has_ns(&pace), 0, 1000 * (PACE_BUSY_MILLE + PACE_IDLE_MILLE) / 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_busy_thread_gives_little),
        cmocka_unit_test(waiting_half_of_the_time_is_busy),
        cmocka_unit_test(a_waiting_thread_gives_more),
        cmocka_unit_test(what_was_too_much_is_paid_back),
        cmocka_unit_test(little_is_saved_up),
        cmocka_unit_test(lying_clocks_earn_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

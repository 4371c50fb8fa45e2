/* The keys of orders: pinned values, a model in floating point, monotonicity and extremes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "chance.h"
#include "comment/order.h"

enum { ROUNDS = 200000, HOT_BIAS = 1 << 20 };
static const double z = 1.2816;
static const uint32_t time_s = 1800000000;

static uint64_t key(enum comment_order order, int64_t likes, int64_t dislikes)
{
    const struct comment_votes votes = {.likes = likes, .dislikes = dislikes};
    return comment_order_key(order, &votes, time_s);
}

/* A number of 0 to 62 bits, so that small ones are as frequent as large ones. */
static int64_t votes_of(struct chance *chance)
{
    unsigned bits = chance_below(chance, 63);
    return (int64_t)(chance_next(chance) >> 1 & ((UINT64_C(1) << bits) - 1));
}

static double model_best(double u, double d)
{
    double n = u + d;
    double p = u / n;
    double spread = z * sqrt((p * (1 - p) + z * z / (4 * n)) / n);
    double bound = (p + z * z / (2 * n) - spread) / (1 + z * z / n);
    return n == 0 ? 0 : bound * 65536;
}

static double model_hot(int64_t u, int64_t d)
{
    double distance = u > d ? (double)(u - d) : (double)(d - u);
    double seconds = 45000 * log10(distance > 1 ? distance : 1);
    return (double)time_s + HOT_BIAS + (u > d ? seconds : -seconds);
}

static double model_controversial(double u, double d)
{
    if (u == 0 || d == 0)
        return 0;
    return log2(u + d) * fmin(u, d) / fmax(u, d) * 1024;
}

static void near(double model, uint64_t found, double step)
{
    if (fabs(model - (double)found) > step)
        fail_msg("%f is not %llu", model, (unsigned long long)found);
}

static void keys_are_those_of_the_formulas(void **state)
{
    (void)state;
    struct chance chance = {test_seed()};
    for (unsigned i = 0; i < ROUNDS / SANITIZED_PART; i++) {
        int64_t u = votes_of(&chance);
        int64_t d = votes_of(&chance);
        assert_int_equal(key(ORDER_TOP, u, d), u);
        near(model_best((double)u, (double)d), key(ORDER_BEST, u, d), 1.001);
        near(model_hot(u, d), key(ORDER_HOT, u, d), 45000.0 / 64 + 1);
        near(model_controversial((double)u, (double)d), key(ORDER_CONTROVERSIAL, u, d), 1.001);
    }
}

/* Computed with 60 decimal digits by another program. These are on disk and must never change. */
static void keys_are_pinned(void **state)
{
    (void)state;
    const struct {
        int64_t likes;
        int64_t dislikes;
        uint64_t best;
        int64_t hot; /* seconds above the time */
        uint64_t controversial;
    } pinned[] = {
        {0, 0, 0, 0, 0},          {1, 0, 24800, 0, 0},          {0, 1, 0, 0, 0},
        {10, 0, 56290, 45000, 0}, {100, 0, 64476, 90000, 0},    {0, 100, 0, -90000, 0},
        {5, 5, 20460, 0, 3401},   {100, 10, 56864, 87890, 694}, {1000000, 1000000, 32738, 0, 21433},
    };
    for (size_t i = 0; i < sizeof pinned / sizeof pinned[0]; i++) {
        int64_t u = pinned[i].likes;
        int64_t d = pinned[i].dislikes;
        assert_int_equal(key(ORDER_BEST, u, d), pinned[i].best);
        assert_int_equal((int64_t)key(ORDER_HOT, u, d) - time_s - HOT_BIAS, pinned[i].hot);
        assert_int_equal(key(ORDER_CONTROVERSIAL, u, d), pinned[i].controversial);
    }
}

static void a_vote_never_goes_the_wrong_way(void **state)
{
    (void)state;
    struct chance chance = {test_seed()};
    for (unsigned i = 0; i < ROUNDS / SANITIZED_PART; i++) {
        int64_t u = votes_of(&chance);
        int64_t d = votes_of(&chance);
        int64_t more = 1 + (int64_t)((uint64_t)votes_of(&chance) >> chance_below(&chance, 63));
        assert_true(key(ORDER_TOP, u + more, d) > key(ORDER_TOP, u, d));
        assert_true(key(ORDER_BEST, u + more, d) >= key(ORDER_BEST, u, d));
        assert_true(key(ORDER_BEST, u, d + more) <= key(ORDER_BEST, u, d));
        assert_true(key(ORDER_HOT, u + more, d) >= key(ORDER_HOT, u, d));
        assert_true(key(ORDER_HOT, u, d + more) <= key(ORDER_HOT, u, d));
        int64_t same = u / 2;
        assert_true(key(ORDER_CONTROVERSIAL, same + more / 2, same + more / 2) >=
                    key(ORDER_CONTROVERSIAL, same, same));
        if (d > 0 && u > d)
            assert_true(key(ORDER_CONTROVERSIAL, u, d) >= key(ORDER_CONTROVERSIAL, u, d - 1));
    }
}

/* Around every power of ten, where the logarithm has to be exact, and for all small numbers. */
static void hot_steps_at_powers_of_ten(void **state)
{
    (void)state;
    uint64_t power = 1;
    for (unsigned e = 0; e <= 18; e++, power *= 10) {
        uint64_t seconds = 45000 * e;
        assert_int_equal(key(ORDER_HOT, (int64_t)power, 0), time_s + HOT_BIAS + seconds);
        assert_int_equal(key(ORDER_HOT, 0, (int64_t)power), time_s + HOT_BIAS - seconds);
        if (e > 0)
            assert_true(key(ORDER_HOT, (int64_t)power - 1, 0) < time_s + HOT_BIAS + seconds);
    }
    for (int64_t n = 1; n < 20000; n++)
        assert_true(key(ORDER_HOT, n, 0) <= key(ORDER_HOT, n + 1, 0));
}

static void extremes(void **state)
{
    (void)state;
    const int64_t numbers[] = {INT64_MIN,
                               -1,
                               0,
                               1,
                               INT32_MAX,
                               INT64_C(1) << 31,
                               INT64_C(1) << 32,
                               INT64_C(1) << 53,
                               INT64_C(1) << 62,
                               INT64_MAX};
    const size_t count = sizeof numbers / sizeof numbers[0];
    const uint32_t times[] = {0, 1, UINT32_MAX};
    for (size_t i = 0; i < count * count * 3; i++) {
        const struct comment_votes votes = {.likes = numbers[i % count],
                                            .dislikes = numbers[i / count % count]};
        uint64_t hot = comment_order_key(ORDER_HOT, &votes, times[i / count / count]);
        assert_true(hot > 0 && hot < UINT64_C(1) << 33);
        assert_true(comment_order_key(ORDER_BEST, &votes, 0) < 65536);
        assert_true(comment_order_key(ORDER_CONTROVERSIAL, &votes, 0) < 65536);
        assert_true(comment_order_key(ORDER_TOP, &votes, 0) <= INT64_MAX);
    }
    for (enum comment_order order = 0; order < ORDER_TOTAL; order++)
        if (comment_order_has_key(order))
            assert_int_equal(key(order, -5, INT64_MIN), key(order, 0, 0));
    assert_int_equal(key(ORDER_BEST, INT64_C(1) << 62, 0), 65535);
    assert_int_equal(key(ORDER_CONTROVERSIAL, INT64_MAX, INT64_MAX), 65535);
}

static void ties_are_older_first(void **state)
{
    (void)state;
    const struct comment_entry older = {.key = 5, .floor = 1};
    const struct comment_entry newer = {.key = 5, .floor = 2};
    const struct comment_entry better = {.key = 6, .floor = 3};
    assert_true(comment_entry_order(ORDER_TOP, &older, &newer) < 0);
    assert_true(comment_entry_order(ORDER_TOP, &newer, &older) > 0);
    assert_true(comment_entry_order(ORDER_TOP, &better, &older) < 0);
    assert_true(comment_entry_order(ORDER_OLD, &older, &newer) < 0);
    assert_true(comment_entry_order(ORDER_NEW, &older, &newer) > 0);
    assert_int_equal(comment_entry_order(ORDER_NEW, &older, &older), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_those_of_the_formulas),
        cmocka_unit_test(keys_are_pinned),
        cmocka_unit_test(a_vote_never_goes_the_wrong_way),
        cmocka_unit_test(hot_steps_at_powers_of_ten),
        cmocka_unit_test(extremes),
        cmocka_unit_test(ties_are_older_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

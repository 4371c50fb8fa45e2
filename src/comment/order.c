/*
 * Keys are kept on disk, and rows are removed by the keys that they were written with. So a key must be
 * the same on every machine, with every compiler and every C library. Results of floating point and of
 * libm may differ in the last bit; therefore everything here is computed with integers.
 *
 * Wilson's bound is not computed, but searched: it is the largest x with
 *
 *     x ≤ p  and  (p − x)² ≥ z² x (1 − x) / n        where p = u / n, n = u + d
 *
 * With x = k / 2^16 and z = 1.2816 = 801 / 625 both sides are multiplied until they are integers:
 *
 *     (625 (2^16 u − k n))² ≥ 801² k (2^16 − k) n
 *
 * The right side has at most 114 bits. If the left side has more, it is larger. So this is exact for any
 * numbers of votes, and a further like never lowers the key.
 *
 * Logarithms are computed digit by digit: if x is in [1, base), the next binary digit of its logarithm is
 * 1 if x² ≥ base, and then x² / base has the remaining digits. x is a fixed-point number. What is cut off
 * makes a result at most one step too low, and never changes which of two results is higher.
 */
#include "comment/order.h"

#include "base/assert.h"

__extension__ typedef unsigned __int128 wide;

#define BEST_BITS     16
#define BEST_ONE      (1U << BEST_BITS)
#define Z_NUMERATOR   801
#define Z_DENOMINATOR 625

#define HOT_LOG_BITS 6 /* steps of 1/64 */
#define HOT_SECONDS                                                                                \
    45000 /* a comment with ten times as many votes is as hot as one so much newer */
#define HOT_BIAS (1U << 20) /* more than the votes can subtract, so that no key is negative */

/* A logarithm is less than 64, and 1024 steps of each unit fit 16 bits. */
#define CONTROVERSIAL_BITS 10
#define LOG2_BITS          32 /* digits that are computed, before the multiplication */

#define FIXED_BITS 56 /* binary digits of the fraction of a fixed-point number */

_Static_assert(HOT_BIAS > HOT_SECONDS * 19, "log10 of a 63-bit number is less than 19");

static uint64_t at_least_0(int64_t value)
{
    return value > 0 ? (uint64_t)value : 0;
}

/* The logarithm of n, which is not 0, in steps of 2^-bits, rounded down. The base is 2 to 10. */
static uint64_t log_steps(uint64_t n, uint64_t base, unsigned bits)
{
    ASSERT(n > 0);
    uint64_t steps = 0;
    uint64_t power = 1;
    for (; n / base >= power; power *= base)
        steps++;
    uint64_t x = (uint64_t)(((wide)n << FIXED_BITS) / power);
    for (unsigned i = 0; i < bits; i++) {
        x = (uint64_t)((wide)x * x >> FIXED_BITS); /* less than base², which is at most 100 */
        bool digit = x >= base << FIXED_BITS;
        steps = steps << 1 | digit;
        if (digit)
            x /= base;
    }
    return steps;
}

/* Is Wilson's bound at least k / 2^16? */
static bool best_reaches(uint64_t likes, uint64_t votes, uint32_t k)
{
    wide have = (wide)likes << BEST_BITS;
    wide want = (wide)votes * k;
    if (have < want)
        return false;
    wide distance = (have - want) * Z_DENOMINATOR;
    if (distance >> 60 != 0)
        return true;
    wide spread = (wide)votes * ((uint64_t)k * (BEST_ONE - k));
    return distance * distance >= spread * (Z_NUMERATOR * Z_NUMERATOR);
}

static uint64_t key_best(uint64_t likes, uint64_t dislikes)
{
    uint64_t votes = likes + dislikes; /* both have 63 bits */
    uint32_t key = 0;
    if (votes == 0)
        return 0;
    for (uint32_t bit = BEST_ONE / 2; bit != 0; bit /= 2)
        if (best_reaches(likes, votes, key | bit))
            key |= bit;
    return key;
}

static uint64_t key_hot(uint64_t likes, uint64_t dislikes, uint32_t time_s)
{
    uint64_t distance = likes > dislikes ? likes - dislikes : dislikes - likes;
    if (distance <= 1)
        return HOT_BIAS + (uint64_t)time_s;
    uint64_t seconds = log_steps(distance, 10, HOT_LOG_BITS) * HOT_SECONDS >> HOT_LOG_BITS;
    return likes > dislikes ? HOT_BIAS + time_s + seconds : HOT_BIAS + time_s - seconds;
}

static uint64_t key_controversial(uint64_t likes, uint64_t dislikes)
{
    uint64_t less = likes < dislikes ? likes : dislikes;
    uint64_t more = likes < dislikes ? dislikes : likes;
    if (less == 0)
        return 0;
    wide product = (wide)log_steps(likes + dislikes, 2, LOG2_BITS) * less;
    return (uint64_t)(product / more) >> (LOG2_BITS - CONTROVERSIAL_BITS);
}

uint64_t comment_order_key(enum comment_order order, const struct comment_votes *votes,
                           uint32_t time_s)
{
    ASSERT(comment_order_has_key(order) && order < ORDER_TOTAL);
    uint64_t likes = at_least_0(votes->likes);
    uint64_t dislikes = at_least_0(votes->dislikes);
    switch (order) {
    case ORDER_BEST:
        return key_best(likes, dislikes);
    case ORDER_HOT:
        return key_hot(likes, dislikes, time_s);
    case ORDER_CONTROVERSIAL:
        return key_controversial(likes, dislikes);
    default:
        return likes;
    }
}

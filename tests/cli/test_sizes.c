#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/sizes.h"

static struct options usual_options(void)
{
    struct options options;
    char problem[256];
    bool help;
    assert_true(options_read(&options, 0, NULL, &help, problem, sizeof problem));
    return options;
}

/* Shares of memory never come to more than there is of it. */
static void shares_fit(void **state)
{
    (void)state;
    struct options options = usual_options();
    for (uint64_t memory = SIZES_STORE_MIN; memory < 1ULL << 50; memory *= 3) {
        options.max_memory = memory;
        struct sizes sizes = sizes_of(&options);
        assert_int_equal(sizes.memory, memory);
        assert_true(sizes.window_events > 0);
        assert_true(sizes.checkpoint_bytes > 0 && sizes.lag_max_bytes > sizes.lag_slow_bytes);
        assert_int_equal(sizes.missing, 0);
        assert_true(sizes.filters >= SIZES_FILTERS_MIN);
        assert_true(sizes.connections + sizes.block_cache + sizes.write_buffer + sizes.trends +
                        sizes.hot + sizes.filters <=
                    sizes.budget);
    }
}

/* What filters, which come first, could take, and what else an option gives away, is not the hot tier's. */
static void the_hot_tier_has_its_share(void **state)
{
    (void)state;
    struct options options = usual_options();
    options.max_memory = SIZES_STORE_MIN;
    struct sizes without = sizes_of(&options);
    assert_true(without.hot > MIB(8));
    options.limit_user_read.per_s = 1;
    struct sizes with = sizes_of(&options);
    assert_int_equal(with.missing, 0);
    assert_int_equal(with.hot, without.hot);
    assert_int_equal(with.filters, without.filters - options.limit_memory);

    options.limit_user_read.per_s = 0;
    options.block_cache_bytes = without.block_cache + without.filters - SIZES_FILTERS_MIN;
    assert_int_equal(sizes_of(&options).missing, 0);
    options.block_cache_bytes++;
    assert_int_equal(sizes_of(&options).missing, 1);
    assert_int_equal(sizes_of(&options).filters, SIZES_FILTERS_MIN);
}

static void what_is_given_is_taken(void **state)
{
    (void)state;
    struct options options = usual_options();
    options.max_memory = GIB(1);
    options.block_cache_bytes = MIB(5);
    options.checkpoint_bytes = 1;
    options.lag_max_bytes = 1;
    struct sizes sizes = sizes_of(&options);
    assert_int_equal(sizes.block_cache, MIB(5));
    assert_int_equal(sizes.checkpoint_bytes, 1);
    assert_int_equal(sizes.lag_max_bytes, 1);
}

/* Those who add to them do not come out below where they began. */
static void the_largest_that_can_be_given_adds_up(void **state)
{
    (void)state;
    struct options options = usual_options();
    options.max_memory = UINT64_MAX;
    options.block_cache_bytes = UINT64_MAX;
    options.checkpoint_bytes = UINT64_MAX;
    options.lag_max_bytes = UINT64_MAX;
    options.ready_memory = UINT64_MAX;
    struct sizes sizes = sizes_of(&options);
    uint64_t position = 1ULL << 56, sum;
    assert_false(__builtin_add_overflow(position, sizes.checkpoint_bytes, &sum));
    assert_false(__builtin_add_overflow(position, sizes.lag_max_bytes, &sum));
    assert_false(__builtin_add_overflow(sizes.block_cache, sizes.write_buffer, &sum));
    assert_false(__builtin_add_overflow(sum, sizes.budget, &sum));

    options.max_memory = MIB(256);
    sizes = sizes_of(&options);
    assert_true(sizes.missing > 0); /* so that it is refused */
    assert_true(sizes.block_cache > sizes.budget);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_fit),
        cmocka_unit_test(the_hot_tier_has_its_share),
        cmocka_unit_test(what_is_given_is_taken),
        cmocka_unit_test(the_largest_that_can_be_given_adds_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * One filter alone: against a model, how often it is wrong, how it grows, and what it does when it
 * cannot.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/limits.h"
#include "chance.h"
#include "filter/filter_priv.h"

static struct memory_budget roomy(void)
{
    return (struct memory_budget){.limit = GIB(1)};
}

/*
 * Keys in families of four: alike in every segment of up to 64 buckets, told apart in larger ones.
 * Removing one where it is alike must never cost another its place where it is not.
 */
#define FAMILY 4
#define KEYS   3000
#define COPIES 2 /* of one key, at most: a family fills two buckets */

struct model {
    struct filter *filter;
    struct chance chance;
    uint64_t keys[KEYS];
    unsigned copies[KEYS];
    uint64_t total;
};

static void model_make_keys(struct model *model)
{
    for (int i = 0; i < KEYS; i += FAMILY) {
        uint64_t first = chance_next(&model->chance);
        for (int j = 0; j < FAMILY; j++) {
            uint64_t middle = chance_next(&model->chance) & 0x0000ffffffffffc0ULL;
            model->keys[i + j] = (first & 0xffff00000000003fULL) | middle;
        }
    }
}

static void model_step(struct model *model, bool growing)
{
    uint32_t i = chance_below(&model->chance, KEYS);
    bool add = chance_below(&model->chance, 100) < (growing ? 55 : 45);
    if (add && model->copies[i] < COPIES) {
        filter_add(model->filter, model->keys[i]);
        model->copies[i]++;
        model->total++;
    } else if (!add && model->copies[i] > 0) {
        filter_remove(model->filter, model->keys[i]);
        model->copies[i]--;
        model->total--;
    }
    uint32_t family = i / FAMILY * FAMILY;
    for (uint32_t j = family; j < family + FAMILY; j++)
        if (model->copies[j] > 0 && !filter_may_have(model->filter, model->keys[j]))
            fail_msg("key %u of %llu is in and was not found", j, (unsigned long long)model->total);
}

static void model_check_all(const struct model *model)
{
    struct filter_stats stats;
    for (int i = 0; i < KEYS; i++)
        if (model->copies[i] > 0)
            assert_true(filter_may_have(model->filter, model->keys[i]));
    filter_stats(model->filter, &stats);
    assert_int_equal(stats.keys, model->total);
    assert_false(stats.open);
}

static void test_a_model_agrees(void **state)
{
    (void)state;
    struct memory_budget budget = roomy();
    static struct model model;
    struct filter_stats stats;
    model = (struct model){.chance = {test_seed()}, .filter = filter_new(&budget, 4)};
    assert_non_null(model.filter);
    model_make_keys(&model);
    for (int step = 0; step < 3000000; step++) {
        model_step(&model, step / 30000 % 2 == 0);
        if (step % 10000 == 0)
            model_check_all(&model);
    }
    model_check_all(&model);
    filter_stats(model.filter, &stats);
    print_message("%llu keys, %llu slots in %u segments\n", (unsigned long long)stats.keys,
                  (unsigned long long)stats.slots, stats.segments);
    assert_true(stats.segments >= 4);
    for (int i = 0; i < KEYS; i++)
        for (; model.copies[i] > 0; model.copies[i]--)
            filter_remove(model.filter, model.keys[i]);
    for (int i = 0; i < KEYS; i++)
        assert_false(filter_may_have(model.filter, model.keys[i]));
    filter_free(model.filter);
    assert_int_equal(memory_used(&budget), 0);
}

/* x and y are alike in the first segment only; x stands in the first, y in the second. */
static void test_removing_takes_from_the_largest(void **state)
{
    (void)state;
    struct memory_budget budget = roomy();
    struct filter *filter = filter_new(&budget, 15); /* 4 buckets */
    uint64_t x = 0xbeef000000000001ULL;
    uint64_t y = x | 0x10; /* 16 buckets tell them apart, 4 do not */
    filter_add(filter, x);
    assert_true(filter_may_have(filter, y));
    assert_true(filter_open_segment(filter, 4));
    filter_add(filter, y);
    filter_remove(filter, y);
    assert_true(filter_may_have(filter, x));
    filter_add(filter, y);
    filter_remove(filter, x); /* its own entry is alike to y */
    assert_true(filter_may_have(filter, y));
    filter_remove(filter, y);
    assert_false(filter_may_have(filter, y));
    assert_false(filter_may_have(filter, x));
    filter_free(filter);
}

static void test_false_positives_are_rare(void **state)
{
    (void)state;
    const uint32_t count = 1000000;
    struct memory_budget budget = roomy();
    uint64_t seed = test_seed();
    struct chance chance = {seed};
    struct filter *filter = filter_new(&budget, 0);
    for (uint32_t i = 0; i < count; i++)
        filter_add(filter, chance_next(&chance));
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < count; i++)
        wrong += filter_may_have(filter, chance_next(&chance));
    chance.state = seed;
    for (uint32_t i = 0; i < count; i++)
        assert_true(filter_may_have(filter, chance_next(&chance)));
    struct filter_stats stats;
    filter_stats(filter, &stats);
    print_message("%u of %u absent keys were taken for present; %u segments, %.2f bytes a key\n",
                  wrong, count, stats.segments, (double)stats.bytes / count);
    assert_int_equal(stats.keys, count);
    assert_int_equal(stats.segments, 3);
    assert_true(wrong > 0 && wrong < count / 1000);
    filter_free(filter);
}

/* Constant size, constant change: what room older segments have is used, none is added. */
static void test_turnover_does_not_grow(void **state)
{
    (void)state;
    const uint32_t count = 4500; /* of 960 + 3840 */
    struct memory_budget budget = roomy();
    struct chance chance = {test_seed()};
    uint64_t *keys = malloc(count * sizeof *keys);
    struct filter *filter = filter_new(&budget, 960);
    for (uint32_t i = 0; i < count; i++)
        filter_add(filter, keys[i] = chance_next(&chance));
    for (uint32_t step = 0; step < 300000; step++) {
        uint32_t i = chance_below(&chance, count);
        filter_remove(filter, keys[i]);
        filter_add(filter, keys[i] = chance_next(&chance));
    }
    for (uint32_t i = 0; i < count; i++)
        assert_true(filter_may_have(filter, keys[i]));
    struct filter_stats stats;
    filter_stats(filter, &stats);
    assert_int_equal(stats.keys, count);
    assert_int_equal(stats.segments, 2);
    filter_free(filter);
    free(keys);
}

static void test_without_memory_it_opens(void **state)
{
    (void)state;
    struct memory_budget budget = {.limit = KIB(64)};
    struct chance chance = {test_seed()};
    struct filter *filter = filter_new(&budget, 960);
    struct filter_stats stats;
    assert_non_null(filter);
    do {
        filter_add(filter, chance_next(&chance));
        filter_stats(filter, &stats);
        assert_true(stats.bytes <= budget.limit);
        assert_int_equal(stats.bytes, memory_used(&budget));
    } while (!stats.open);
    assert_true(stats.keys > KIB(32) / 2 * 9 / 10); /* it took the smaller steps that fitted */
    for (int i = 0; i < 100000; i++)
        assert_true(filter_may_have(filter, chance_next(&chance)));
    uint64_t key = chance_next(&chance);
    filter_add(filter, key);
    filter_remove(filter, key);
    filter_remove(filter, key);
    filter_stats(filter, &stats);
    assert_true(stats.open);
    assert_true(filter_may_have(filter, key));
    filter_free(filter);
    assert_int_equal(memory_used(&budget), 0);
}

static void test_there_may_be_no_memory_at_all(void **state)
{
    (void)state;
    struct memory_budget budget = {.limit = KIB(16)};
    assert_null(filter_new(&budget, 0));
    assert_int_equal(memory_used(&budget), 0);
    budget.limit = 100;
    assert_null(filter_new(&budget, 0));
    assert_int_equal(memory_used(&budget), 0);
}

/* More copies of one key than any segment has places for: it grows, then opens; never wrong. */
static void test_one_key_many_times(void **state)
{
    (void)state;
    struct memory_budget budget = {.limit = MIB(1)};
    struct filter *filter = filter_new(&budget, 4);
    struct filter_stats stats;
    uint64_t key = 0x1234000000005678ULL;
    for (int i = 0; i < 10; i++)
        filter_add(filter, key);
    filter_stats(filter, &stats);
    assert_int_equal(stats.segments, 2);
    for (int i = 0; i < 10; i++) {
        assert_true(filter_may_have(filter, key));
        filter_remove(filter, key);
    }
    assert_false(filter_may_have(filter, key));
    for (int i = 0; i < 1000; i++)
        filter_add(filter, key);
    filter_stats(filter, &stats);
    assert_true(stats.open);
    assert_true(filter_may_have(filter, ~key));
    filter_free(filter);
}

static void test_the_one_after_takes_them_in_one_segment(void **state)
{
    (void)state;
    struct memory_budget budget = roomy();
    struct chance chance = {test_seed()};
    struct filter *filter = filter_new(&budget, 0);
    struct filter_stats stats, after;
    assert_false(filter_is_scattered(filter));
    for (int i = 0; i < 900000; i++)
        filter_add(filter, chance_next(&chance));
    assert_true(filter_is_scattered(filter));
    struct filter *next = filter_new_after(filter, 900000, true);
    filter_stats(next, &after);
    for (int i = 0; i < 900000; i++)
        filter_add(next, chance_next(&chance));
    filter_stats(next, &stats);
    assert_int_equal(stats.segments, 1);
    assert_int_equal(stats.slots, after.slots);
    assert_false(filter_is_scattered(next));
    struct filter *last = filter_new_after(next, 0, true); /* never as small again */
    filter_stats(last, &after);
    assert_true(after.slots > stats.slots);
    assert_null(filter_new_after(next, UINT64_MAX / 2, true));
    struct filter *least = filter_new_after(next, 0, false); /* unless that may be */
    assert_true(filter_is_large(last) && filter_is_loose(last) && !filter_is_loose(next));
    assert_false(filter_is_large(least));
    filter_free(least);
    filter_free(last);
    filter_free(next);
    filter_free(filter);
    assert_int_equal(memory_used(&budget), 0);
}

static void test_a_retired_one_says_maybe_and_has_no_memory(void **state)
{
    (void)state;
    struct memory_budget budget = roomy();
    struct chance chance = {test_seed()};
    struct filter *filter = filter_new(&budget, 0);
    for (int i = 0; i < 900000; i++)
        filter_add(filter, chance_next(&chance));
    filter_retire(filter);
    assert_int_equal(memory_used(&budget), sizeof *filter);
    for (int i = 0; i < 1000; i++) {
        uint64_t key = chance_next(&chance);
        filter_prefetch(filter, key);
        assert_true(filter_may_have(filter, key));
    }
    filter_free(filter);
    assert_int_equal(memory_used(&budget), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_model_agrees),
        cmocka_unit_test(test_removing_takes_from_the_largest),
        cmocka_unit_test(test_false_positives_are_rare),
        cmocka_unit_test(test_turnover_does_not_grow),
        cmocka_unit_test(test_without_memory_it_opens),
        cmocka_unit_test(test_there_may_be_no_memory_at_all),
        cmocka_unit_test(test_one_key_many_times),
        cmocka_unit_test(test_the_one_after_takes_them_in_one_segment),
        cmocka_unit_test(test_a_retired_one_says_maybe_and_has_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

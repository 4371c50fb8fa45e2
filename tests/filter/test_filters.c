/*
 * The two filters following a store through random batches, and made anew from it.
 */
#include "world.h"

#include "base/limits.h"
#include "spans.h"

static struct world world;

/* Looked at in every state that a reader could meet. */
static void test_following_never_says_a_false_no(void **state)
{
    (void)state;
    struct memory_budget budget = {.limit = GIB(1)};
    struct filters *filters = filters_new_small(&budget, 77, 30);
    world_make(&world, test_seed());
    for (int step = 0; step < 400; step++) {
        const struct store_changes *changes = world_draw(&world, step / 100 % 2 == 0 ? 70 : 30);
        filters_before(filters, changes);
        world_check(&world, filters);
        world_apply(&world);
        world_check(&world, filters);
        filters_after(filters, changes);
        world_check(&world, filters);
        struct filter_stats live;
        struct filter_stats known;
        filters_stats(filters, &live, &known);
        assert_int_equal(live.keys, world_reactions(&world));
        assert_true(known.keys <= WORLD_ITEMS + WORLD_USERS * WORLD_KINDS * WORLD_TYPES);
    }
    uint64_t absent;
    uint64_t suspects;
    world_suspects(&world, filters, &absent, &suspects);
    print_message("%llu reactions live; of %llu absent %llu are suspected\n",
                  (unsigned long long)world_reactions(&world), (unsigned long long)absent,
                  (unsigned long long)suspects);
    assert_true(suspects * 100 < absent);
    filters_free(filters);
    assert_int_equal(memory_used(&budget), 0);
}

static void test_empty_filters_say_no(void **state)
{
    (void)state;
    struct memory_budget budget = {.limit = GIB(1)};
    struct filters *filters = filters_new(&budget, test_seed());
    for (uint32_t user = 0; user < WORLD_USERS; user++) {
        assert_false(filters_may_have_reaction(filters, world_user(user), 0, world_item(user)));
        assert_false(filters_may_have_shelf(filters, world_user(user), 0, 0));
        assert_false(filters_may_have_item(filters, world_item(user)));
        filters_prefetch_item(filters, world_item(user));
    }
    filters_free(filters);
}

/* The sort, the kind, the type, the user and the item each make a key another one. */
static void test_keys_are_told_apart(void **state)
{
    (void)state;
    struct memory_budget budget = {.limit = GIB(1)};
    struct filters *filters = filters_new(&budget, 1);
    struct id user = {.lo = 7};
    struct item item = {.id = {.lo = 9}, .type = 2};
    struct store_reaction made = {.user = user, .item = item, .kind = 1, .time_s = 5};
    filters_before(filters, &(struct store_changes){BOTH_SPANS(&made, 1)});
    assert_true(filters_may_have_reaction(filters, user, 1, item));
    assert_false(filters_may_have_reaction(filters, user, 0, item));
    assert_false(filters_may_have_reaction(filters, (struct id){.lo = 9}, 1, item));
    assert_false(filters_may_have_reaction(filters, (struct id){.hi = 7, .lo = 7}, 1, item));
    assert_false(
        filters_may_have_reaction(filters, user, 1, (struct item){.id = item.id, .type = 3}));
    assert_true(filters_may_have_shelf(filters, user, 1, 2));
    assert_false(filters_may_have_shelf(filters, user, 2, 1));
    assert_false(filters_may_have_shelf(filters, user, 1, 3));
    assert_true(filters_may_have_item(filters, item));
    assert_false(filters_may_have_item(filters, (struct item){.id = item.id, .type = 1}));

    struct store_count count = {.item = {.id = {.lo = 100}, .type = 1}, .name = 3, .value = 2};
    filters_before(filters, &(struct store_changes){.item.counts = &count, .item.count_count = 1});
    assert_true(filters_may_have_item(filters, count.item));

    made.was_live = true;
    made.time_s = 6; /* another time: it stays */
    struct store_changes changes = {BOTH_SPANS(&made, 1)};
    filters_before(filters, &changes);
    filters_after(filters, &changes);
    assert_true(filters_may_have_reaction(filters, user, 1, item));
    made.time_s = 0;
    filters_before(filters, &changes);
    assert_true(filters_may_have_reaction(filters, user, 1, item));
    filters_after(filters, &changes);
    assert_false(filters_may_have_reaction(filters, user, 1, item));
    assert_true(filters_may_have_shelf(filters, user, 1, 2)); /* ever, not now */
    filters_free(filters);
}

/* Ids as clients number them: one after the other. */
static void test_false_positives_of_sequential_ids(void **state)
{
    (void)state;
    struct memory_budget budget = {.limit = GIB(1)};
    struct filters *filters = filters_new(&budget, test_seed());
    uint64_t wrong = 0;
    for (uint64_t user = 1; user <= 2000; user++) {
        for (uint64_t i = 1; i <= 100; i++) {
            struct store_reaction made = {
                .user = {.lo = user}, .item = {.id = {.lo = i}, .type = 1}, .time_s = 1};
            filters_before(filters, &(struct store_changes){BOTH_SPANS(&made, 1)});
        }
    }
    for (uint64_t user = 1; user <= 2000; user++)
        for (uint64_t i = 101; i <= 200; i++)
            wrong += filters_may_have_reaction(filters, (struct id){.lo = user}, 0,
                                               (struct item){.id = {.lo = i}, .type = 1});
    print_message("%llu of 200000 absent reactions are suspected\n", (unsigned long long)wrong);
    assert_true(wrong < 200);
    filters_free(filters);
}

static void test_a_rebuild_equals_what_followed(void **state)
{
    (void)state;
    struct memory_budget budget = {.limit = GIB(1)};
    struct filters *followed = filters_new_small(&budget, 5, 30);
    struct filters *rebuilt = filters_new(&budget, 5);
    struct told told = {0};
    world_make(&world, test_seed());
    for (int step = 0; step < 100; step++)
        world_step(&world, followed, 60);
    assert_int_equal(filters_rebuild(rebuilt, &world.store.admin, tell, &told), STATUS_OK);
    assert_true(told.calls > 0);
    assert_int_equal(told.done, world_reactions(&world));
    assert_int_equal(told.total, told.done);
    for (int step = 0; step < 100; step++) { /* both go on from there */
        world_check(&world, rebuilt);
        world_draw(&world, 40);
        filters_before(followed, &world.changes);
        filters_before(rebuilt, &world.changes);
        world_apply(&world);
        filters_after(followed, &world.changes);
        filters_after(rebuilt, &world.changes);
    }
    struct filter_stats live[2];
    struct filter_stats known[2];
    filters_stats(followed, &live[0], &known[0]);
    filters_stats(rebuilt, &live[1], &known[1]);
    assert_int_equal(live[0].keys, world_reactions(&world));
    assert_int_equal(live[1].keys, live[0].keys);
    world_check(&world, rebuilt);
    uint64_t absent;
    uint64_t suspects;
    world_suspects(&world, rebuilt, &absent, &suspects);
    assert_true(suspects * 200 < absent);
    filters_free(followed);
    filters_free(rebuilt);
    assert_int_equal(memory_used(&budget), 0);
}

static void test_a_rebuild_that_fails_leaves_them_as_new(void **state)
{
    (void)state;
    struct memory_budget budget = {.limit = GIB(1)};
    struct filters *filters = filters_new(&budget, 5);
    struct filters *other = filters_new(&budget, 5);
    uint64_t before = memory_used(&budget);
    struct filter_stats live;
    struct filter_stats known;
    world_make(&world, test_seed());
    world_step(&world, other, 100);
    world.visit_status = STATUS_IO_FAILED;
    assert_int_equal(filters_rebuild(filters, &world.store.admin, NULL, NULL), STATUS_IO_FAILED);
    filters_stats(filters, &live, &known);
    assert_int_equal(live.keys + known.keys, 0);
    assert_int_equal(memory_used(&budget), before);

    world.visit_status = STATUS_OK;
    budget.limit = before;
    assert_int_equal(filters_rebuild(filters, &world.store.admin, NULL, NULL), STATUS_NO_MEMORY);
    assert_int_equal(memory_used(&budget), before);
    budget.limit = GIB(1);
    assert_int_equal(filters_rebuild(filters, &world.store.admin, NULL, NULL), STATUS_OK);
    world_check(&world, filters);
    filters_free(other);
    filters_free(filters);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_following_never_says_a_false_no),
        cmocka_unit_test(test_empty_filters_say_no),
        cmocka_unit_test(test_keys_are_told_apart),
        cmocka_unit_test(test_false_positives_of_sequential_ids),
        cmocka_unit_test(test_a_rebuild_equals_what_followed),
        cmocka_unit_test(test_a_rebuild_that_fails_leaves_them_as_new),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

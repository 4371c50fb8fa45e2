/*
 * Filters that are moved to one segment while batches go on: at no moment a false "no", and at the end
 * what a rebuild would have made.
 */
#include "world.h"

#include <stdio.h>
#include <unistd.h>

#include "base/limits.h"
#include "spans.h"

#define SEED 5

static struct world world;

static struct filters *scattered(struct memory_budget *budget, int steps)
{
    struct filters *filters = filters_new_small(budget, SEED, 30);
    struct filter_stats live, known;
    world_make(&world, test_seed());
    for (int step = 0; step < steps; step++)
        world_step(&world, filters, 70);
    filters_stats(filters, &live, &known);
    assert_true(live.segments > 1 && known.segments > 1);
    return filters;
}

/* More than the first segments take, and little beside what follows. */
static void make_some(struct filters *filters)
{
    world_make(&world, test_seed());
    while (world_reactions(&world) < 100)
        world_step(&world, filters, 100);
}

static enum status move_to_end(struct filters *filters)
{
    enum status status;
    while ((status = filters_move_rows(filters, &world.store.admin, 500)) == STATUS_MORE)
        continue;
    return status;
}

/* In one segment each, with the keys that there are. */
static void check_moved(const struct filters *filters)
{
    struct filter_stats live, known;
    struct filters_move_stats moving;
    uint64_t absent, suspects;
    filters_stats(filters, &live, &known);
    filters_move_stats(filters, &moving);
    assert_int_equal(live.segments, 1);
    assert_int_equal(known.segments, 1);
    assert_false(live.open || known.open);
    assert_int_equal(live.keys, world_reactions(&world));
    assert_true(moving.moves > 0);
    assert_int_equal(moving.bytes + moving.part, 0);
    world_check(&world, filters);
    world_suspects(&world, filters, &absent, &suspects);
    assert_true(suspects * 200 < absent);
}

/* Batches and moves in turn, looked at after each; of the moves, how many calls were amid one. */
static uint64_t move_among_batches(struct filters *filters)
{
    uint64_t calls = 0;
    for (int step = 0; step < 600; step++) {
        const struct store_changes *changes = world_draw(&world, step / 100 % 2 == 0 ? 70 : 30);
        filters_before(filters, changes);
        world_check(&world, filters);
        world_apply(&world);
        filters_after(filters, changes);
        world_check(&world, filters);
        uint32_t rows = 1 + chance_below(&world.chance, 800);
        for (uint32_t i = chance_below(&world.chance, 4); i > 0; i--) {
            enum status status = filters_move_rows(filters, &world.store.admin, rows);
            assert_true(status == STATUS_OK || status == STATUS_MORE);
            calls += status == STATUS_MORE;
            world_check(&world, filters);
        }
    }
    return calls;
}

/* Mostly one world has moves enough; where chance made few, another one follows. */
static void test_moving_among_batches_never_says_a_false_no(void **state)
{
    (void)state;
    uint64_t calls = 0, moves = 0;
    for (uint64_t seed = test_seed(); moves <= 3 || calls <= moves; seed++) {
        struct memory_budget budget = {.limit = GIB(1)};
        struct filters *filters = filters_new_small(&budget, SEED, 4);
        struct filters_move_stats moving;
        world_make(&world, seed);
        calls += move_among_batches(filters);
        filters_move_stats(filters, &moving);
        moves += moving.moves;
        print_message("%llu moves, %llu calls in the middle of one\n", (unsigned long long)moves,
                      (unsigned long long)calls);
        while (move_to_end(filters) == STATUS_OK && moving.bytes > 0)
            filters_move_stats(filters, &moving);
        check_moved(filters);
        filters_free(filters);
        assert_int_equal(memory_used(&budget), 0);
    }
}

/* Nothing is moved for ever, and what is left of those before is next to nothing. */
static void test_a_move_comes_to_an_end(void **state)
{
    (void)state;
    struct memory_budget budget = {.limit = GIB(1)};
    struct filters *filters = scattered(&budget, 100);
    struct filter_stats live, known;
    struct filters_move_stats moving;
    assert_int_equal(filters_move_rows(filters, &world.store.admin, 500), STATUS_MORE);
    filters_stats(filters, &live, &known);
    filters_move_stats(filters, &moving);
    assert_true(moving.bytes > 0 && moving.part > 0 && moving.part < STORE_PARTITIONS);
    assert_int_equal(memory_used(&budget), live.bytes + known.bytes + moving.bytes);
    assert_int_equal(move_to_end(filters), STATUS_OK);
    check_moved(filters);
    for (int i = 0; i < 10; i++)
        assert_int_equal(filters_move(filters, &world.store.admin), STATUS_OK);
    filters_move_stats(filters, &moving);
    assert_int_equal(moving.moves, 1);
    filters_stats(filters, &live, &known);
    assert_int_equal(memory_used(&budget), live.bytes + known.bytes + 2 * sizeof(struct filter));
    filters_free(filters);
    assert_int_equal(memory_used(&budget), 0);
}

static void test_a_move_that_fails_changes_nothing(void **state)
{
    (void)state;
    struct memory_budget budget = {.limit = GIB(1)};
    struct filters *filters = scattered(&budget, 100);
    uint64_t before = memory_used(&budget);
    assert_int_equal(filters_move_rows(filters, &world.store.admin, 500), STATUS_MORE);
    world.visit_status = STATUS_IO_FAILED;
    assert_int_equal(filters_move_rows(filters, &world.store.admin, 500), STATUS_IO_FAILED);
    assert_int_equal(memory_used(&budget), before);
    world_check(&world, filters);
    for (int step = 0; step < 20; step++)
        world_step(&world, filters, 40);
    world_check(&world, filters);
    world.visit_status = STATUS_OK;
    assert_int_equal(move_to_end(filters), STATUS_OK);
    check_moved(filters);
    filters_free(filters);
}

static void test_without_memory_the_segments_stay(void **state)
{
    (void)state;
    struct memory_budget budget = {.limit = GIB(1)};
    struct filters *filters = scattered(&budget, 100);
    uint64_t before = memory_used(&budget);
    budget.limit = before + 2 * sizeof(struct filter) + 4096; /* for one of them */
    assert_int_equal(filters_move(filters, &world.store.admin), STATUS_NO_MEMORY);
    assert_int_equal(memory_used(&budget), before);
    world_check(&world, filters);
    budget.limit = GIB(1);
    assert_int_equal(move_to_end(filters), STATUS_OK);
    check_moved(filters);
    filters_free(filters);
}

/* In the middle of a move there is no more memory for either: the one in use opens, the other goes. */
static void test_a_filter_that_opened_is_made_anew(void **state)
{
    (void)state;
    struct memory_budget budget = {.limit = GIB(1)};
    struct filters *filters = filters_new_small(&budget, SEED, 4);
    struct filter_stats live, known;
    make_some(filters);
    assert_int_equal(filters_move_rows(filters, &world.store.admin, 50), STATUS_MORE);
    budget.limit = memory_used(&budget);
    for (int step = 0; step < 100; step++)
        world_step(&world, filters, 70);
    filters_stats(filters, &live, &known);
    assert_true(live.open);
    world_check(&world, filters);
    assert_int_equal(move_to_end(filters), STATUS_OK); /* it was outgrown */
    assert_int_equal(move_to_end(filters), STATUS_NO_MEMORY);
    world_check(&world, filters);
    budget.limit = GIB(1);
    for (int i = 0; i < 3; i++) /* how much `known` should have it does not know itself */
        assert_int_equal(move_to_end(filters), STATUS_OK);
    check_moved(filters);
    filters_free(filters);
    assert_int_equal(memory_used(&budget), 0);
}

/* What is being made is too small before it is done: it is given up for a larger one. */
static void test_a_move_that_is_outgrown_begins_anew(void **state)
{
    (void)state;
    struct memory_budget budget = {.limit = GIB(1)};
    struct filters *filters = filters_new_small(&budget, SEED, 4);
    struct filters_move_stats moving;
    make_some(filters);
    assert_int_equal(filters_move_rows(filters, &world.store.admin, 50), STATUS_MORE);
    filters_move_stats(filters, &moving);
    assert_true(moving.bytes > 0 && moving.part > 0);
    for (int step = 0; step < 100; step++)
        world_step(&world, filters, 70);
    assert_int_equal(filters_move_rows(filters, &world.store.admin, 50), STATUS_OK);
    filters_move_stats(filters, &moving);
    assert_int_equal(moving.bytes + moving.part + moving.moves, 0);
    world_check(&world, filters);
    assert_int_equal(move_to_end(filters), STATUS_OK);
    check_moved(filters);
    filters_free(filters);
    assert_int_equal(memory_used(&budget), 0);
}

static void test_saved_in_the_middle_and_loaded(void **state)
{
    (void)state;
    struct memory_budget budget = {.limit = GIB(1)};
    struct filters *filters = scattered(&budget, 100);
    struct filters *loaded = filters_new(&budget, 1);
    char path[] = "/tmp/laud-filters-XXXXXX";
    char problem[256] = "";
    uint64_t position;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(filters_move_rows(filters, &world.store.admin, 500), STATUS_MORE);
    assert_int_equal(filters_save(filters, path, 42), 0);
    assert_int_equal(filters_load(loaded, path, &position, NULL, NULL, problem, sizeof problem),
                     STATUS_OK);
    assert_int_equal(position, 42);
    world_check(&world, loaded);
    assert_int_equal(move_to_end(loaded), STATUS_OK); /* begins anew */
    check_moved(loaded);
    assert_int_equal(move_to_end(filters), STATUS_OK); /* goes on */
    check_moved(filters);
    assert_int_equal(filters_save(filters, path, 43), 0);
    assert_int_equal(filters_load(loaded, path, &position, NULL, NULL, problem, sizeof problem),
                     STATUS_OK);
    assert_true(loaded->known_kept > 0 && loaded->known_kept == filters->known_kept);
    world_check(&world, loaded);
    filters_free(loaded);
    filters_free(filters);
    assert_int_equal(memory_used(&budget), 0);
    assert_int_equal(unlink(path), 0);
}

/* A store of users that each have one reaction on an item of their own. */
struct crowd {
    struct store store;
    uint32_t first; /* user, */
    uint32_t count; /* and how many there are from there on */
    struct store_reaction changes[500];
};

static struct store_reaction crowd_reaction(uint32_t user)
{
    return (struct store_reaction){
        .user = {.lo = user}, .item = {.id = {.lo = user}}, .time_s = 1000};
}

static enum status crowd_visit(struct store_admin *admin, const struct store_visitor *visitor)
{
    const struct crowd *crowd = (const struct crowd *)store_of_admin(admin);
    for (uint32_t i = 0; i < crowd->count; i++) {
        struct store_reaction reaction = crowd_reaction(crowd->first + i);
        if (store_visits_partition(visitor, store_user_partition(reaction.user)))
            visitor->reaction(visitor->context, &reaction);
    }
    return STATUS_OK;
}

static void crowd_stats(struct store_admin *admin, struct store_stats *out)
{
    *out = (struct store_stats){.reactions = ((const struct crowd *)store_of_admin(admin))->count};
}

static const struct store_admin_functions crowd_admin = {
    .name = "crowd", .visit = crowd_visit, .stats = crowd_stats};

static void crowd_move(struct crowd *crowd, struct filters *filters)
{
    enum status status;
    while ((status = filters_move(filters, &crowd->store.admin)) == STATUS_MORE)
        continue;
    assert_int_equal(status, STATUS_OK);
}

/* So many come, or the oldest go, and the filters follow and are moved as they wish. */
static void crowd_change(struct crowd *crowd, struct filters *filters, uint32_t count, bool come)
{
    enum { BATCH = 500 };
    for (; count > 0; count -= BATCH) {
        struct store_changes changes = {BOTH_SPANS(crowd->changes, BATCH)};
        for (uint32_t i = 0; i < BATCH; i++) {
            uint32_t user = come ? crowd->first + crowd->count + i : crowd->first + i;
            crowd->changes[i] = crowd_reaction(user);
            crowd->changes[i].was_live = !come;
            crowd->changes[i].time_s = come ? 1000 : 0;
        }
        filters_before(filters, &changes);
        crowd->first += come ? 0 : BATCH;
        crowd->count += come ? BATCH : (uint32_t)-BATCH;
        filters_after(filters, &changes);
        crowd_move(crowd, filters);
    }
}

static uint64_t slots_of(const struct filters *filters)
{
    struct filter_stats live, known;
    filters_stats(filters, &live, &known);
    assert_false(live.open || known.open);
    return live.slots + known.slots;
}

/* However many have been there, they are as large as for those that are there at a time. */
static void test_those_who_went_leave_no_trace(void **state)
{
    (void)state;
    struct memory_budget budget = {.limit = GIB(1)};
    struct filters *filters = filters_new(&budget, SEED);
    static struct crowd crowd = {.store = {.admin = {&crowd_admin}}};
    uint64_t usual = slots_of(filters), most = 0;
    crowd_change(&crowd, filters, 20000, true);
    for (int round = 0; round < 30; round++) {
        crowd_change(&crowd, filters, 40000, true);
        most = slots_of(filters) > most ? slots_of(filters) : most;
        for (uint32_t i = 0; i < crowd.count; i += 97)
            assert_true(filters_may_have_item(filters, crowd_reaction(crowd.first + i).item));
        crowd_change(&crowd, filters, 40000, false);
    }
    print_message("%llu slots at most, new ones have %llu; %u moves\n", (unsigned long long)most,
                  (unsigned long long)usual, filters->retired_count);
    assert_true(most <= 8 * usual);
    crowd_change(&crowd, filters, 20000, false);
    assert_true(slots_of(filters) <= 2 * usual);
    filters_free(filters);
    assert_int_equal(memory_used(&budget), 0);
}

/* A few that come and go for ever: moves end, since each leaves something behind. */
static void test_moves_that_win_nothing_come_to_an_end(void **state)
{
    (void)state;
    struct memory_budget budget = {.limit = GIB(1)};
    struct filters *filters = filters_new(&budget, SEED);
    static struct crowd crowd = {.store = {.admin = {&crowd_admin}}};
    for (int round = 0; round < 1500; round++) {
        crowd_change(&crowd, filters, 4000, true);
        crowd_change(&crowd, filters, 4000, false);
    }
    assert_true(filters->retired_count > FILTERS_RESIZED);
    assert_true(filters->retired_count < FILTERS_RESIZED + 10);
    filters_free(filters);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moving_among_batches_never_says_a_false_no),
        cmocka_unit_test(test_a_move_comes_to_an_end),
        cmocka_unit_test(test_a_move_that_fails_changes_nothing),
        cmocka_unit_test(test_without_memory_the_segments_stay),
        cmocka_unit_test(test_a_filter_that_opened_is_made_anew),
        cmocka_unit_test(test_a_move_that_is_outgrown_begins_anew),
        cmocka_unit_test(test_saved_in_the_middle_and_loaded),
        cmocka_unit_test(test_those_who_went_leave_no_trace),
        cmocka_unit_test(test_moves_that_win_nothing_come_to_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Readers beside a writer that moves the filters again and again: a reaction that the store has all
 * the time is found at any time, also by whoever asks a filter while another takes its place.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "base/limits.h"
#include "spans.h"
#include "world.h"

#define READERS 2
#define STABLE  50
#define ROWS    2000 /* the first ones are stable */
#define ROUNDS  (200 / SANITIZED_PART)

/* A store of numbered reactions, each of another user on another item. */
struct course {
    struct store store;
    struct filters *filters;
    bool live[ROWS];
    struct chance chance;
    _Atomic bool done;
    _Atomic uint64_t asked;
    _Atomic uint64_t missed;
};

static struct store_reaction reaction(uint32_t number)
{
    return (struct store_reaction){
        .user = {.lo = number + 1}, .item = {.id = {.lo = number * 3 + 1}, .type = 1}, .time_s = 1};
}

static enum status course_visit(struct store_admin *admin, const struct store_visitor *visitor)
{
    const struct course *course = (const struct course *)store_of_admin(admin);
    for (uint32_t i = 0; i < ROWS; i++) {
        struct store_reaction row = reaction(i);
        struct store_count count = {.item = row.item, .value = 1};
        if (course->live[i] && store_visits_partition(visitor, store_user_partition(row.user)))
            assert_int_equal(visitor->reaction(visitor->context, &row), STATUS_OK);
        if (course->live[i] && visitor->count != NULL &&
            store_visits_partition(visitor, store_item_partition(row.item)))
            assert_int_equal(visitor->count(visitor->context, &count), STATUS_OK);
    }
    return STATUS_OK;
}

static void course_stats(struct store_admin *admin, struct store_stats *out)
{
    (void)admin;
    *out = (struct store_stats){.reactions = ROWS};
}

static const struct store_admin_functions course_admin = {
    .name = "course", .visit = course_visit, .stats = course_stats};

static void change(struct course *course, uint32_t number, bool live)
{
    struct store_reaction row = reaction(number);
    row.was_live = course->live[number];
    row.time_s = live;
    struct store_changes changes = {BOTH_SPANS(&row, 1)};
    filters_before(course->filters, &changes);
    course->live[number] = live;
    filters_after(course->filters, &changes);
}

static void *reader_run(void *context)
{
    struct course *course = context;
    struct chance chance = {(uint64_t)(uintptr_t)&chance};
    while (!atomic_load(&course->done)) {
        struct store_reaction row = reaction(chance_below(&chance, STABLE));
        uint64_t key = filters_prefetch_reaction(course->filters, row.user, 0, row.item);
        bool found = filters_may_have_key(course->filters, key) &&
                     filters_may_have_shelf(course->filters, row.user, 0, row.item.type) &&
                     filters_may_have_item(course->filters, row.item);
        atomic_fetch_add_explicit(&course->missed, !found, memory_order_relaxed);
        atomic_fetch_add_explicit(&course->asked, 1, memory_order_relaxed);
    }
    return NULL;
}

/* From a few keys to all of them, so that each filter is outgrown many times. */
static uint64_t writer_run(struct course *course)
{
    struct filters_move_stats moving;
    for (uint32_t end = STABLE; end < ROWS; end++) {
        change(course, end, true);
        for (int i = 0; i < 2; i++) {
            uint32_t number = STABLE + chance_below(&course->chance, end + 1 - STABLE);
            change(course, number, !course->live[number]);
        }
        if (chance_below(&course->chance, 3) == 0)
            filters_move_rows(course->filters, &course->store.admin, 100);
    }
    while (filters_move_rows(course->filters, &course->store.admin, 100) == STATUS_MORE)
        continue;
    filters_move_stats(course->filters, &moving);
    return moving.moves;
}

static void round_run(uint64_t seed, uint64_t *moves, uint64_t *asked)
{
    struct memory_budget budget = {.limit = GIB(1)};
    struct course course = {.store = {.admin = {&course_admin}},
                            .filters = filters_new_small(&budget, seed, 4),
                            .chance = {seed}};
    pthread_t threads[READERS];
    for (uint32_t i = 0; i < STABLE; i++)
        change(&course, i, true);
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, reader_run, &course), 0);
    while (atomic_load(&course.asked) < READERS * 10)
        sched_yield();
    *moves += writer_run(&course);
    atomic_store(&course.done, true);
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    *asked += course.asked;
    assert_int_equal(course.missed, 0);
    filters_free(course.filters);
    assert_int_equal(memory_used(&budget), 0);
}

static void test_what_is_there_is_found_while_filters_move(void **state)
{
    (void)state;
    struct chance chance = {test_seed()};
    uint64_t moves = 0, asked = 0;
    for (int i = 0; i < ROUNDS; i++)
        round_run(chance_next(&chance), &moves, &asked);
    print_message("%llu moves while %llu questions were asked\n", (unsigned long long)moves,
                  (unsigned long long)asked);
    assert_true(moves >= ROUNDS * 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_there_is_found_while_filters_move),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

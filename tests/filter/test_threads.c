/*
 * Readers beside the writer: a key that is in all the time is found at any time, however much
 * others are moved, added and removed around it, their likenesses included.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/limits.h"
#include "chance.h"
#include "filter/filter_priv.h"

#define READERS 2
#define STABLE  200
#define OTHERS  740 /* with the stable ones 940 of the 960 that the first segment takes */

struct course {
    struct filter *filter;
    uint64_t stable[STABLE];
    _Atomic bool done;
    _Atomic bool ready[READERS];
    _Atomic uint64_t missed;
};

struct reader {
    struct course *course;
    int number;
    uint64_t seed;
    uint64_t looked;
    uint64_t absent; /* "no", of keys that never were in */
};

static void *reader_run(void *context)
{
    struct reader *reader = context;
    struct course *course = reader->course;
    struct chance chance = {reader->seed};
    while (!atomic_load(&course->done) || reader->looked < 1000) {
        uint64_t key = course->stable[chance_below(&chance, STABLE)];
        if (!filter_may_have(course->filter, key))
            atomic_fetch_add(&course->missed, 1);
        reader->absent += !filter_may_have(course->filter, chance_next(&chance));
        if (++reader->looked == 10)
            atomic_store(&course->ready[reader->number], true);
    }
    return NULL;
}

/* A key that is like this one in segments of 2^8 buckets, and not in larger ones. */
static uint64_t likeness(struct chance *chance, uint64_t key)
{
    return (key & 0xffff0000000000ffULL) | (chance_next(chance) & 0x0000ffffffffff00ULL);
}

static void writer_churn(struct course *course, struct chance *chance, uint32_t steps)
{
    static uint64_t others[OTHERS];
    for (uint32_t i = 0; i < OTHERS; i++)
        filter_add(course->filter, others[i] = chance_next(chance));
    for (uint32_t step = 0; step < steps; step++) {
        uint64_t like = likeness(chance, course->stable[chance_below(chance, STABLE)]);
        filter_add(course->filter, like);
        uint32_t i = chance_below(chance, OTHERS);
        filter_remove(course->filter, others[i]);
        filter_add(course->filter, others[i] = chance_next(chance));
        filter_remove(course->filter, like);
    }
    for (uint32_t i = 0; i < OTHERS; i++)
        filter_remove(course->filter, others[i]);
}

static void run(uint64_t first_keys, uint32_t rounds, uint32_t steps)
{
    struct memory_budget budget = {.limit = GIB(1)};
    static struct course course;
    struct chance chance = {test_seed()};
    pthread_t threads[READERS];
    struct reader readers[READERS];
    course = (struct course){.filter = filter_new(&budget, first_keys)};
    for (int i = 0; i < STABLE; i++)
        filter_add(course.filter, course.stable[i] = chance_next(&chance));
    for (int i = 0; i < READERS; i++) {
        readers[i] = (struct reader){.course = &course, .number = i, .seed = chance_next(&chance)};
        assert_int_equal(pthread_create(&threads[i], NULL, reader_run, &readers[i]), 0);
    }
    for (int i = 0; i < READERS; i++)
        while (!atomic_load(&course.ready[i]))
            sched_yield();
    for (uint32_t i = 0; i < rounds; i++)
        writer_churn(&course, &chance, steps);
    atomic_store(&course.done, true);
    for (int i = 0; i < READERS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        print_message("reader %d looked %llu times, %llu of as many absent keys were known to be\n",
                      i, (unsigned long long)readers[i].looked,
                      (unsigned long long)readers[i].absent);
        assert_true(readers[i].absent > readers[i].looked * 9 / 10);
    }
    uint64_t moves = 0;
    for (int i = 0; i < FILTER_STRIPES; i++)
        moves += atomic_load(&course.filter->taken[i]);
    struct filter_stats stats;
    filter_stats(course.filter, &stats);
    print_message("%llu entries taken away or moved; %u segments\n", (unsigned long long)moves,
                  stats.segments);
    assert_int_equal(course.missed, 0);
    assert_int_equal(stats.keys, STABLE);
    assert_false(stats.open);
    assert_true(moves > (uint64_t)rounds * steps * 2);
    filter_free(course.filter);
}

static void test_in_a_segment_that_is_nearly_full(void **state)
{
    (void)state;
    run(960, 1, 400000);
}

static void test_while_it_grows(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++)
        run(4, 4, 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_a_segment_that_is_nearly_full),
        cmocka_unit_test(test_while_it_grows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

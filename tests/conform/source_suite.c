/*
 * Reading: order, positions, any batching (P3), any beginning, several lives of a journal, and its end.
 * Waiting and removal are in source_suite_wait.c.
 */
#include "source_suite.h"

#include <string.h>

#include "chance.h"
#include "source_check.h"

void source_suite_empty(void **state)
{
    (void)state;
    struct source *source = source_suite_open();
    struct source_view view;
    source_view(source, &view);
    assert_true(view.available == 0 && view.written == 0 && view.appended == 0 && view.advancing);
    assert_int_equal(source_position(source), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(check_pull(source, 10, NULL, 0), 0);
    check_seek(source, 0);
    assert_int_equal(check_pull(source, 10, NULL, 0), 0);
    assert_int_equal(source_position(source), 0);
    source_hurry(source);
    assert_int_equal(source_acknowledge(source, 0), STATUS_OK);
    source_close(source);
}

void source_suite_order(void **state)
{
    (void)state;
    struct source *source = source_suite_open();
    source_suite_append(EVENTS);
    source_suite_settle();
    uint64_t *ends = check_learn(source, EVENTS);
    struct source_view view;
    source_view(source, &view);
    assert_int_equal(view.available, ends[EVENTS - 1]);
    assert_int_equal(view.written, view.available);
    assert_int_equal(view.appended, view.available);
    free(ends);
    source_close(source);
}

/* P3: the same events at the same positions, however many are pulled at a time. */
void source_suite_any_batching(void **state)
{
    (void)state;
    struct chance chance = {test_seed()};
    struct source *source = source_suite_open();
    source_suite_append(EVENTS);
    source_suite_settle();
    uint64_t *ends = check_learn(source, EVENTS);
    for (int round = 0; round < 40; round++) {
        uint32_t largest = round == 0 ? 1 : round % 2 ? 20 : 5000;
        uint64_t number = 0;
        check_seek(source, 0);
        while (number < EVENTS)
            number += check_pull(source, 1 + chance_below(&chance, largest), ends, number);
        assert_int_equal(number, EVENTS);
        assert_int_equal(check_pull(source, SIZE_MAX, ends, number), 0);
    }
    free(ends);
    source_close(source);
}

/*
 * The bodies of a whole run are there until the next pull, and a run of long events is bounded by their
 * bytes, whatever the caller asks for.
 */
void source_suite_bodies(void **state)
{
    (void)state;
    char problem[256] = "";
    struct source *source = source_suite_open();
    uint64_t number = 0, longs = 0, most = 0;
    source_suite_append(EVENTS);
    source_suite_settle();
    while (number < EVENTS) {
        struct source_run run;
        uint64_t bytes = 0;
        assert_int_equal(source_pull(source, SIZE_MAX, &run, problem, sizeof problem), STATUS_OK);
        assert_true(run.count > 0);
        for (size_t i = 0; i < run.count; i++) {
            struct event expected = sample_event(number + i);
            assert_int_equal(run.events[i].body_length, expected.body_length);
            assert_true((expected.body_length > 0) == event_is_long(&run.events[i]));
            bytes += expected.body_length;
            longs += expected.body_length > 0;
        }
        for (size_t i = run.count; i-- > 0;) {
            struct event expected = sample_event(number + i);
            assert_true(event_equal(&run.events[i], &expected));
        }
        number += run.count;
        most = bytes > most ? bytes : most;
    }
    assert_true(longs > EVENTS / 20);
    assert_true(most <= MIB(1));
    print_message("%llu long events, at most %llu bytes of bodies in a run\n",
                  (unsigned long long)longs, (unsigned long long)most);
    source_close(source);
}

void source_suite_seek(void **state)
{
    (void)state;
    struct chance chance = {test_seed()};
    struct source *source = source_suite_open();
    source_suite_append(EVENTS);
    source_suite_settle();
    uint64_t *ends = check_learn(source, EVENTS);
    for (uint64_t i = 0; i <= EVENTS; i++) {
        uint64_t number = i % 2 ? i : chance_below(&chance, EVENTS + 1);
        check_seek(source, number == 0 ? 0 : ends[number - 1]);
        uint64_t got = check_pull(source, 5, ends, number);
        assert_true(got > 0 || number == EVENTS);
        if (got > 0 && number + got < EVENTS)
            assert_true(check_pull(source, 5, ends, number + got) > 0);
    }
    free(ends);
    source_close(source);
}

/* A position at which no event begins is refused, and the source can be used all the same. */
void source_suite_nowhere(void **state)
{
    (void)state;
    char problem[256];
    struct source *source = source_suite_open();
    source_suite_append(100);
    source_suite_settle();
    uint64_t *ends = check_learn(source, 100);
    const uint64_t wrong[] = {ends[41] + 1, ends[99] + 8};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        problem[0] = '\0';
        assert_int_equal(source_seek(source, wrong[i], problem, sizeof problem), STATUS_DAMAGED);
        assert_true(problem[0] != '\0');
        check_seek(source, ends[41]);
        assert_true(check_pull(source, 10, ends, 42) > 0);
    }
    free(ends);
    source_close(source);
}

void source_suite_follow(void **state)
{
    (void)state;
    struct chance chance = {test_seed()};
    struct source *source = source_suite_open();
    uint64_t appended = 0, number = 0, last = 0;
    while (appended < 5 * EVENTS) {
        uint64_t count = 1 + chance_below(&chance, chance_below(&chance, 8) ? 30 : 1500);
        source_suite_append(count);
        source_suite_settle();
        appended += count;
        uint64_t enough = chance_below(&chance, 4) ? appended : number + chance_below(&chance, 50);
        while (number < enough && number < appended) {
            uint64_t got = check_pull(source, 1 + chance_below(&chance, 300), NULL, number);
            assert_true(got > 0 && source_position(source) > last);
            last = source_position(source);
            number += got;
        }
    }
    while (number < appended)
        number += check_pull(source, SIZE_MAX, NULL, number);
    assert_int_equal(number, appended);
    source_close(source);
}

void source_suite_two_sources(void **state)
{
    (void)state;
    struct chance chance = {test_seed()};
    struct source *sources[2] = {source_suite_open(), source_suite_open()};
    uint64_t numbers[2] = {0, 0};
    source_suite_append(EVENTS);
    source_suite_settle();
    uint64_t *ends = check_learn(sources[0], EVENTS);
    check_seek(sources[0], 0);
    while (numbers[0] < EVENTS || numbers[1] < EVENTS) {
        uint32_t which = chance_below(&chance, 2);
        uint32_t most = 1 + chance_below(&chance, 100);
        numbers[which] += check_pull(sources[which], most, ends, numbers[which]);
    }
    free(ends);
    source_close(sources[0]);
    source_close(sources[1]);
}

static void expect_all(const uint64_t *ends, uint64_t known, uint64_t count)
{
    struct source *source = source_suite_open();
    uint64_t number = 0;
    while (number < count) {
        uint64_t got = check_pull(source, 100, NULL, number);
        assert_true(got > 0);
        number += got;
    }
    check_seek(source, ends[known - 1]);
    if (count > known)
        assert_true(check_pull(source, 10, NULL, known) > 0);
    check_seek(source, 0);
    for (number = 0; number < known;)
        number += check_pull(source, known - number, ends, number);
    source_close(source);
}

/* A restart changes no position, and what is appended afterwards follows. */
void source_suite_lives(void **state)
{
    (void)state;
    struct source *source = source_suite_open();
    source_suite_append(700);
    source_suite_settle();
    uint64_t *ends = check_learn(source, 700);
    source_close(source);
    uint64_t count = 700;
    for (int life = 0; life < 8; life++) {
        source_suite_restart();
        expect_all(ends, 700, count);
        if (life % 3 == 0) {
            source_suite_append(500);
            source_suite_settle();
            count += 500;
            expect_all(ends, 700, count);
        }
    }
    free(ends);
}

void source_suite_torn_tail(void **state)
{
    (void)state;
    struct source *source = source_suite_open();
    source_suite_append(300);
    source_suite_settle();
    uint64_t *ends = check_learn(source, 300);
    source_close(source);
    if (source_suite_tear()) {
        expect_all(ends, 300, 300);
        source_suite_append(200);
        source_suite_settle();
        expect_all(ends, 300, 500);
    } else {
        print_message("this journal has no torn tails\n");
    }
    free(ends);
}

/*
 * Waiting and removal. No test here waits for a time to pass, except the one that is about that.
 */
#include <pthread.h>

#include "base/clock.h"
#include "chance.h"
#include "source_check.h"

#define MS 1000000ULL

static bool can_seek(struct source *source, uint64_t position)
{
    char problem[256] = "";
    enum status status = source_seek(source, position, problem, sizeof problem);
    assert_true(status == STATUS_OK || (status == STATUS_DAMAGED && problem[0] != '\0'));
    return status == STATUS_OK;
}

/* What is not acknowledged stays; what is may go, from the front. */
static void expect_kept(const uint64_t *ends, uint64_t acknowledged)
{
    struct source *source = source_suite_open();
    bool kept = false;
    for (uint64_t number = 0; number < EVENTS; number += 97) {
        bool found = can_seek(source, number == 0 ? 0 : ends[number - 1]);
        assert_true(found || (number < acknowledged && !kept));
        kept = found;
        if (found)
            assert_true(check_pull(source, 20, ends, number) > 0);
    }
    check_seek(source, acknowledged == 0 ? 0 : ends[acknowledged - 1]);
    for (uint64_t number = acknowledged; number < EVENTS;)
        number += check_pull(source, 1000, ends, number);
    source_close(source);
}

void source_suite_acknowledge(void **state)
{
    (void)state;
    struct chance chance = {test_seed()};
    struct source *source = source_suite_open();
    source_suite_append(EVENTS);
    source_suite_settle();
    uint64_t *ends = check_learn(source, EVENTS);
    for (uint64_t number = 0; number < EVENTS; number += 1 + chance_below(&chance, 900)) {
        assert_int_equal(source_acknowledge(source, number == 0 ? 0 : ends[number - 1]), STATUS_OK);
        expect_kept(ends, number);
    }
    assert_int_equal(source_acknowledge(source, 0), STATUS_OK); /* an earlier one changes nothing */
    assert_int_equal(source_acknowledge(source, ends[EVENTS - 1]), STATUS_OK);
    if (source_suite_removes())
        assert_false(can_seek(source, 0));
    check_seek(source, ends[EVENTS - 1]);
    source_suite_append(10);
    source_suite_settle();
    assert_true(check_pull(source, 10, NULL, EVENTS) > 0);
    free(ends);
    source_close(source);
}

#define MANY 60000

static void *append_many(void *argument)
{
    (void)argument;
    source_suite_append(MANY);
    return NULL;
}

/* A source that acknowledges what it has pulled never misses an event, and never waits in vain. */
void source_suite_removal_while_appending(void **state)
{
    (void)state;
    pthread_t appender;
    struct source *source = source_suite_open();
    assert_int_equal(pthread_create(&appender, NULL, append_many, NULL), 0);
    for (uint64_t number = 0; number < MANY;) {
        uint64_t got = check_pull(source, 1000, NULL, number);
        number += got;
        if (got == 0) {
            source_hurry(source);
            source_wait(source, source_position(source), UINT64_MAX);
        } else {
            assert_int_equal(source_acknowledge(source, source_position(source)), STATUS_OK);
        }
    }
    pthread_join(appender, NULL);
    source_close(source);
}

void source_suite_wait_ends_in_time(void **state)
{
    (void)state;
    struct source *source = source_suite_open();
    uint64_t until_ns = clock_monotonic_ns() + 5 * MS;
    while (clock_monotonic_ns() < until_ns)
        source_wait(source, 0, until_ns);
    source_wait(source, 0, clock_monotonic_ns() - MS); /* at once */
    source_wait(source, UINT64_MAX, 0);
    source_close(source);
}

static void *append_one(void *argument)
{
    (void)argument;
    source_suite_append(1);
    return NULL;
}

void source_suite_wait_ends_with_events(void **state)
{
    (void)state;
    struct source *source = source_suite_open();
    for (uint64_t number = 0; number < 200; number++) {
        pthread_t appender;
        uint64_t position = source_position(source);
        struct source_view view;
        assert_int_equal(pthread_create(&appender, NULL, append_one, NULL), 0);
        do {
            source_hurry(source);
            source_wait(source, position, UINT64_MAX);
            source_view(source, &view);
        } while (view.available <= position);
        assert_int_equal(check_pull(source, 10, NULL, number), 1);
        pthread_join(appender, NULL);
    }
    source_wait(source, 0, UINT64_MAX); /* there is something after 0: at once */
    source_close(source);
}

struct stop {
    struct source *source;
    _Atomic bool wanted;
};

static void *stop_it(void *argument)
{
    struct stop *stop = argument;
    stop->wanted = true;
    source_wake(stop->source);
    return NULL;
}

/* As a thread stops that waits for events that never come. */
void source_suite_wait_ends_on_wake(void **state)
{
    (void)state;
    struct stop stop = {.source = source_suite_open()};
    source_wake(stop.source);
    source_wait(stop.source, UINT64_MAX, UINT64_MAX); /* a wake that came first counts */
    for (int round = 0; round < 200; round++) {
        pthread_t thread;
        stop.wanted = false;
        assert_int_equal(pthread_create(&thread, NULL, stop_it, &stop), 0);
        while (!stop.wanted)
            source_wait(stop.source, round % 2 ? 0 : UINT64_MAX, UINT64_MAX);
        pthread_join(thread, NULL);
    }
    source_close(stop.source);
}

/*
 * Recorded times against clocks of every sort: they never fall, never stand still for long, and what is
 * shown for them is what the clock said; over restarts too. The clock is the test's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "chance.h"
#include "journal/helper.h"
#include "time/timeline.h"

#define NOW   1790000000U
#define AHEAD 4070908800U
#define UP_S  5000U /* the other clock, when NOW is */

static _Atomic uint64_t wall_s, monotonic_s;

static struct moment test_clock(void)
{
    return (struct moment){.wall_ms = atomic_load(&wall_s) * 1000,
                           .monotonic_ns = atomic_load(&monotonic_s) * 1000000000};
}

/* A timeline, and the newest time that was recorded by it. */
struct bed {
    struct timeline *timeline;
    _Atomic uint32_t newest_s;
    char directory[64];
};

static void bed_begin(struct bed *bed)
{
    bed->timeline = timeline_new(test_clock);
    assert_int_equal(timeline_load(bed->timeline, bed->directory), STATUS_OK);
    timeline_raise(bed->timeline, bed->newest_s);
    uint32_t least_s = timeline_least(bed->timeline);
    timeline_follow(bed->timeline, &bed->newest_s);
    assert_true(timeline_turn(bed->timeline) + TIMELINE_HOLD_S >= least_s);
}

static void bed_open(struct bed *bed)
{
    memset(bed, 0, sizeof *bed);
    wall_s = NOW;
    monotonic_s = UP_S;
    directory_make(bed->directory);
    bed_begin(bed);
}

static void bed_close(struct bed *bed)
{
    timeline_free(bed->timeline);
    directory_remove(bed->directory);
}

static void bed_restart(struct bed *bed)
{
    timeline_free(bed->timeline);
    monotonic_s = 10;
    bed_begin(bed);
}

/* As the hot tier does it. */
static uint32_t record(struct bed *bed)
{
    uint32_t time_s = timeline_at(bed->timeline, test_clock());
    if (time_s > bed->newest_s)
        bed->newest_s = time_s;
    return bed->newest_s;
}

static void pass(uint32_t seconds)
{
    wall_s += seconds;
    monotonic_s += seconds;
}

static struct timeline_stats stats_of(struct bed *bed)
{
    struct timeline_stats stats;
    timeline_stats(bed->timeline, &stats);
    return stats;
}

static void a_clock_that_is_right_is_recorded(void **state)
{
    (void)state;
    struct bed bed;
    char path[128];
    bed_open(&bed);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(record(&bed), wall_s);
        pass(i % 3 * 1000);
        if (i % 100 == 0)
            bed_restart(&bed);
    }
    assert_int_equal(stats_of(&bed).spans, 1);
    snprintf(path, sizeof path, "%s/" SPANS_NAME, bed.directory);
    assert_int_equal(access(path, F_OK), -1);
    bed_close(&bed);
}

static void after_2099_time_goes_on(void **state)
{
    (void)state;
    for (int restart = 0; restart < 2; restart++) {
        struct bed bed;
        bed_open(&bed);
        record(&bed);
        wall_s = AHEAD;
        assert_int_equal(record(&bed), AHEAD);
        wall_s = NOW + 100;
        if (restart)
            bed_restart(&bed);
        for (uint32_t i = 1; i < 100; i++, pass(1)) {
            assert_int_equal(record(&bed), AHEAD + i);
            assert_int_equal(timeline_shown(bed.timeline, bed.newest_s), wall_s);
            assert_int_equal(timeline_recorded(bed.timeline, (uint32_t)wall_s), bed.newest_s);
        }
        assert_int_equal(timeline_shown(bed.timeline, AHEAD), AHEAD);
        assert_int_equal(stats_of(&bed).spans, 2);
        assert_int_equal(stats_of(&bed).offset_s, AHEAD + 1 - NOW - 100);
        pass(86400);
        bed_restart(&bed);
        record(&bed);
        assert_int_equal(timeline_shown(bed.timeline, bed.newest_s), wall_s);
        assert_int_equal(stats_of(&bed).spans, 2);
        bed_close(&bed);
    }
}

static void small_steps_are_waited_for(void **state)
{
    (void)state;
    struct bed bed;
    bed_open(&bed);
    record(&bed);
    wall_s -= TIMELINE_HOLD_S;
    for (uint32_t i = 0; i <= TIMELINE_HOLD_S; i++, pass(1))
        assert_int_equal(record(&bed), NOW);
    assert_int_equal(record(&bed), NOW + 1);
    assert_int_equal(stats_of(&bed).spans, 1);
    for (int i = 0; i < 3; i++) { /* and many of them are a large one */
        wall_s -= 6;
        record(&bed);
    }
    assert_int_equal(stats_of(&bed).spans, 2);
    bed_close(&bed);
}

/* Nothing was recorded while the clock was ahead: that it was leaves nothing behind. */
static void a_jump_that_only_readers_saw(void **state)
{
    (void)state;
    struct bed bed;
    bed_open(&bed);
    record(&bed);
    wall_s = AHEAD;
    assert_int_equal(timeline_at(bed.timeline, test_clock()), AHEAD);
    wall_s = NOW + 5;
    assert_int_equal(record(&bed), NOW + 5);
    assert_int_equal(stats_of(&bed).spans, 1);
    bed_close(&bed);
}

/* A clock from before goes on being wrong by the same, or is put right: neither drives times ahead. */
static void steps_forward_use_up_the_offset(void **state)
{
    (void)state;
    struct bed bed;
    bed_open(&bed);
    record(&bed);
    wall_s = NOW - 7200;
    uint32_t before_s = record(&bed);
    assert_int_equal(before_s, NOW + 1);
    pass(10);
    wall_s += 3600;
    assert_int_equal(record(&bed), before_s + 10);
    assert_int_equal(timeline_shown(bed.timeline, bed.newest_s), wall_s);
    assert_int_equal(stats_of(&bed).offset_s, 7201 - 3600);
    pass(10);
    wall_s += 7200; /* and more than it was */
    assert_int_equal(record(&bed), wall_s);
    assert_int_equal(stats_of(&bed).offset_s, 0);
    for (int i = 0; i < 1000; i++) {
        wall_s += i % 2 == 0 ? 3600 : -3600;
        pass(1);
        record(&bed);
        assert_int_equal(timeline_shown(bed.timeline, bed.newest_s), wall_s);
    }
    assert_in_range(bed.newest_s, wall_s, wall_s + 3600 + 1000);
    bed_close(&bed);
}

/* The offset is needed no more once the clock is past all that was recorded. */
static void an_offset_ends(void **state)
{
    (void)state;
    for (int restart = 0; restart < 2; restart++) {
        struct bed bed;
        bed_open(&bed);
        record(&bed);
        wall_s = NOW - 3600;
        record(&bed);
        pass(1800);
        timeline_turn(bed.timeline);
        assert_int_equal(stats_of(&bed).offset_s, 3601);
        pass(1802);
        if (restart)
            bed_restart(&bed);
        else
            timeline_turn(bed.timeline);
        assert_int_equal(stats_of(&bed).offset_s, 0);
        assert_int_equal(record(&bed), wall_s);
        bed_close(&bed);
    }
}

static void a_clock_that_cannot_be_is_refused(void **state)
{
    (void)state;
    struct bed bed;
    bed_open(&bed);
    record(&bed);
    static const uint64_t wrong[] = {TIMELINE_WALL_END, UINT32_MAX, 1ULL << 33, 1ULL << 50};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        wall_s = wrong[i];
        assert_int_equal(record(&bed), NOW);
        assert_int_equal(timeline_state(bed.timeline), STATUS_CLOCK_WRONG);
        bed_restart(&bed);
        assert_int_equal(timeline_state(bed.timeline), STATUS_CLOCK_WRONG);
        assert_int_equal(record(&bed), NOW);
        wall_s = NOW;
        assert_int_equal(record(&bed), NOW);
        assert_int_equal(timeline_state(bed.timeline), STATUS_OK);
    }
    assert_int_equal(stats_of(&bed).spans, 1);
    bed_close(&bed);
}

/* Times are 32 bits, whatever a clock did. */
static void times_that_are_used_up(void **state)
{
    (void)state;
    struct bed bed;
    bed_open(&bed);
    bed.newest_s = AHEAD;
    bed_restart(&bed);
    record(&bed);
    wall_s = NOW + 1500000000U; /* with that offset it would be past all */
    bed_restart(&bed);
    assert_int_equal(timeline_state(bed.timeline), STATUS_OK);
    assert_int_equal(record(&bed), AHEAD + 2);
    bed.newest_s = TIMELINE_END;
    record(&bed);
    assert_int_equal(timeline_state(bed.timeline), STATUS_TIMES_USED_UP);
    assert_int_equal(record(&bed), TIMELINE_END);
    bed_restart(&bed);
    assert_int_equal(timeline_state(bed.timeline), STATUS_TIMES_USED_UP);
    bed_close(&bed);
}

static void a_table_that_cannot_be_written(void **state)
{
    (void)state;
    struct bed bed;
    char path[128];
    bed_open(&bed);
    record(&bed);
    snprintf(path, sizeof path, "%s/" SPANS_NAME ".tmp", bed.directory);
    assert_int_equal(mkdir(path, 0700), 0);
    wall_s = NOW - 1000;
    for (int i = 0; i < 3; i++, pass(2)) {
        assert_int_equal(record(&bed), NOW);
        assert_int_equal(timeline_state(bed.timeline), STATUS_CLOCK_UNWRITTEN);
    }
    rmdir(path);
    assert_int_equal(record(&bed), NOW + 1);
    assert_int_equal(timeline_state(bed.timeline), STATUS_OK);
    assert_int_equal(timeline_shown(bed.timeline, NOW + 1), wall_s);
    bed_close(&bed);
}

/* Clocks of any sort, restarts, the table lost: times never fall, and are shown as the clock was. */
static void any_clock(void **state)
{
    (void)state;
    struct chance chance = {test_seed()};
    struct bed bed;
    char path[128];
    bed_open(&bed);
    snprintf(path, sizeof path, "%s/" SPANS_NAME, bed.directory);
    uint32_t before_s = 0;
    for (uint32_t i = 0; i < 20000 / SANITIZED_PART; i++) {
        uint32_t what = chance_below(&chance, 100);
        pass(chance_below(&chance, 3));
        if (what == 0)
            wall_s = NOW + chance_below(&chance, 50000000);
        else if (what == 1)
            wall_s = wall_s + chance_below(&chance, 40) - 20;
        else if (what == 2)
            bed_restart(&bed);
        else if (what == 3 && chance_below(&chance, 10) == 0)
            unlink(path);
        else if (what < 10)
            timeline_turn(bed.timeline);
        uint32_t recorded_s = record(&bed);
        assert_int_equal(timeline_state(bed.timeline), STATUS_OK);
        assert_true(recorded_s >= before_s);
        int64_t off_s = (int64_t)timeline_shown(bed.timeline, recorded_s) - (int64_t)wall_s;
        if (off_s < -2 * TIMELINE_HOLD_S || off_s > 2 * TIMELINE_HOLD_S)
            fail_msg("step %u (%u): shown %lld s off", i, what, (long long)off_s);
        assert_true(stats_of(&bed).spans <= SPANS_MAX);
        before_s = recorded_s;
    }
    bed_close(&bed);
}

enum { THREADS = 3, STEPS = 20000 / SANITIZED_PART };

static void *ask(void *argument)
{
    struct bed *bed = argument;
    uint32_t last_s = 0;
    for (int i = 0; i < STEPS; i++) {
        uint32_t time_s = timeline_at(bed->timeline, test_clock());
        uint32_t newest_s = atomic_load(&bed->newest_s);
        while (time_s > newest_s &&
               !atomic_compare_exchange_weak(&bed->newest_s, &newest_s, time_s))
            continue;
        newest_s = atomic_load(&bed->newest_s);
        assert_true(newest_s >= last_s && newest_s < NOW + 100 * STEPS);
        timeline_shown(bed->timeline, newest_s);
        last_s = newest_s;
    }
    return NULL;
}

/* Asked while the clock is set to and fro: nobody gets an old offset with a new clock. */
static void threads_that_ask(void **state)
{
    (void)state;
    struct bed bed;
    pthread_t threads[THREADS];
    bed_open(&bed);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask, &bed), 0);
    for (int i = 0; i < 200; i++) {
        wall_s += i % 2 == 0 ? 10000 : -10000;
        timeline_turn(bed.timeline);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clock_that_is_right_is_recorded),
        cmocka_unit_test(after_2099_time_goes_on),
        cmocka_unit_test(small_steps_are_waited_for),
        cmocka_unit_test(a_jump_that_only_readers_saw),
        cmocka_unit_test(steps_forward_use_up_the_offset),
        cmocka_unit_test(an_offset_ends),
        cmocka_unit_test(a_clock_that_cannot_be_is_refused),
        cmocka_unit_test(times_that_are_used_up),
        cmocka_unit_test(a_table_that_cannot_be_written),
        cmocka_unit_test(any_clock),
        cmocka_unit_test(threads_that_ask),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

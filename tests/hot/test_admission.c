/* Writes go at full speed, slower and slower, or not at all, by how far the store is behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/limits.h"
#include "hot/memory/admission.h"

#define SLOW 1000000
#define MAX  3000000
#define MS   1000000ULL

/* A journal of which only the end matters. */
static uint64_t appended;
static enum status journal_says;

static enum status fake_admit(struct journal *journal, size_t bytes)
{
    (void)journal;
    assert_int_equal(bytes, LIMIT_ADMIT_BYTES);
    return journal_says;
}

static uint64_t fake_appended(struct journal *journal)
{
    (void)journal;
    return appended;
}

/* BLOCKED so often, then what reserve_says. */
static unsigned reserve_blocked;
static enum status reserve_says;
static size_t reserved;
static unsigned kicks;

static enum status fake_reserve(struct journal *journal, size_t bytes)
{
    (void)journal;
    if (reserve_blocked > 0) {
        reserve_blocked--;
        return STATUS_BLOCKED;
    }
    reserved += reserve_says == STATUS_OK ? bytes : 0;
    return reserve_says;
}

static void fake_unreserve(struct journal *journal, size_t bytes)
{
    (void)journal;
    reserved -= bytes;
}

static void fake_kick(struct journal *journal)
{
    (void)journal;
    kicks++;
}

static const struct journal_ops ops = {.name = "fake",
                                       .admit = fake_admit,
                                       .reserve = fake_reserve,
                                       .unreserve = fake_unreserve,
                                       .kick = fake_kick,
                                       .appended = fake_appended};
static struct journal journal = {&ops};

static struct admission admission_of(uint64_t lag_slow, uint64_t lag_max)
{
    appended = 0;
    journal_says = reserve_says = STATUS_OK;
    reserve_blocked = kicks = 0;
    reserved = 0;
    return (struct admission){.journal = &journal, .lag_slow = lag_slow, .lag_max = lag_max};
}

static void without_a_bound_the_journal_alone_decides(void **state)
{
    (void)state;
    struct admission admission = admission_of(0, 0);
    struct hot_pacer pacer = {0};
    appended = UINT64_MAX;
    assert_int_equal(admission_admit(&admission, &pacer, 0), STATUS_OK);
    admission_spend(&admission, &pacer, LIMIT_BATCH, 0);
    assert_int_equal(admission_admit(&admission, &pacer, 0), STATUS_OK);
    journal_says = STATUS_BLOCKED;
    assert_int_equal(admission_admit(&admission, &pacer, 0), STATUS_BLOCKED);
    journal_says = STATUS_DISK_FULL;
    assert_int_equal(admission_admit(&admission, &pacer, 0), STATUS_DISK_FULL);
    atomic_store(&admission.stopping, true);
    assert_int_equal(admission_admit(&admission, &pacer, 0), STATUS_STOPPING);
}

static void the_step_grows_with_the_lag(void **state)
{
    (void)state;
    struct admission admission = admission_of(SLOW, MAX);
    assert_int_equal(admission_step_ns(&admission, 0), 0);
    assert_int_equal(admission_step_ns(&admission, SLOW), 0);
    assert_int_equal(admission_step_ns(&admission, (SLOW + MAX) / 2), 10 * MS);
    assert_int_equal(admission_step_ns(&admission, MAX), 20 * MS);
    assert_int_equal(admission_step_ns(&admission, UINT64_MAX), 20 * MS);
    uint64_t before = 0;
    for (uint64_t lag = SLOW; lag <= MAX; lag += (MAX - SLOW) / 1000) {
        uint64_t step_ns = admission_step_ns(&admission, lag);
        assert_true(step_ns >= before && step_ns - before <= 20001);
        before = step_ns;
    }
}

static void too_far_behind_is_refused_until_it_caught_up(void **state)
{
    (void)state;
    struct admission admission = admission_of(SLOW, MAX);
    struct hot_pacer pacer = {0};
    admission_projected(&admission, 500);
    appended = 500 + MAX;
    assert_int_equal(admission_admit(&admission, &pacer, 100 * MS), STATUS_OK);
    appended++;
    assert_int_equal(admission_admit(&admission, &pacer, 100 * MS), STATUS_LAGGING);
    journal_says = STATUS_READONLY;
    assert_int_equal(admission_admit(&admission, &pacer, 100 * MS), STATUS_READONLY);
    journal_says = STATUS_BLOCKED;
    assert_int_equal(admission_admit(&admission, &pacer, 100 * MS), STATUS_LAGGING);
    journal_says = STATUS_OK;
    atomic_store(&admission.store_failed, true); /* trying again later would be of no use */
    assert_int_equal(admission_admit(&admission, &pacer, 100 * MS), STATUS_STORE_FAILED);
    atomic_store(&admission.store_failed, false);
    admission_projected(&admission, 501);
    assert_int_equal(admission_admit(&admission, &pacer, 100 * MS), STATUS_OK);
    admission_projected(&admission, appended + 1); /* looked at between two moves */
    assert_int_equal(admission_lag(&admission), 0);
}

/* Writes so many at a time for `span_ns`, looking every `turn_ns`; how many it came to. */
static uint64_t write_for(struct admission *admission, struct hot_pacer *pacer, uint32_t batch,
                          uint64_t turn_ns, uint64_t span_ns)
{
    uint64_t writes = 0;
    for (uint64_t now_ns = 1000 * MS; now_ns < 1000 * MS + span_ns; now_ns += turn_ns) {
        while (admission_admit(admission, pacer, now_ns) == STATUS_OK) {
            admission_spend(admission, pacer, batch, now_ns);
            writes += batch;
        }
    }
    return writes;
}

static void the_rate_follows_the_step_however_writes_come(void **state)
{
    (void)state;
    static const struct {
        uint32_t batch;
        uint64_t turn_ns;
    } ways[] = {{1, 10000}, {1, MS}, {7, 50000}, {LIMIT_BATCH, 10000}, {LIMIT_BATCH, MS}};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct admission admission = admission_of(SLOW, MAX);
        struct hot_pacer pacer = {0};
        appended = MAX; /* 20 ms for 32 */
        uint64_t writes = write_for(&admission, &pacer, ways[i].batch, ways[i].turn_ns, 1000 * MS);
        assert_in_range(writes, 1500, 1700);
        appended = SLOW + (MAX - SLOW) / 20; /* 1 ms for 32, the grain of a timer */
        pacer = (struct hot_pacer){0};
        writes = write_for(&admission, &pacer, ways[i].batch, ways[i].turn_ns, 1000 * MS);
        assert_in_range(writes, 30000, 33000);
    }
}

static void a_wait_is_told_and_ends_when_the_store_caught_up(void **state)
{
    (void)state;
    struct admission admission = admission_of(SLOW, MAX);
    struct hot_pacer pacer = {0};
    appended = MAX;
    admission_spend(&admission, &pacer, LIMIT_BATCH, 1000 * MS);
    assert_int_equal(admission_admit(&admission, &pacer, 1000 * MS), STATUS_BLOCKED);
    uint64_t wait_ns = admission_wait_ns(&admission, &pacer, 1000 * MS);
    assert_in_range(wait_ns, ADMISSION_STEP_MAX_NS - ADMISSION_BURST_NS - MS,
                    ADMISSION_STEP_MAX_NS);
    assert_int_equal(admission_admit(&admission, &pacer, 1000 * MS + wait_ns - 1), STATUS_BLOCKED);
    assert_int_equal(admission_admit(&admission, &pacer, 1000 * MS + wait_ns), STATUS_OK);
    admission_projected(&admission, MAX - SLOW);
    assert_int_equal(admission_wait_ns(&admission, &pacer, 1000 * MS), 0);
    assert_int_equal(admission_admit(&admission, &pacer, 1000 * MS), STATUS_OK);
}

static void a_clock_that_is_wrong_is_refused(void **state)
{
    (void)state;
    struct admission admission = admission_of(0, 0);
    struct hot_pacer pacer = {0};
    admission.timeline = timeline_new(NULL);
    assert_int_equal(admission_admit(&admission, &pacer, 0), STATUS_OK);
    atomic_store(&admission.timeline->state, STATUS_CLOCK_WRONG);
    assert_int_equal(admission_admit(&admission, &pacer, 0), STATUS_CLOCK_WRONG);
    journal_says = STATUS_BLOCKED; /* no use to wait for it */
    assert_int_equal(admission_admit(&admission, &pacer, 0), STATUS_CLOCK_WRONG);
    journal_says = STATUS_READONLY;
    assert_int_equal(admission_admit(&admission, &pacer, 0), STATUS_READONLY);
    timeline_free(admission.timeline);
}

static void an_io_thread_reserves_without_waiting(void **state)
{
    (void)state;
    struct admission admission = admission_of(0, 0);
    assert_int_equal(admission_reserve(&admission, 1000), STATUS_OK);
    assert_int_equal(reserved, 1000);
    reserve_blocked = 1;
    assert_int_equal(admission_reserve(&admission, 1000), STATUS_BLOCKED);
    reserve_says = STATUS_READONLY;
    assert_int_equal(admission_reserve(&admission, 1000), STATUS_READONLY);
    reserve_says = STATUS_OK;
    atomic_store(&admission.stopping, true);
    assert_int_equal(admission_reserve(&admission, 1000), STATUS_STOPPING);
    assert_int_equal(reserved, 1000);
    admission_unreserve(&admission, 1000);
    assert_int_equal(reserved, 0);
}

static void a_worker_waits_for_a_reservation(void **state)
{
    (void)state;
    struct admission admission = admission_of(0, 0);
    struct hot_pacer pacer = {0};
    reserve_blocked = 5;
    assert_int_equal(admission_reserve_await(&admission, &pacer, 1000, UINT64_MAX), STATUS_OK);
    assert_int_equal(reserved, 1000);
    assert_int_equal(kicks, 5); /* so that what is in the way is written */
    assert_int_equal(pacer.free_ns, 0);
    reserve_blocked = 5;
    assert_int_equal(admission_reserve_await(&admission, &pacer, 1000, 0), STATUS_BLOCKED);
    assert_int_equal(reserve_blocked, 4); /* asked once */
    static const enum status refusals[] = {STATUS_READONLY, STATUS_DISK_FULL, STATUS_NO_FILES};
    for (size_t i = 0; i < 3; i++) {
        reserve_blocked = 2;
        reserve_says = refusals[i];
        assert_int_equal(admission_reserve_await(&admission, &pacer, 1000, UINT64_MAX),
                         refusals[i]);
        journal_says = refusals[i];
        assert_int_equal(admission_reserve_await(&admission, &pacer, 1000, UINT64_MAX),
                         refusals[i]);
        journal_says = STATUS_OK;
    }
    reserve_says = STATUS_OK;
    admission.lag_max = MAX;
    appended = MAX + 1;
    assert_int_equal(admission_reserve_await(&admission, &pacer, 1000, UINT64_MAX), STATUS_LAGGING);
    assert_int_equal(reserved, 1000);
}

/* A thread that writes texts comes to as many bytes as one that writes likes. */
static void long_events_are_paced_by_their_bytes(void **state)
{
    (void)state;
    assert_int_equal(hot_writes_of(1), 1);
    assert_int_equal(hot_writes_of(32), 1);
    assert_int_equal(hot_writes_of(33), 2);
    assert_int_equal(hot_writes_of(10048), 314);
    struct admission admission = admission_of(SLOW, MAX);
    struct hot_pacer pacer = {0};
    appended = MAX;
    uint64_t likes = write_for(&admission, &pacer, 1, MS, 10000 * MS);
    pacer = (struct hot_pacer){0};
    uint64_t texts = write_for(&admission, &pacer, hot_writes_of(10048), MS, 10000 * MS);
    assert_in_range(texts, likes - likes / 10, likes + likes / 10);
}

/* One write of many bytes does not keep the other writes of its thread waiting for ever. */
static void a_wait_after_a_long_event_is_bounded(void **state)
{
    (void)state;
    struct admission admission = admission_of(SLOW, MAX);
    struct hot_pacer pacer = {0};
    appended = MAX;
    for (int i = 0; i < LIMIT_BATCH; i++)
        admission_spend(&admission, &pacer, hot_writes_of(LIMIT_EVENT_LONG), 5000 * MS);
    assert_int_equal(admission_wait_ns(&admission, &pacer, 5000 * MS), ADMISSION_DEBT_NS);
    assert_int_equal(admission_admit(&admission, &pacer, 5000 * MS + ADMISSION_DEBT_NS), STATUS_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_bound_the_journal_alone_decides),
        cmocka_unit_test(a_clock_that_is_wrong_is_refused),
        cmocka_unit_test(an_io_thread_reserves_without_waiting),
        cmocka_unit_test(a_worker_waits_for_a_reservation),
        cmocka_unit_test(long_events_are_paced_by_their_bytes),
        cmocka_unit_test(a_wait_after_a_long_event_is_bounded),
        cmocka_unit_test(the_step_grows_with_the_lag),
        cmocka_unit_test(too_far_behind_is_refused_until_it_caught_up),
        cmocka_unit_test(the_rate_follows_the_step_however_writes_come),
        cmocka_unit_test(a_wait_is_told_and_ends_when_the_store_caught_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

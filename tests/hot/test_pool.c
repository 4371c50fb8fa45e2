/* A pool with one worker: what waits past its deadline is refused in its turn, and all else is run. */
#include "hot/pool.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"

#define HOUR_NS 3600000000000ULL

static struct memory_budget budget = {.limit = MIB(1)};
static struct mailbox mailbox;
static _Atomic bool open_gate;
static _Atomic unsigned inside, wakes;
static unsigned finished;

struct sent {
    struct hot_submission submission; /* the first member */
    enum status statuses[2];          /* as `answered` saw them */
    unsigned place;                   /* among those that are done; 0: it is not */
};

static void wake(void *context)
{
    (void)context;
    wakes++;
}

static void run(void *context, struct pool_worker *worker, struct hot_submission *submission)
{
    (void)context, (void)worker;
    inside++;
    while (!open_gate)
        sched_yield();
    for (uint32_t i = 0; i < submission->count; i++)
        submission->requests[i].status = STATUS_OK;
}

static void answered(struct hot_submission *submission, const struct hot_scratch *scratch)
{
    struct sent *sent = (struct sent *)submission;
    (void)scratch;
    for (uint32_t i = 0; i < submission->count; i++)
        sent->statuses[i] = submission->requests[i].status;
}

static void done(struct hot_submission *submission)
{
    ((struct sent *)submission)->place = ++finished;
}

static struct sent *send(struct pool *pool, uint64_t deadline_ns)
{
    const struct hot_request requests[2] = {{.action = HOT_NAMES, .status = STATUS_DAMAGED},
                                            {.action = HOT_NAMES, .status = STATUS_DAMAGED}};
    struct sent *sent = submission_new(sizeof *sent, requests, 2, &budget);
    assert_non_null(sent);
    sent->submission.answered = answered;
    sent->submission.done = done;
    sent->submission.mailbox = &mailbox;
    sent->submission.deadline_ns = deadline_ns;
    assert_true(pool_submit(pool, &sent->submission));
    return sent;
}

static void expect(struct sent *sent, enum status status, unsigned place)
{
    assert_int_equal(sent->statuses[0], status);
    assert_int_equal(sent->statuses[1], status);
    assert_int_equal(sent->place, place);
    assert_int_equal(sent->submission.retry_ns > 0, status == STATUS_TOO_BUSY);
    submission_free(&sent->submission);
}

static void what_waits_past_its_deadline_is_refused(void **state)
{
    (void)state;
    struct pool pool;
    assert_int_equal(mailbox_init(&mailbox, wake, NULL), 0);
    assert_int_equal(pool_start(&pool, 1, NULL, run, NULL), 0);
    uint64_t now_ns = clock_monotonic_ns();
    struct sent *first = send(&pool, 0);
    while (inside == 0)
        sched_yield();
    struct sent *late = send(&pool, now_ns), *in_time = send(&pool, now_ns + HOUR_NS),
                *without = send(&pool, 0);
    assert_int_equal(pool_waiting(&pool), 3);
    open_gate = true;
    while (wakes < 4)
        sched_yield();
    mailbox_drain(&mailbox);
    assert_int_equal(inside, 3);
    expect(first, STATUS_OK, 1);
    expect(late, STATUS_TOO_BUSY, 2);
    expect(in_time, STATUS_OK, 3);
    expect(without, STATUS_OK, 4);
    pool_stop(&pool);
    mailbox_destroy(&mailbox);
    assert_int_equal(memory_used(&budget), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_waits_past_its_deadline_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

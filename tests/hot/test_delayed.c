/*
 * The delayed tier around a pool of one worker. The test is the loop: it drains the mailbox, and each
 * drain is a turn.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "hot/delayed/hot_delayed.h"
#include "hot/pool.h"

#define COUNT 64

static struct {
    struct hot hot;
    struct pool pool;
    struct mailbox mailbox;
    struct memory_budget budget;
    _Atomic unsigned wakes;
    _Atomic unsigned ran;
    _Atomic bool full; /* nothing more is taken */
    pthread_t loop;
    unsigned turn;
    unsigned done;
    unsigned order[COUNT];
} world;

struct sent {
    struct hot_submission submission; /* the first member */
    unsigned number;
    unsigned turn;      /* in which it was submitted */
    unsigned *turns;    /* out: how many turns it took */
    enum status status; /* as `answered` saw it */
    unsigned answered;
    bool on_loop; /* `answered` was called by the loop's thread */
};

static void wake(void *context)
{
    (void)context;
    world.wakes++;
}

static void run(void *context, struct pool_worker *worker, struct hot_submission *submission)
{
    (void)context, (void)worker;
    for (uint32_t i = 0; i < submission->count; i++)
        submission->requests[i].status = STATUS_OK;
    world.ran++;
}

static bool inner_submit(struct hot *hot, struct hot_submission *submission)
{
    (void)hot;
    return !world.full && pool_submit(&world.pool, submission);
}

static void inner_stats(struct hot *hot, struct hot_stats *out)
{
    (void)hot;
    *out = (struct hot_stats){.waiting = pool_waiting(&world.pool)};
}

static void inner_stop(struct hot *hot)
{
    (void)hot;
    pool_stop(&world.pool);
}

static const struct hot_ops inner_ops = {
    .name = "inner", .submit = inner_submit, .collect = inner_stats, .stop = inner_stop};

static int begin(void **state)
{
    (void)state;
    memset(&world, 0, sizeof world);
    world.hot.ops = &inner_ops;
    world.budget.limit = MIB(1);
    world.loop = pthread_self();
    return mailbox_init(&world.mailbox, wake, NULL) | pool_start(&world.pool, 1, NULL, run, NULL);
}

static int end(void **state)
{
    (void)state;
    inner_stop(NULL);
    mailbox_destroy(&world.mailbox);
    assert_int_equal(memory_used(&world.budget), 0);
    return 0;
}

static void answered(struct hot_submission *submission, const struct hot_scratch *scratch)
{
    struct sent *sent = (struct sent *)submission;
    assert_non_null(scratch);
    sent->answered++;
    sent->status = submission->requests[0].status;
    sent->on_loop = pthread_equal(pthread_self(), world.loop);
}

static void done(struct hot_submission *submission)
{
    struct sent *sent = (struct sent *)submission;
    assert_true(pthread_equal(pthread_self(), world.loop));
    assert_int_equal(sent->answered, 1);
    if (sent->turns != NULL)
        *sent->turns = world.turn - sent->turn;
    world.order[world.done++] = sent->number;
    submission_free(submission);
}

static struct sent *make(unsigned number)
{
    struct item item = {.type = 1};
    struct hot_request request = {
        .action = HOT_COUNTS, .item_count = 1, .items = &item, .status = STATUS_DAMAGED};
    struct sent *sent = submission_new(sizeof *sent, &request, 1, &world.budget);
    assert_non_null(sent);
    sent->submission.answered = answered;
    sent->submission.done = done;
    sent->submission.mailbox = &world.mailbox;
    sent->number = number;
    sent->turn = world.turn;
    return sent;
}

static void turn(void)
{
    world.turn++;
    mailbox_drain(&world.mailbox);
}

static void try_runs_nothing(void **state)
{
    (void)state;
    struct hot *hot = hot_delayed_open(&world.hot, 1);
    struct hot_request request = {.action = HOT_NAMES, .status = STATUS_DAMAGED};
    struct hot_scratch scratch = {0};
    assert_int_equal(hot_try(hot, &request, 1, &scratch), 0);
    assert_int_equal(request.status, STATUS_DAMAGED);
    hot_close(hot);
}

/* Sends all, and turns until all are back. */
static void send_all(struct hot *hot, unsigned *turns)
{
    world.done = 0;
    for (unsigned i = 0; i < COUNT; i++) {
        struct sent *sent = make(i);
        sent->turns = &turns[i];
        assert_true(hot_submit(hot, &sent->submission));
    }
    assert_int_equal(world.done, 0);
    while (world.done < COUNT)
        turn();
}

/* How many of them were overtaken by one that was sent later? */
static unsigned overtaken(void)
{
    unsigned found = 0;
    for (unsigned i = 1; i < COUNT; i++)
        found += world.order[i] < world.order[i - 1];
    return found;
}

static void all_are_done_in_another_order(void **state)
{
    (void)state;
    struct hot *hot = hot_delayed_open(&world.hot, 7);
    unsigned turns[COUNT], seen[COUNT] = {0};
    send_all(hot, turns);
    for (unsigned i = 0; i < COUNT; i++)
        seen[world.order[i]]++;
    for (unsigned i = 0; i < COUNT; i++)
        assert_int_equal(seen[i], 1);
    assert_int_equal(world.ran, COUNT);
    assert_true(overtaken() > 0);
    hot_close(hot);
}

/* The turns that each takes where the worker is never waited for. */
static void count_turns(uint64_t seed, unsigned *turns)
{
    struct hot *hot = hot_delayed_open(&world.hot, seed);
    for (unsigned i = 0; i < COUNT; i++) {
        struct hot_stats stats;
        struct sent *sent = make(i);
        sent->turns = &turns[i];
        world.done = 0;
        world.wakes = 0;
        assert_true(hot_submit(hot, &sent->submission));
        for (unsigned before = world.turn; world.done == 0; turn()) {
            hot_collect(hot, &stats);
            assert_true(stats.waiting <= 1 && world.turn - before <= 2 + HOT_DELAYED_TURNS);
            for (unsigned turns_so_far = world.turn - before; world.wakes <= turns_so_far;)
                sched_yield(); /* until there is something to drain */
        }
    }
    hot_close(hot);
}

static void a_seed_decides_the_turns(void **state)
{
    (void)state;
    unsigned first[COUNT], second[COUNT], other[COUNT], found[HOT_DELAYED_TURNS + 1] = {0};
    count_turns(3, first);
    count_turns(3, second);
    count_turns(4, other);
    assert_memory_equal(first, second, sizeof first);
    assert_memory_not_equal(first, other, sizeof first);
    for (unsigned i = 0; i < COUNT; i++) {
        assert_in_range(first[i], 1, 1 + HOT_DELAYED_TURNS); /* the first is that of the answer */
        found[first[i] - 1]++;
    }
    for (unsigned i = 0; i <= HOT_DELAYED_TURNS; i++)
        assert_true(found[i] > 0);
}

/* Statuses and threads of those that were answered, beside `done`. */
static unsigned refused, refused_on_loop;

static void count_refusals(struct hot_submission *submission, const struct hot_scratch *scratch)
{
    struct sent *sent = (struct sent *)submission;
    answered(submission, scratch);
    assert_int_equal(sent->status, STATUS_TOO_BUSY);
    assert_true(submission->retry_ns > 0);
    refused++;
    refused_on_loop += sent->on_loop;
}

/* What the inner tier does not take is refused at once, or, if it was taken, as an answer. */
static void what_the_inner_tier_does_not_take_is_busy(void **state)
{
    (void)state;
    struct hot *hot = hot_delayed_open(&world.hot, 5);
    unsigned at_once = 0;
    struct hot_stats stats;
    world.full = true;
    refused = refused_on_loop = 0;
    for (unsigned i = 0; i < COUNT; i++) {
        struct sent *sent = make(i);
        sent->submission.answered = count_refusals;
        if (hot_submit(hot, &sent->submission))
            continue;
        assert_int_equal(sent->answered, 0);
        submission_free(&sent->submission);
        at_once++;
    }
    hot_collect(hot, &stats);
    assert_int_equal(stats.waiting, COUNT - at_once);
    for (unsigned i = 0; i < HOT_DELAYED_TURNS; i++)
        turn();
    hot_collect(hot, &stats);
    assert_int_equal(stats.waiting, 0);
    assert_true(at_once > 0 && at_once < COUNT);
    assert_int_equal(refused, COUNT - at_once);
    assert_int_equal(refused_on_loop, refused);
    assert_int_equal(world.done, refused);
    assert_int_equal(world.ran, 0);
    hot_close(hot);
}

static void a_deadline_and_its_refusal_pass_through(void **state)
{
    (void)state;
    struct hot *hot = hot_delayed_open(&world.hot, 9);
    refused = 0;
    for (unsigned i = 0; i < COUNT; i++) {
        struct sent *sent = make(i);
        sent->submission.answered = count_refusals;
        sent->submission.deadline_ns = clock_monotonic_ns();
        assert_true(hot_submit(hot, &sent->submission));
    }
    while (world.done < COUNT)
        turn();
    assert_int_equal(refused, COUNT);
    assert_int_equal(world.ran, 0);
    hot_close(hot);
}

static void no_memory_for_a_wrapper_is_too_busy(void **state)
{
    (void)state;
    struct hot *hot = hot_delayed_open(&world.hot, 1);
    struct sent *sent = make(0);
    world.budget.limit = memory_used(&world.budget);
    assert_false(hot_submit(hot, &sent->submission));
    submission_free(&sent->submission);
    hot_close(hot);
}

static void stopping_passes_through_once_all_are_back(void **state)
{
    (void)state;
    struct hot *hot = hot_delayed_open(&world.hot, 2);
    unsigned turns[COUNT];
    send_all(hot, turns);
    hot_stop(hot);
    assert_false(pool_submit(&world.pool, NULL));
    hot_close(hot);
}

int main(void)
{
#define IN_A_WORLD(test) cmocka_unit_test_setup_teardown(test, begin, end)
    const struct CMUnitTest tests[] = {
        IN_A_WORLD(try_runs_nothing),
        IN_A_WORLD(all_are_done_in_another_order),
        IN_A_WORLD(a_seed_decides_the_turns),
        IN_A_WORLD(what_the_inner_tier_does_not_take_is_busy),
        IN_A_WORLD(a_deadline_and_its_refusal_pass_through),
        IN_A_WORLD(no_memory_for_a_wrapper_is_too_busy),
        IN_A_WORLD(stopping_passes_through_once_all_are_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

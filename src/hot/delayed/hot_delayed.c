/*
 * For each submission there is a wrapper, a submission of its own with the same requests, which goes to
 * the inner tier. A wrapper counts turns by being put into the mailbox of the loop again and again: each
 * time that the loop drains its mailbox, `done` of the wrapper is called, on the loop's thread.
 */
#include "hot/delayed/hot_delayed.h"

#include <stdatomic.h>

#include "base/assert.h"
#include "base/hash.h"
#include "base/limits.h"
#include "hot/submission.h"

#define HOT_DELAYED_MAGIC 0x6c616465U

struct hot_delayed {
    struct hot hot; /* the first member */
    unsigned magic;
    struct hot *inner;
    uint64_t seed;
    _Atomic uint64_t drawn;   /* submissions so far */
    _Atomic uint64_t waiting; /* submissions that the inner tier does not have yet */
};

struct wrapper {
    struct hot_submission submission; /* the first member */
    struct hot_delayed *hot;
    struct hot_submission *outer; /* the submission of the sender, which owns the requests */
    unsigned before;              /* turns until the inner tier gets it; the loop's */
    unsigned after;               /* turns since it was answered until `done`; the loop's */
};

static struct hot_delayed *delayed_of(struct hot *base)
{
    struct hot_delayed *hot = (struct hot_delayed *)base;
    CHECK_MAGIC(hot, HOT_DELAYED_MAGIC);
    return hot;
}

static size_t delayed_try(struct hot *base, struct hot_request *requests, size_t count,
                          struct hot_scratch *scratch)
{
    (void)base, (void)requests, (void)count, (void)scratch;
    return 0;
}

/* Where the inner tier has the answers. */
static void on_answered(struct hot_submission *submission, const struct hot_scratch *scratch)
{
    struct hot_submission *outer = ((struct wrapper *)submission)->outer;
    outer->retry_ns = submission->retry_ns;
    outer->answered(outer, scratch);
}

static void give_back(struct wrapper *wrapper)
{
    struct hot_submission *outer = wrapper->outer;
    submission_free(&wrapper->submission);
    outer->done(outer);
}

/* By the loop's thread: a turn has passed since the submission was answered. */
static void on_turn_after(struct hot_submission *submission)
{
    struct wrapper *wrapper = (struct wrapper *)submission;
    if (wrapper->after == 0) {
        give_back(wrapper);
        return;
    }
    wrapper->after--;
    submission_finish(submission);
}

static bool submit_inner(struct wrapper *wrapper)
{
    wrapper->submission.done = on_turn_after;
    return hot_submit(wrapper->hot->inner, &wrapper->submission);
}

/* By the loop's thread: a turn has passed, and the inner tier does not have the submission yet. */
static void on_turn_before(struct hot_submission *submission)
{
    struct wrapper *wrapper = (struct wrapper *)submission;
    ASSERT(wrapper->before > 0);
    if (--wrapper->before > 0) {
        submission_finish(submission);
        return;
    }
    atomic_fetch_sub(&wrapper->hot->waiting, 1);
    if (submit_inner(wrapper))
        return;
    /* The sender was told that the submission is taken, so it gets the refusal as an answer. */
    const struct hot_scratch nothing = {0};
    submission_refuse(submission);
    on_answered(submission, &nothing);
    give_back(wrapper);
}

/* NULL: no memory. */
static struct wrapper *wrap(struct hot_delayed *hot, struct hot_submission *outer)
{
    if (!memory_charge_connection(outer->budget, sizeof(struct wrapper)))
        return NULL;
    struct wrapper *wrapper = calloc(1, sizeof *wrapper);
    if (wrapper == NULL) {
        memory_release_connection(outer->budget, sizeof *wrapper);
        return NULL;
    }
    wrapper->submission = (struct hot_submission){.mailbox = outer->mailbox,
                                                  .answered = on_answered,
                                                  .budget = outer->budget,
                                                  .bytes = sizeof *wrapper,
                                                  .deadline_ns = outer->deadline_ns,
                                                  .count = outer->count,
                                                  .writes = outer->writes,
                                                  .requests = outer->requests};
    wrapper->hot = hot;
    wrapper->outer = outer;
    return wrapper;
}

static void draw_delays(struct wrapper *wrapper)
{
    uint64_t number = atomic_fetch_add(&wrapper->hot->drawn, 1);
    uint64_t chance = hash_3(wrapper->hot->seed, number, 0);
    unsigned turns = (unsigned)(chance % (HOT_DELAYED_TURNS + 1));
    wrapper->before = (unsigned)((chance >> 32) % (turns + 1));
    wrapper->after = turns - wrapper->before;
}

static bool delayed_submit(struct hot *base, struct hot_submission *submission)
{
    struct hot_delayed *hot = delayed_of(base);
    if (atomic_load(&hot->waiting) >= LIMIT_JOBS)
        return false;
    struct wrapper *wrapper = wrap(hot, submission);
    if (wrapper == NULL)
        return false;
    draw_delays(wrapper);
    if (wrapper->before > 0) {
        atomic_fetch_add(&hot->waiting, 1);
        wrapper->submission.done = on_turn_before;
        submission_finish(&wrapper->submission);
        return true;
    }
    if (submit_inner(wrapper))
        return true;
    submission_free(&wrapper->submission);
    return false;
}

static enum status delayed_admit(struct hot *base, const struct hot_pacer *pacer, uint64_t now_ns)
{
    return hot_admit(delayed_of(base)->inner, pacer, now_ns);
}

static uint64_t delayed_wait_ns(struct hot *base, const struct hot_pacer *pacer, uint64_t now_ns)
{
    return hot_wait_ns(delayed_of(base)->inner, pacer, now_ns);
}

static void delayed_spend(struct hot *base, struct hot_pacer *pacer, uint32_t writes,
                          uint64_t now_ns)
{
    hot_spend(delayed_of(base)->inner, pacer, writes, now_ns);
}

static enum status delayed_room(struct hot *base)
{
    return hot_room(delayed_of(base)->inner);
}

static uint64_t delayed_point(struct hot *base)
{
    return hot_point(delayed_of(base)->inner);
}

static uint64_t delayed_released(struct hot *base)
{
    return hot_released(delayed_of(base)->inner);
}

static enum status delayed_state(struct hot *base)
{
    return hot_state(delayed_of(base)->inner);
}

static void delayed_kick(struct hot *base)
{
    hot_kick(delayed_of(base)->inner);
}

static void delayed_listen(struct hot *base, hot_listen_fn *fn, void *context)
{
    hot_listen(delayed_of(base)->inner, fn, context);
}

static const char *delayed_sentence(struct hot *base, enum status status)
{
    return hot_sentence(delayed_of(base)->inner, status);
}

static void delayed_stats(struct hot *base, struct hot_stats *out)
{
    struct hot_delayed *hot = delayed_of(base);
    hot_collect(hot->inner, out);
    out->waiting += atomic_load(&hot->waiting);
}

static void delayed_refuse_writes(struct hot *base)
{
    hot_refuse_writes(delayed_of(base)->inner);
}

static void delayed_stop(struct hot *base)
{
    struct hot_delayed *hot = delayed_of(base);
    ASSERT(atomic_load(&hot->waiting) == 0); /* every submission is back */
    hot_stop(hot->inner);
}

static void delayed_close(struct hot *base)
{
    struct hot_delayed *hot = delayed_of(base);
    hot->magic = 0;
    free(hot);
}

static const struct hot_ops hot_delayed_ops = {
    .name = "delayed",
    .try = delayed_try,
    .submit = delayed_submit,
    .admit = delayed_admit,
    .wait_ns = delayed_wait_ns,
    .spend = delayed_spend,
    .room = delayed_room,
    .point = delayed_point,
    .released = delayed_released,
    .state = delayed_state,
    .kick = delayed_kick,
    .listen = delayed_listen,
    .sentence = delayed_sentence,
    .collect = delayed_stats,
    .refuse_writes = delayed_refuse_writes,
    .stop = delayed_stop,
    .close = delayed_close,
};

struct hot *hot_delayed_open(struct hot *inner, uint64_t seed)
{
    struct hot_delayed *hot = calloc(1, sizeof *hot);
    if (hot == NULL)
        return NULL;
    *hot = (struct hot_delayed){
        .hot.ops = &hot_delayed_ops, .magic = HOT_DELAYED_MAGIC, .inner = inner, .seed = seed};
    return &hot->hot;
}

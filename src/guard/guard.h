/*
 * The guard stands between an operation and the hot tier and says whether it may run now. Writes
 * pass while the journal takes them, the store keeps up, the clock is not wrong and the server is not
 * stopping; reads
 * always pass.
 *
 * How far the store is behind is a number of journal bytes, the lag. Up to lag_slow writes go at
 * full speed; from there on each thread has to let more and more time pass between them, so that
 * the projector can catch up (guard.c); past lag_max they are refused.
 *
 * Any thread may ask; each has a pacer of its own. Time is the caller's.
 */
#ifndef LAUD_GUARD_GUARD_H
#define LAUD_GUARD_GUARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/status.h"
#include "journal/log.h"
#include "time/timeline.h"

#define GUARD_STEP_MAX_NS 20000000 /* what LIMIT_BATCH writes take where the lag reaches lag_max */
#define GUARD_BURST_NS    10000000 /* time saved up for later, so that what waited runs in one go */
#define GUARD_PAUSE_NS    5000000  /* the shortest wait: few large turns cost less */

struct guard {
    struct journal *journal;
    struct timeline *timeline;  /* NULL: the clock is not looked at */
    uint64_t lag_slow;          /* set once */
    uint64_t lag_max;           /* likewise; 0: no bound, and no slowing down */
    _Atomic uint64_t projected; /* position of the journal that the store has reached */
    atomic_bool store_failed;   /* for good: it catches up only after a restart */
    atomic_bool stopping;
};

/* When a thread's next write may be. All zero: at any time. */
struct pacer {
    uint64_t free_ns;
};

/* The store has reached this position; told by one thread at a time. */
static inline void guard_projected(struct guard *guard, uint64_t position)
{
    atomic_store_explicit(&guard->projected, position, memory_order_release);
}

/* Bytes of journal that the store is behind; 0 where there is no bound. */
static inline uint64_t guard_lag(struct guard *guard)
{
    if (guard->lag_max == 0)
        return 0;
    uint64_t projected = atomic_load_explicit(&guard->projected, memory_order_acquire);
    uint64_t appended = journal_appended(guard->journal);
    return appended > projected ? appended - projected : 0;
}

/* What LIMIT_BATCH writes have to take at this lag. */
uint64_t guard_step_ns(const struct guard *guard, uint64_t lag);

/* How long this thread has to wait, at this lag, before it writes. */
uint64_t guard_wait_ns(const struct guard *guard, const struct pacer *pacer, uint64_t lag,
                       uint64_t now_ns);

/* This thread has made so many writes. */
void guard_spend(struct guard *guard, struct pacer *pacer, uint32_t writes, uint64_t now_ns);

/*
 * May this thread run a batch with writes in it? OK, BLOCKED (wait for the journal's listener, or
 * for as long as guard_wait_ns says), or the reason why not. Asking takes nothing.
 */
static inline enum status guard_admit_writes(struct guard *guard, const struct pacer *pacer,
                                             uint64_t now_ns)
{
    if (atomic_load_explicit(&guard->stopping, memory_order_relaxed))
        return STATUS_STOPPING;
    enum status status = journal_admit(guard->journal, LIMIT_ADMIT_BYTES);
    if (status != STATUS_OK && status != STATUS_BLOCKED)
        return status; /* first: where the journal failed, waiting for the store is no use */
    if (guard->timeline != NULL && timeline_state(guard->timeline) != STATUS_OK)
        return timeline_state(guard->timeline);
    uint64_t lag = guard_lag(guard);
    if (lag > guard->lag_slow) {
        if (lag > guard->lag_max)
            return atomic_load(&guard->store_failed) ? STATUS_STORE_FAILED : STATUS_LAGGING;
        if (guard_wait_ns(guard, pacer, lag, now_ns) > 0)
            return STATUS_BLOCKED;
    }
    return status;
}

#endif

/*
 * Slowing down. A write takes its share of a step of time, and the step grows with the lag: from
 * nothing at lag_slow to GUARD_STEP_MAX_NS for LIMIT_BATCH writes at lag_max. So writers meet the
 * projector's speed somewhere between the two, smoothly, whether they come one by one or in
 * pipelines, and only those that it cannot serve at all are refused.
 *
 * Only what was admitted is paid for, and one batch at most before asking again: nobody waits longer
 * than a step, and not at all once the lag is below lag_slow again.
 */
#include "guard/guard.h"

#include "base/limits.h"

uint64_t guard_step_ns(const struct guard *guard, uint64_t lag)
{
    if (lag <= guard->lag_slow || guard->lag_max == 0)
        return 0;
    if (lag >= guard->lag_max)
        return GUARD_STEP_MAX_NS;
    double part = (double)(lag - guard->lag_slow) / (double)(guard->lag_max - guard->lag_slow);
    return (uint64_t)(GUARD_STEP_MAX_NS * part);
}

uint64_t guard_wait_ns(const struct guard *guard, const struct pacer *pacer, uint64_t lag,
                       uint64_t now_ns)
{
    bool slow = guard_step_ns(guard, lag) > 0;
    if (!slow || pacer->free_ns <= now_ns)
        return 0;
    uint64_t wait_ns = pacer->free_ns - now_ns;
    return wait_ns < GUARD_PAUSE_NS ? GUARD_PAUSE_NS : wait_ns;
}

void guard_spend(struct guard *guard, struct pacer *pacer, uint32_t writes, uint64_t now_ns)
{
    uint64_t step_ns = guard_step_ns(guard, guard_lag(guard));
    if (step_ns == 0)
        return;
    if (pacer->free_ns + GUARD_BURST_NS < now_ns)
        pacer->free_ns = now_ns - GUARD_BURST_NS;
    pacer->free_ns += step_ns * writes / LIMIT_BATCH;
}

#include "cli/erasure.h"

#include "base/assert.h"

/* The rest of the time is for the checkpoint. */
static uint64_t delay_ms(const struct erasure *erasure)
{
    return erasure->within_ms - erasure->within_ms / 4;
}

static uint64_t retry_ms(const struct erasure *erasure)
{
    uint64_t least = erasure->within_ms / 8;
    return least < ERASURE_RETRY_MS ? least : ERASURE_RETRY_MS;
}

/* The texts that were removed before the target are still in the journal. */
static bool try_again(struct erasure *erasure, uint64_t now_ms)
{
    erasure->is_late = now_ms - erasure->since_ms > erasure->within_ms;
    if (now_ms - erasure->asked_ms < retry_ms(erasure))
        return false;
    erasure->asked_ms = now_ms;
    return true;
}

/* A text that is removed after the target was set has to wait for the next time. */
bool erasure_turn(struct erasure *erasure, uint64_t now_ms, uint64_t erased, uint64_t first)
{
    ASSERT(now_ms > 0 && erasure->within_ms > 0);
    if (erasure->target != 0 && first < erasure->target)
        return try_again(erasure, now_ms);
    if (erasure->target != 0)
        erasure->target = erasure->since_ms = 0;
    erasure->is_late = false;
    if (erased <= first) {
        erasure->since_ms = 0;
        return false;
    }
    if (erasure->since_ms == 0)
        erasure->since_ms = now_ms;
    if (now_ms - erasure->since_ms < delay_ms(erasure))
        return false;
    erasure->target = erased;
    erasure->asked_ms = now_ms;
    return true;
}

/*
 * A count that is read while its thread writes may be slightly old, so sums of several counts may
 * differ a little.
 */
#include "metrics/meter.h"

static uint64_t load(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

void meter_read(const struct meter *meter, struct meter_total *total)
{
    for (uint32_t i = 0; i < METER_OPERATIONS; i++) {
        buckets_read(&meter->operations[i].times, &total->operations[i].times);
        total->operations[i].refused += load(&meter->operations[i].refused);
        total->operations[i].failed += load(&meter->operations[i].failed);
    }
    for (uint32_t i = 0; i < STATUS_COUNT; i++)
        total->statuses[i] += load(&meter->statuses[i]);
    total->by_worker += load(&meter->by_worker);
    buckets_read(&meter->waits, &total->waits);
}

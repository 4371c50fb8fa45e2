/*
 * What one I/O thread counts while it works: how long operations took, how many failed and why. It
 * belongs to that thread, which alone writes; any thread may read, and adds up those of all threads
 * (meter_read). It lies among what that thread alone writes, so that no cache line is shared.
 */
#ifndef LAUD_METRICS_METER_H
#define LAUD_METRICS_METER_H

#include <stdbool.h>

#include "base/buckets.h"
#include "base/status.h"

#define METER_OPERATIONS 64 /* commands that are told apart, by their place in the table */
#define METER_NONE       UINT32_MAX

struct meter {
    struct {
        struct buckets times;     /* ns, of those that were run */
        _Atomic uint64_t refused; /* that were not run */
        _Atomic uint64_t failed;  /* that were, and got an error */
    } operations[METER_OPERATIONS];
    _Atomic uint64_t statuses[STATUS_COUNT]; /* error replies */
    _Atomic uint64_t by_worker;              /* operations that a worker ran */
    struct buckets waits;                    /* ns, of replies for the journal */
};

/* Of one or more threads. */
struct meter_total {
    struct {
        struct buckets_total times;
        uint64_t refused;
        uint64_t failed;
    } operations[METER_OPERATIONS];
    uint64_t statuses[STATUS_COUNT];
    uint64_t by_worker;
    struct buckets_total waits;
};

/* So many runs of one operation, which took so long each. */
static inline void meter_ran(struct meter *meter, uint32_t operation, uint64_t took_ns,
                             uint64_t times)
{
    buckets_add(&meter->operations[operation].times, took_ns, BUCKETS_SHIFT_NS, times);
}

/* An error reply; the operation was run or not, METER_NONE: it was none. */
static inline void meter_failed(struct meter *meter, uint32_t operation, enum status status,
                                bool ran)
{
    buckets_raise(&meter->statuses[status], 1);
    if (operation != METER_NONE)
        buckets_raise(
            ran ? &meter->operations[operation].failed : &meter->operations[operation].refused, 1);
}

/* Adds what was counted to the total. */
void meter_read(const struct meter *meter, struct meter_total *total);

#endif

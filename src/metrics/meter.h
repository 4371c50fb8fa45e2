/*
 * What one I/O thread counts while it works: how long operations took, how many failed and why. Only
 * that thread writes it. Any thread may read it, and adds up the meters of all threads (meter_read).
 * It is stored next to other data that only its thread writes, so that no two threads write to one
 * cache line.
 */
#ifndef LAUD_METRICS_METER_H
#define LAUD_METRICS_METER_H

#include <stdbool.h>

#include "base/assert.h"
#include "base/buckets.h"
#include "base/status.h"

#define METER_OPERATIONS                                                                           \
    128 /* how many commands are counted separately, by their index in the table */
#define METER_NONE UINT32_MAX

struct meter {
    struct {
        struct buckets times;     /* ns, of operations that were run */
        _Atomic uint64_t refused; /* operations that were not run */
        _Atomic uint64_t failed;  /* operations that were run and have an error as their answer */
    } operations[METER_OPERATIONS];
    _Atomic uint64_t statuses[STATUS_COUNT]; /* error replies */
    _Atomic uint64_t by_worker;              /* operations that a worker ran */
    struct buckets waits;                    /* ns that replies waited for their release */
};

/* The sums of one or more threads. */
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

/* Counts `times` runs of one operation, each of which took `took_ns`. */
static inline void meter_ran(struct meter *meter, uint32_t operation, uint64_t took_ns,
                             uint64_t times)
{
    buckets_add(&meter->operations[operation].times, took_ns, BUCKETS_SHIFT_NS, times);
}

/* Counts an error reply. `ran`: the operation was run. METER_NONE: it was no operation. */
static inline void meter_failed(struct meter *meter, uint32_t operation, enum status status,
                                bool ran)
{
    ASSERT(status != STATUS_OK && (operation < METER_OPERATIONS || operation == METER_NONE));
    buckets_raise(&meter->statuses[status], 1);
    if (operation != METER_NONE)
        buckets_raise(
            ran ? &meter->operations[operation].failed : &meter->operations[operation].refused, 1);
}

/* Adds the counts of a meter to the total. */
void meter_read(const struct meter *meter, struct meter_total *total);

#endif

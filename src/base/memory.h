/*
 * The memory budget: the number of bytes in use, and a limit. Code whose memory grows with use
 * (slabs, tables, connection buffers) charges it here, in steps of pages or buffers and never per
 * operation, so that the shared counter is not on the hot path. Any thread may charge and release.
 *
 * A share is a budget within another budget. Whatever is charged to the share is charged to both.
 * So a share has a limit of its own, but reserves nothing.
 */
#ifndef LAUD_BASE_MEMORY_H
#define LAUD_BASE_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"

struct memory_budget {
    _Atomic uint64_t used;
    _Atomic uint64_t connections; /* bytes of `used` that connections have */
    /* These are set once, before threads start: */
    uint64_t limit;
    /* Bytes of the limit for connections only, so that a server full of data can still answer. */
    uint64_t reserve;
    /* The limit of `connections`, so that data always gets some memory; 0: no such limit. */
    uint64_t connections_max;
    struct memory_budget *within; /* the budget that this one is a share of; NULL: none */
};

static inline bool memory_charge_below(struct memory_budget *budget, size_t bytes, uint64_t limit)
{
    uint64_t before = atomic_fetch_add_explicit(&budget->used, bytes, memory_order_relaxed);
    if (before + bytes <= limit)
        return true;
    atomic_fetch_sub_explicit(&budget->used, bytes, memory_order_relaxed);
    return false;
}

/* The limit of `used` when data is charged. */
static inline uint64_t memory_data_limit(const struct memory_budget *budget)
{
    return budget->limit - budget->reserve;
}

/* Charges data. False: that would exceed the limit, and nothing is charged. */
static inline bool memory_charge(struct memory_budget *budget, size_t bytes)
{
    struct memory_budget *whole = budget->within;
    if (!memory_charge_below(budget, bytes, memory_data_limit(budget)))
        return false;
    if (whole == NULL || memory_charge_below(whole, bytes, memory_data_limit(whole)))
        return true;
    atomic_fetch_sub_explicit(&budget->used, bytes, memory_order_relaxed);
    return false;
}

/* Releases bytes that were charged before. */
static inline void memory_release(struct memory_budget *budget, size_t bytes)
{
    uint64_t before = atomic_fetch_sub_explicit(&budget->used, bytes, memory_order_relaxed);
    ASSERT(before >= bytes);
    if (budget->within != NULL) {
        before = atomic_fetch_sub_explicit(&budget->within->used, bytes, memory_order_relaxed);
        ASSERT(before >= bytes);
    }
}

/* Charges a connection. Connections may use the reserve, and have a limit of their own. */
static inline bool memory_charge_connection(struct memory_budget *budget, size_t bytes)
{
    uint64_t most = budget->connections_max != 0 ? budget->connections_max : budget->limit;
    uint64_t before = atomic_fetch_add_explicit(&budget->connections, bytes, memory_order_relaxed);
    if (before + bytes <= most && memory_charge_below(budget, bytes, budget->limit))
        return true;
    atomic_fetch_sub_explicit(&budget->connections, bytes, memory_order_relaxed);
    return false;
}

static inline void memory_release_connection(struct memory_budget *budget, size_t bytes)
{
    uint64_t before = atomic_fetch_sub_explicit(&budget->connections, bytes, memory_order_relaxed);
    ASSERT(before >= bytes);
    memory_release(budget, bytes);
}

static inline uint64_t memory_used(struct memory_budget *budget)
{
    return atomic_load_explicit(&budget->used, memory_order_relaxed);
}

/* The bytes that can still be charged for data. */
static inline uint64_t memory_left(struct memory_budget *budget)
{
    uint64_t limit = memory_data_limit(budget);
    uint64_t used = memory_used(budget);
    return used < limit ? limit - used : 0;
}

#endif

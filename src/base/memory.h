/*
 * The memory budget: one number of bytes in use, one limit. Whoever takes memory that grows with
 * use (slabs, tables, connection buffers) charges it here in steps of pages or buffers, never per
 * operation, so the shared counter is not on the hot path.
 *
 * A share is a budget within another: what is charged to it is charged to both, so it bounds those who
 * have it without setting anything aside.
 */
#ifndef LAUD_BASE_MEMORY_H
#define LAUD_BASE_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memory_budget {
    _Atomic uint64_t used;
    _Atomic uint64_t connections; /* of that, what connections have */
    /* Set once, before threads start: */
    uint64_t limit;
    uint64_t reserve; /* of it, kept for connections: full of data, a server must still talk */
    uint64_t connections_max; /* and theirs at most: full of them, it must still decide; 0: all */
    struct memory_budget *within; /* that this is a share of; NULL: it is all there is */
};

static inline bool memory_charge_below(struct memory_budget *budget, size_t bytes, uint64_t limit)
{
    uint64_t before = atomic_fetch_add_explicit(&budget->used, bytes, memory_order_relaxed);
    if (before + bytes <= limit)
        return true;
    atomic_fetch_sub_explicit(&budget->used, bytes, memory_order_relaxed);
    return false;
}

/* What may be in use when data is charged. */
static inline uint64_t memory_data_limit(const struct memory_budget *budget)
{
    return budget->limit - budget->reserve;
}

/* For data. False, and nothing charged, if that would be passed. */
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

static inline void memory_release(struct memory_budget *budget, size_t bytes)
{
    atomic_fetch_sub_explicit(&budget->used, bytes, memory_order_relaxed);
    if (budget->within != NULL)
        atomic_fetch_sub_explicit(&budget->within->used, bytes, memory_order_relaxed);
}

/* For connections: the reserve is theirs, and they have a limit of their own. */
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
    atomic_fetch_sub_explicit(&budget->connections, bytes, memory_order_relaxed);
    memory_release(budget, bytes);
}

static inline uint64_t memory_used(struct memory_budget *budget)
{
    return atomic_load_explicit(&budget->used, memory_order_relaxed);
}

/* That data may still charge. */
static inline uint64_t memory_left(struct memory_budget *budget)
{
    uint64_t limit = memory_data_limit(budget);
    uint64_t used = memory_used(budget);
    return used < limit ? limit - used : 0;
}

#endif

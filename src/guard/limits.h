/*
 * Rate limits: how much one client address, one acting user and one device may ask for, reads and
 * writes apart. Each has a rate and a burst; what is refused takes nothing, in none of the three, and
 * is told how long to wait.
 *
 * Who asked how much is kept in a table of fixed size, charged to the budget when the first limit is
 * set and never before. In a full one the cell that would be empty first gives way: keys made up to
 * fill it push out those that asked for little, not those that are being held back.
 *
 * Any thread may take, with its own time. Rates are set by one thread at a time, while others take.
 */
#ifndef LAUD_GUARD_LIMITS_H
#define LAUD_GUARD_LIMITS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/text.h"

enum limit_by { LIMIT_BY_IP, LIMIT_BY_USER, LIMIT_BY_DEVICE, LIMIT_BY_TOTAL };

/* The rates of all limits, [0] of reads and [1] of writes. */
struct limit_rates {
    struct rate by[LIMIT_BY_TOTAL][2];
    bool dry_run;
};

/* One rate as it is used. Zero: no bound. */
struct limit_rule {
    _Atomic uint64_t interval_ns; /* that one takes */
    _Atomic uint64_t room_ns;     /* and all of a burst */
};

struct limit_set;

struct limits {
    _Atomic uint32_t active; /* bits 1 << enum limit_by for reads, << 8 for writes; 0: all is off */
    atomic_bool dry_run;
    struct limit_rule rules[LIMIT_BY_TOTAL][2];
    struct limit_set *sets; /* NULL until a limit is set; then until limits_free */
    uint64_t set_count;     /* a power of two */
    uint64_t seed[2];
    bool shared; /* more than one thread takes */
    struct memory_budget *budget;
    _Atomic uint64_t cells_used; /* ever */
    _Atomic uint64_t cells_lost; /* that gave way before they were empty */
};

/* Who asks. Those whose bit, 1 << enum limit_by, is not in `known` are not limited. */
struct limit_ask {
    unsigned known;
    struct id who[LIMIT_BY_TOTAL];
};

/*
 * What a thread has taken of a limit ahead of need, for many requests of one connection at once: one
 * visit to the table in place of one each. To others it is taken meanwhile. All zero is none; what is
 * left must be given back (limits_return).
 */
struct limit_lease {
    struct id who;
    uint64_t key;
    uint32_t left;
    bool writes;
};

/* All off. The seed is secret: it decides who shares a cell. Shared: more than one thread takes. */
void limits_init(struct limits *limits, const uint64_t seed[2], bool shared,
                 struct memory_budget *budget);
void limits_free(struct limits *limits);

/* The rates that the options say. */
void limits_rates_of(const struct options *options, struct limit_rates *rates);

/*
 * Sets all rates; a table of so many bytes is made if there is none and one is needed. What was taken
 * before counts on. False: no memory, and everything is as it was.
 */
bool limits_set(struct limits *limits, const struct limit_rates *rates, uint64_t table_bytes);

/* Which limits are on; once for a batch. */
static inline uint32_t limits_active(struct limits *limits)
{
    return atomic_load_explicit(&limits->active, memory_order_acquire);
}

/*
 * Takes one read or write of all limits that are `active`. 0: taken. Else how many nanoseconds until
 * it could be, by the limit *by, and nothing was taken. `leases`, one for each limit, are the caller's.
 */
uint64_t limits_take(struct limits *limits, uint32_t active, const struct limit_ask *ask,
                     bool writes, uint64_t now_ns, struct limit_lease *leases, enum limit_by *by);

/* This user is likely to be the next that asks: what that takes will be at hand. */
void limits_foresee(const struct limits *limits, struct id user, bool writes);

/* Gives back what the leases hold, soon after. */
void limits_return(struct limits *limits, struct limit_lease *leases);

/* What stands for a device; false: the id is empty, too long or not printable. */
bool limits_device(const struct limits *limits, struct text id, struct id *out);

uint64_t limits_cells(const struct limits *limits); /* that the table has */

#endif

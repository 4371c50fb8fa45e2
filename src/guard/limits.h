/*
 * Rate limits for each client address, each user and each device, separately for reads and writes; and
 * for the texts that a user writes (new comments and edits), which also count as writes. A limit has a
 * rate and a burst. The rate is per second, that of texts per minute. A refused operation counts against none of the limits, and the
 * refusal says how long to wait.
 *
 * The state of all clients is in a table of fixed size, which is allocated and charged to the budget
 * when the first limit is set. If a set of the table is full, the cell that would be empty first is
 * replaced. So somebody who invents many keys replaces the cells of those who asked for little, not of
 * those who are being limited.
 *
 * Any thread may call limits_take, with its own time. One thread at a time may set rates, also while other
 * threads call limits_take.
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

/* LIMIT_BY_COMMENT: by user, only for operations that write a text. */
enum limit_by { LIMIT_BY_IP, LIMIT_BY_USER, LIMIT_BY_DEVICE, LIMIT_BY_COMMENT, LIMIT_BY_TOTAL };

/* The time for which a rate is given. */
static inline uint64_t limit_period_ns(enum limit_by by)
{
    return (by == LIMIT_BY_COMMENT ? 60 : 1) * 1000000000ULL;
}

/* The rates of all limits: [0] for reads and [1] for writes. There are no reads of LIMIT_BY_COMMENT. */
struct limit_rates {
    struct rate by[LIMIT_BY_TOTAL][2];
    bool dry_run;
};

/* One rate in the form in which it is used. Zero: no bound. */
struct limit_rule {
    _Atomic uint64_t interval_ns; /* the time that one operation takes */
    _Atomic uint64_t room_ns;     /* the time that a whole burst takes */
};

struct limit_set;

struct limits {
    _Atomic uint32_t
        active; /* bits 1 << enum limit_by for reads, << 8 for writes; 0: all are off */
    atomic_bool dry_run;
    struct limit_rule rules[LIMIT_BY_TOTAL][2];
    struct limit_set *sets; /* NULL until a limit is set; freed by limits_free */
    uint64_t set_count;     /* a power of two */
    uint64_t seed[2];
    bool shared; /* more than one thread calls limits_take */
    struct memory_budget *budget;
    _Atomic uint64_t cells_used; /* cells that were ever used */
    _Atomic uint64_t cells_lost; /* cells that were replaced before they were empty */
};

/*
 * Who sends an operation. Bit 1 << enum limit_by of `known` says that this entry of `who` is set and
 * limited.
 */
struct limit_ask {
    unsigned known;
    struct id who[LIMIT_BY_TOTAL];
};

/*
 * Operations that a thread has taken from a limit in advance, for many requests of one connection. So
 * the table is accessed once instead of once for each request. For other threads they count as taken.
 * All zero: none. What is not used must be returned (limits_return).
 */
struct limit_lease {
    struct id who;
    uint64_t key;
    uint32_t left;
    bool writes;
};

/*
 * All limits are off at first. The seed is secret, because it decides which keys share a cell.
 * `shared`: more than one thread will call limits_take.
 */
void limits_init(struct limits *limits, const uint64_t seed[2], bool shared,
                 struct memory_budget *budget);
void limits_free(struct limits *limits);

/* The rates that the options set. */
void limits_rates_of(const struct options *options, struct limit_rates *rates);

/*
 * Sets all rates. If one of them needs a table and there is none, a table of `table_bytes` is
 * allocated. What was taken before still counts. False: there is no memory, and nothing was changed.
 */
bool limits_set(struct limits *limits, const struct limit_rates *rates, uint64_t table_bytes);

/* Which limits are on. It is called once for each batch. */
static inline uint32_t limits_active(struct limits *limits)
{
    return atomic_load_explicit(&limits->active, memory_order_acquire);
}

/*
 * Takes one read or write from all limits that are `active`. 0: it is taken. Otherwise nothing is
 * taken, *by is the limit that refused, and the result is the number of nanoseconds until it could be
 * taken. The caller owns `leases`, one for each limit.
 */
uint64_t limits_take(struct limits *limits, uint32_t active, const struct limit_ask *ask,
                     bool writes, uint64_t now_ns, struct limit_lease *leases, enum limit_by *by);

/* This user will probably be the next: loads the user's cells into the CPU cache. */
void limits_foresee(const struct limits *limits, struct id user, bool writes);

/* Returns what the leases still hold. It must be called soon after limits_take. */
void limits_return(struct limits *limits, struct limit_lease *leases);

/* Makes the key of a device. False: the id is empty, too long or not printable. */
bool limits_device(const struct limits *limits, struct text id, struct id *out);

/* The number of cells of the table. */
uint64_t limits_cells(const struct limits *limits);

#endif

/*
 * GCRA, the generic cell rate algorithm: a cell holds one time, at which it will be empty again. A
 * request advances that time by the interval of its rate, and passes if the result is at most one
 * burst after now. So nothing has to be refilled, and a missing key is the same as a cell whose time
 * has passed.
 *
 * A set of cells is one cache line with a lock of its own, which is held for a few instructions; with
 * only one thread nobody locks. The cell of a key can only be in one set. Key and set come from a
 * 64-bit hash with a secret seed. Two clients share a cell about once in a billion times, and nobody
 * can cause that from outside.
 */
#include "guard/limits.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <xxhash.h>

#include "base/assert.h"
#include "base/hash.h"
#include "base/limits.h"

#define CELLS        5
#define LEASED       16
#define SPINS        64
#define HUGE_PAGE    MIB(2)
#define WRITES_SHIFT 8

struct limit_set {
    _Alignas(64) atomic_bool locked;
    uint32_t keys[CELLS]; /* 0: the cell was never used */
    uint64_t empty_ns[CELLS];
};

_Static_assert(sizeof(struct limit_set) == 64, "a set is a cache line");

void limits_init(struct limits *limits, const uint64_t seed[2], bool shared,
                 struct memory_budget *budget)
{
    memset(limits, 0, sizeof *limits);
    limits->shared = shared;
    limits->seed[0] = seed[0];
    limits->seed[1] = seed[1];
    limits->budget = budget;
}

static uint64_t table_bytes_of(const struct limits *limits)
{
    return limits->set_count * sizeof(struct limit_set);
}

void limits_free(struct limits *limits)
{
    if (limits->sets == NULL)
        return;
    memory_release(limits->budget, table_bytes_of(limits));
    free(limits->sets);
    limits->sets = NULL;
}

uint64_t limits_cells(const struct limits *limits)
{
    return limits->set_count * CELLS;
}

void limits_rates_of(const struct options *options, struct limit_rates *rates)
{
    *rates = (struct limit_rates){
        .by = {[LIMIT_BY_IP] = {options->limit_ip_read, options->limit_ip_write},
               [LIMIT_BY_USER] = {options->limit_user_read, options->limit_user_write},
               [LIMIT_BY_DEVICE] = {options->limit_device_read, options->limit_device_write},
               [LIMIT_BY_COMMENT][1] = options->limit_user_comment},
        .dry_run = options->limit_dry_run};
}

static bool make_table(struct limits *limits, uint64_t bytes)
{
    uint64_t count = 1;
    ASSERT(limits->sets == NULL && limits->budget != NULL);
    while (2 * count * sizeof(struct limit_set) <= bytes)
        count *= 2;
    uint64_t size = count * sizeof(struct limit_set);
    if (!memory_charge(limits->budget, size))
        return false;
    struct limit_set *sets = aligned_alloc(size < HUGE_PAGE ? size : HUGE_PAGE, size);
    if (sets == NULL) {
        memory_release(limits->budget, size);
        return false;
    }
    if (size >= HUGE_PAGE)
        madvise(sets, size, MADV_HUGEPAGE); /* without huge pages it is only slower */
    memset((void *)sets, 0, size);
    limits->set_count = count;
    limits->sets = sets;
    return true;
}

bool limits_set(struct limits *limits, const struct limit_rates *rates, uint64_t table_bytes)
{
    uint32_t active = 0;
    for (unsigned by = 0; by < LIMIT_BY_TOTAL; by++) {
        for (unsigned writes = 0; writes < 2; writes++)
            active |= (uint32_t)(rates->by[by][writes].per_s > 0) << (by + WRITES_SHIFT * writes);
    }
    if (active != 0 && limits->sets == NULL && !make_table(limits, table_bytes))
        return false;
    for (unsigned by = 0; by < LIMIT_BY_TOTAL; by++) {
        for (unsigned writes = 0; writes < 2; writes++) {
            const struct rate *rate = &rates->by[by][writes];
            uint64_t period_ns = limit_period_ns((enum limit_by)by);
            uint64_t interval_ns = rate->per_s > 0 ? period_ns / rate->per_s : 0;
            struct limit_rule *rule = &limits->rules[by][writes];
            atomic_store_explicit(&rule->interval_ns, interval_ns, memory_order_relaxed);
            atomic_store_explicit(&rule->room_ns, interval_ns * rate->burst, memory_order_relaxed);
        }
    }
    atomic_store_explicit(&limits->dry_run, rates->dry_run, memory_order_relaxed);
    atomic_store_explicit(&limits->active, active, memory_order_release);
    return true;
}

static void lock(const struct limits *limits, struct limit_set *set)
{
    for (unsigned i = 0;
         limits->shared && atomic_exchange_explicit(&set->locked, true, memory_order_acquire);
         i++) {
        if (i >= SPINS)
            sched_yield(); /* the thread that holds the lock may not be running */
    }
}

static void unlock(struct limit_set *set)
{
    atomic_store_explicit(&set->locked, false, memory_order_release);
}

static uint64_t key_of(const struct limits *limits, enum limit_by by, bool writes, struct id who)
{
    return hash_3(who.lo ^ limits->seed[0], who.hi ^ limits->seed[1],
                  limits->seed[0] + limits->seed[1] + 2U * by + writes);
}

static struct limit_set *set_of(const struct limits *limits, uint64_t key)
{
    return &limits->sets[key >> 32 & (limits->set_count - 1)];
}

static uint32_t cell_key(uint64_t key)
{
    return (uint32_t)key != 0 ? (uint32_t)key : 1;
}

/*
 * A lock that is not in the CPU cache would delay everything after it, so the cache line is loaded
 * early.
 */
static void fetch_early(const struct limit_set *set)
{
    __builtin_prefetch(set, 1);
}

static unsigned first_empty(const struct limit_set *set)
{
    unsigned first = 0;
    for (unsigned i = 1; i < CELLS; i++)
        first = set->empty_ns[i] < set->empty_ns[first] ? i : first;
    return first;
}

/* The time at which the cell of this key will be empty. If the key has no cell, it gets one. */
static uint64_t *find_cell(struct limits *limits, struct limit_set *set, uint64_t key,
                           uint64_t now_ns)
{
    for (unsigned i = 0; i < CELLS; i++) {
        if (set->keys[i] == cell_key(key))
            return &set->empty_ns[i];
    }
    unsigned i = first_empty(set);
    if (set->keys[i] == 0)
        atomic_fetch_add_explicit(&limits->cells_used, 1, memory_order_relaxed);
    else if (set->empty_ns[i] > now_ns)
        atomic_fetch_add_explicit(&limits->cells_lost, 1, memory_order_relaxed);
    set->keys[i] = cell_key(key);
    set->empty_ns[i] = 0;
    return &set->empty_ns[i];
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/*
 * Takes up to *count operations, at least one, and sets *count to their number. Otherwise it returns
 * the time until one can be taken. A time that is more than one burst away comes from another rate
 * before a reload, or from a clock that jumped; it counts as one burst.
 */
static uint64_t take_some(struct limits *limits, const struct limit_rule *rule, uint64_t key,
                          uint64_t now_ns, uint32_t *count)
{
    uint64_t interval_ns = atomic_load_explicit(&rule->interval_ns, memory_order_relaxed);
    uint64_t room_ns = atomic_load_explicit(&rule->room_ns, memory_order_relaxed);
    struct limit_set *set = set_of(limits, key);
    lock(limits, set);
    uint64_t *empty_ns = find_cell(limits, set, key, now_ns);
    uint64_t full_ns = *empty_ns > now_ns ? least(*empty_ns - now_ns, room_ns) : 0;
    uint64_t taken_ns = least(*count * interval_ns, room_ns - full_ns);
    if (taken_ns < *count * interval_ns) {
        *count = (uint32_t)(taken_ns / interval_ns);
        taken_ns = *count * interval_ns;
    }
    *empty_ns = now_ns + full_ns + taken_ns;
    unlock(set);
    return *count > 0 ? 0 : full_ns + interval_ns - room_ns;
}

static void give_back(struct limits *limits, const struct limit_rule *rule, uint64_t key,
                      uint32_t count)
{
    ASSERT(count <= LEASED);
    uint64_t back_ns = count * atomic_load_explicit(&rule->interval_ns, memory_order_relaxed);
    struct limit_set *set = set_of(limits, key);
    lock(limits, set);
    for (unsigned i = 0; i < CELLS; i++) {
        if (set->keys[i] == cell_key(key) && set->empty_ns[i] >= back_ns)
            set->empty_ns[i] -= back_ns;
    }
    unlock(set);
}

static void return_lease(struct limits *limits, enum limit_by by, struct limit_lease *lease)
{
    if (lease->left > 0)
        give_back(limits, &limits->rules[by][lease->writes], lease->key, lease->left);
    lease->left = 0;
}

void limits_return(struct limits *limits, struct limit_lease *leases)
{
    for (unsigned by = 0; by < LIMIT_BY_TOTAL; by++)
        return_lease(limits, (enum limit_by)by, &leases[by]);
}

void limits_foresee(const struct limits *limits, struct id user, bool writes)
{
    fetch_early(set_of(limits, key_of(limits, LIMIT_BY_USER, writes, user)));
}

static bool is_leased(const struct limit_lease *lease, struct id who, bool writes)
{
    return lease->left > 0 && lease->writes == writes && id_equal(lease->who, who);
}

/* Requests of a connection often have different users, but always the same address and device. */
static uint64_t take_one(struct limits *limits, enum limit_by by, bool writes, struct id who,
                         uint64_t now_ns, struct limit_lease *lease)
{
    if (is_leased(lease, who, writes)) {
        lease->left--;
        return 0;
    }
    return_lease(limits, by, lease);
    uint32_t count = by == LIMIT_BY_USER || by == LIMIT_BY_COMMENT ? 1 : LEASED;
    uint64_t key = key_of(limits, by, writes, who);
    uint64_t wait_ns = take_some(limits, &limits->rules[by][writes], key, now_ns, &count);
    if (wait_ns == 0)
        *lease = (struct limit_lease){.who = who, .key = key, .left = count - 1, .writes = writes};
    return wait_ns;
}

uint64_t limits_take(struct limits *limits, uint32_t active, const struct limit_ask *ask,
                     bool writes, uint64_t now_ns, struct limit_lease *leases, enum limit_by *by)
{
    unsigned asked = (active >> (writes ? WRITES_SHIFT : 0)) & ask->known;
    for (unsigned i = 0; i < LIMIT_BY_TOTAL; i++) {
        if ((asked >> i & 1) == 0)
            continue;
        uint64_t wait_ns =
            take_one(limits, (enum limit_by)i, writes, ask->who[i], now_ns, &leases[i]);
        if (wait_ns == 0)
            continue;
        *by = (enum limit_by)i;
        while (i-- > 0)
            leases[i].left += asked >> i & 1;
        return wait_ns;
    }
    return 0;
}

bool limits_device(const struct limits *limits, struct text id, struct id *out)
{
    if (id.length == 0 || id.length > LIMIT_DEVICE_LENGTH)
        return false;
    for (size_t i = 0; i < id.length; i++) {
        if (id.bytes[i] <= ' ' || id.bytes[i] > '~')
            return false;
    }
    XXH128_hash_t hash = XXH3_128bits_withSeed(id.bytes, id.length, limits->seed[0]);
    *out = (struct id){.hi = hash.high64, .lo = hash.low64};
    return true;
}

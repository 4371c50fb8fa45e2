#include "cli/sizes.h"

#include <stdio.h>
#include <unistd.h>

#include "base/limits.h"
#include "cli/cgroup.h"

/* What memory may be pinned for a byte of journal, about. */
#define PINNED_FACTOR 3

/* What a process with a store has beside what is counted: code, RocksDB's own, malloc's slack. */
#define BESIDE_BYTES MIB(28)
#define BESIDE_PART  16

/* Memory for one event of a window: what it folds to, and the store's rows of it. */
#define WINDOW_EVENT_BYTES 512

#define READY_PART 64 /* at most one part in so many is taken ahead of use */

/* More than there ever is, and yet a sum of some, or with a position, stays within 64 bits. */
#define GIVEN_MOST (1ULL << 60)

static uint64_t within(uint64_t value, uint64_t least, uint64_t most)
{
    return value < least ? least : value > most ? most : value;
}

static uint64_t or_chosen(uint64_t given, uint64_t chosen)
{
    return given != 0 ? within(given, 0, GIVEN_MOST) : chosen;
}

bool sizes_suffice(const struct options *options, char *problem, size_t size)
{
    uint64_t memory = sizes_of(options).memory;
    if (options->store == OPTION_STORE_NONE || memory >= SIZES_STORE_MIN)
        return true;
    snprintf(problem, size,
             "--max-memory is %llu MiB, too little for a store, which takes at least %llu",
             (unsigned long long)(memory >> 20), (unsigned long long)(SIZES_STORE_MIN >> 20));
    return false;
}

uint64_t sizes_usual_memory(const char *cgroups, const char *mount)
{
    uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    return within(cgroup_memory(cgroups, mount), 0, machine) / 2;
}

struct sizes sizes_of(const struct options *options)
{
    uint64_t bound =
        or_chosen(options->max_memory, sizes_usual_memory("/proc/self/cgroup", "/sys/fs/cgroup"));
    uint64_t beside = options->store == OPTION_STORE_NONE ? 0 : BESIDE_BYTES + bound / BESIDE_PART;
    uint64_t memory = bound > beside ? bound - beside : 0;
    struct sizes sizes = {
        .memory = bound,
        .budget = memory,
        .connections = memory / 16,
        .ready = within(options->ready_memory, 0, memory / READY_PART),
        .block_cache = or_chosen(options->block_cache_bytes, within(memory / 8, MIB(2), GIB(1))),
        .write_buffer = within(memory / 8, MIB(4), MIB(256)),
        .trends = within(memory / 32, MIB(1), MIB(256)),
        .window_events = memory / 16 / WINDOW_EVENT_BYTES,
        .checkpoint_bytes =
            or_chosen(options->checkpoint_bytes, within(memory / 16, MIB(4), MIB(256))),
    };
    if (sizes.window_events > options->window_events)
        sizes.window_events = options->window_events;
    uint64_t taken = sizes.connections + sizes.block_cache + sizes.write_buffer + sizes.trends +
                     sizes.window_events * WINDOW_EVENT_BYTES;
    uint64_t left = memory > taken ? memory - taken : 0;
    sizes.lag_max_bytes =
        or_chosen(options->lag_max_bytes, within(left / 2 / PINNED_FACTOR, MIB(1), GIB(4)));
    sizes.lag_slow_bytes = sizes.lag_max_bytes / 2;
    return sizes;
}

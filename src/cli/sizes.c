#include "cli/sizes.h"

#include <stdio.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/slab.h"
#include "cli/cgroup.h"
#include "hot/memory/hot_memory.h"

/* About how much memory one byte of journal can keep from being evicted. */
#define PINNED_FACTOR 3

/*
 * The memory of the process that is not counted: code, the ring of the journal (twice, because it is
 * mapped twice), stacks of threads, unused memory of malloc, and with a store the memory of RocksDB
 * itself.
 */
#define BESIDE_BYTES       MIB(28)
#define BESIDE_PART        16
#define BESIDE_BYTES_ALONE MIB(26)
#define BESIDE_PART_ALONE  32

/* Memory for one event of a window: its net effect, and its rows in the store's buffer. */
#define WINDOW_EVENT_BYTES 512

/*
 * Without a store, everything that was accepted must fit again when the journal is replayed. Replay
 * makes the same changes, but the memory is not equally short at the same moments, so it may use cells
 * of other pages. Therefore some memory stays free while the server serves: two pages of each shard,
 * and 1/32 of the budget for cells that are divided differently.
 */
#define REPLAY_BYTES (2ULL * 2 * LIMIT_SHARDS * SLAB_PAGE_BYTES)
#define REPLAY_PART  32

#define READY_PART 32 /* at most 1/32 of the memory is allocated before it is used */

/* No machine has that much, and the sum of several, or with a position, still fits into 64 bits. */
#define GIVEN_MOST (1ULL << 60)

static uint64_t within(uint64_t value, uint64_t least, uint64_t most)
{
    return value < least ? least : value > most ? most : value;
}

static uint64_t or_chosen(uint64_t given, uint64_t chosen)
{
    return given != 0 ? within(given, 0, GIVEN_MOST) : chosen;
}

static bool has_limits(const struct options *options)
{
    return options->limit_ip_read.per_s > 0 || options->limit_ip_write.per_s > 0 ||
           options->limit_user_read.per_s > 0 || options->limit_user_write.per_s > 0 ||
           options->limit_device_read.per_s > 0 || options->limit_device_write.per_s > 0 ||
           options->limit_user_comment.per_s > 0;
}

/* The filters get what nobody else needs, but at least a little, which is enough without a hot tier. */
static void share_rest(struct sizes *sizes, uint64_t left)
{
    sizes->hot = hot_memory_least(sizes->budget) + sizes->tokens;
    uint64_t needed = sizes->hot + SIZES_FILTERS_MIN;
    sizes->missing = left < needed ? needed - left : 0;
    sizes->filters = left < needed ? SIZES_FILTERS_MIN : left - sizes->hot;
}

bool sizes_suffice(const struct options *options, bool serves, char *problem, size_t size)
{
    struct sizes sizes = sizes_of(options);
    bool alone = options->store == OPTION_STORE_NONE;
    uint64_t least = alone ? SIZES_ALONE_MIN : SIZES_STORE_MIN;
    if (sizes.memory < least)
        snprintf(problem, size,
                 "--max-memory is too little: it is %llu MiB, and a server %s a store needs at "
                 "least %llu MiB",
                 (unsigned long long)(sizes.memory >> 20), alone ? "without" : "with",
                 (unsigned long long)(least >> 20));
    else if (!alone && serves && sizes.missing > 0)
        snprintf(problem, size,
                 "--max-memory is %llu KiB too little: raise it, or lower --block-cache or "
                 "--limit-memory",
                 (unsigned long long)(sizes.missing >> 10) + 1);
    else
        return true;
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
    uint64_t beside = options->store == OPTION_STORE_NONE
                          ? BESIDE_BYTES_ALONE + bound / BESIDE_PART_ALONE
                          : BESIDE_BYTES + bound / BESIDE_PART;
    uint64_t memory = bound > beside ? bound - beside : 0;
    struct sizes sizes = {
        .memory = bound,
        .budget = memory,
        .connections = memory / 16,
        .ready = within(options->ready_memory, 0, memory / READY_PART),
        .block_cache = or_chosen(options->block_cache_bytes, within(memory / 8, MIB(2), GIB(1))),
        .write_buffer = within(memory / 8, MIB(4), MIB(256)),
        .trends = within(memory / 32, MIB(1), MIB(256)),
        .tokens = memory / 16,
        .heads = memory / 32,
        .window_events = memory / 16 / WINDOW_EVENT_BYTES,
        .checkpoint_bytes =
            or_chosen(options->checkpoint_bytes, within(memory / 16, MIB(4), MIB(256))),
    };
    if (options->store == OPTION_STORE_NONE)
        sizes.replay = REPLAY_BYTES + memory / REPLAY_PART;
    if (sizes.window_events > options->window_events)
        sizes.window_events = options->window_events;
    uint64_t taken = sizes.connections + sizes.block_cache + sizes.write_buffer + sizes.trends +
                     sizes.window_events * WINDOW_EVENT_BYTES;
    if (has_limits(options))
        taken += options->limit_memory;
    uint64_t left = memory > taken ? memory - taken : 0;
    share_rest(&sizes, left);
    sizes.lag_max_bytes =
        or_chosen(options->lag_max_bytes, within(left / 2 / PINNED_FACTOR, MIB(1), GIB(4)));
    sizes.lag_slow_bytes = sizes.lag_max_bytes / 2;
    return sizes;
}

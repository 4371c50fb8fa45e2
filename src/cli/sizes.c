#include "cli/sizes.h"

#include <unistd.h>

#include "base/limits.h"

/* What memory may be pinned for a byte of journal, about: a like of 32 bytes on a new item. */
#define PINNED_FACTOR 3

static uint64_t within(uint64_t value, uint64_t least, uint64_t most)
{
    return value < least ? least : value > most ? most : value;
}

static uint64_t or_chosen(uint64_t given, uint64_t chosen)
{
    return given != 0 ? given : chosen;
}

struct sizes sizes_of(const struct options *options)
{
    uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t memory = or_chosen(options->max_memory, machine / 2);
    uint64_t lag =
        or_chosen(options->lag_max_bytes, within(memory / 2 / PINNED_FACTOR, MIB(4), GIB(4)));
    uint64_t events = within(memory / KIB(1), 4096, options->window_events);
    return (struct sizes){
        .memory = memory,
        .connections = memory / 16,
        .block_cache = or_chosen(options->block_cache_bytes, within(memory / 8, MIB(2), GIB(1))),
        .write_buffer = within(memory / 8, MIB(4), MIB(256)),
        .window_events = events < options->window_events ? events : options->window_events,
        .checkpoint_bytes =
            or_chosen(options->checkpoint_bytes, within(memory / 16, MIB(4), MIB(256))),
        .lag_slow_bytes = lag / 2,
        .lag_max_bytes = lag,
    };
}

/*
 * How --max-memory is shared out, where an option does not say otherwise. Fixed shares are small, so
 * that most of it is left to the hot tier, which takes what is there.
 */
#ifndef LAUD_CLI_SIZES_H
#define LAUD_CLI_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/options.h"

struct sizes {
    uint64_t memory; /* the process's bound */
    uint64_t budget; /* of it what is counted: not code, nor what libraries keep for themselves */
    uint64_t connections;      /* of it kept for buffers: full of data, a server must still talk */
    uint64_t replay;           /* without a store: kept for the next start, see sizes.c */
    uint64_t ready;            /* of the hot tier, taken from the system at start */
    uint64_t block_cache;      /* of the store */
    uint64_t write_buffer;     /* of the store */
    uint64_t trends;           /* windowed boards, at most */
    uint64_t hot;              /* kept for the hot tier; most of the time it has more */
    uint64_t tokens;           /* of ADD, at most; of the hot tier's */
    uint64_t filters;          /* at most: all but the others' shares */
    uint64_t window_events;    /* carried to the store at a time */
    uint64_t checkpoint_bytes; /* of journal between checkpoints, so also replayed after a crash */
    uint64_t lag_slow_bytes;   /* of journal that the store may be behind */
    uint64_t lag_max_bytes;
    uint64_t missing; /* bytes of the budget that the hot tier would need, or the filters */
};

/* Less than this is too little for a store. */
#define SIZES_STORE_MIN MIB(64)

/* Likewise for a server without one. */
#define SIZES_ALONE_MIN MIB(48)

/* Less than this is too little for the filters. */
#define SIZES_FILTERS_MIN MIB(1)

/* The bound where none is given: half of what the machine has, or the cgroup may (cli/cgroup.h). */
uint64_t sizes_usual_memory(const char *cgroups, const char *mount);

struct sizes sizes_of(const struct options *options);

/* False, and a sentence: with these options there can be no server. */
bool sizes_suffice(const struct options *options, bool serves, char *problem, size_t size);

#endif

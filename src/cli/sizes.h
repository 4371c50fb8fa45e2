/*
 * How --max-memory is divided, as far as no option says it. Fixed shares are small, so that most of
 * the memory remains for the hot tier, which uses whatever is there.
 */
#ifndef LAUD_CLI_SIZES_H
#define LAUD_CLI_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/options.h"

struct sizes {
    uint64_t memory;      /* the limit of the process */
    uint64_t budget;      /* the share that is counted: without code and memory of libraries */
    uint64_t connections; /* reserved for buffers, so that a server that is full can still answer */
    uint64_t replay;      /* without a store: reserved for the next start, see sizes.c */
    uint64_t ready;       /* memory of the hot tier that is allocated at the start */
    uint64_t block_cache; /* of the store */
    uint64_t write_buffer;  /* of the store */
    uint64_t trends;        /* windowed boards, at most */
    uint64_t hot;           /* reserved for the hot tier; most of the time it has more */
    uint64_t tokens;        /* idempotency tokens of ADD, at most; a share of `hot` */
    uint64_t heads;         /* heads of comments, at most; they go when others need the memory */
    uint64_t filters;       /* at most: everything except the other shares */
    uint64_t window_events; /* how many events the projector writes to the store in one window */
    uint64_t
        checkpoint_bytes; /* bytes of journal between checkpoints, and so replayed after a crash */
    uint64_t lag_slow_bytes; /* the lag above which writes are slowed down, in bytes of journal */
    uint64_t lag_max_bytes;  /* the lag above which writes are refused */
    uint64_t missing;        /* bytes that the budget lacks for the hot tier or the filters */
};

/* The least memory for a server with a store. */
#define SIZES_STORE_MIN MIB(64)

/* The least memory for a server without a store. */
#define SIZES_ALONE_MIN MIB(48)

/* The least memory for the filters. */
#define SIZES_FILTERS_MIN MIB(1)

/*
 * The default of --max-memory: half of what the machine has, or of what its cgroup allows
 * (cli/cgroup.h).
 */
uint64_t sizes_usual_memory(const char *cgroups, const char *mount);

struct sizes sizes_of(const struct options *options);

/* False: with these options there is too little memory, and `problem` is a sentence. */
bool sizes_suffice(const struct options *options, bool serves, char *problem, size_t size);

#endif

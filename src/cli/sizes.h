/*
 * How --max-memory is shared out, where an option does not say otherwise. Fixed shares are small, so
 * that most of it is left to the hot tier, which takes what is there.
 */
#ifndef LAUD_CLI_SIZES_H
#define LAUD_CLI_SIZES_H

#include <stdint.h>

#include "base/options.h"

struct sizes {
    uint64_t memory;           /* all of it */
    uint64_t connections;      /* of it kept for buffers: full of data, a server must still talk */
    uint64_t block_cache;      /* of the store */
    uint64_t write_buffer;     /* of the store */
    uint64_t window_events;    /* carried to the store at a time */
    uint64_t checkpoint_bytes; /* of journal between checkpoints, so also replayed after a crash */
    uint64_t lag_slow_bytes;   /* of journal that the store may be behind */
    uint64_t lag_max_bytes;
};

struct sizes sizes_of(const struct options *options);

#endif

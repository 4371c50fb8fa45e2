/*
 * The random numbers of a benchmark: the multiply-and-fold hash of a counter. They are fast, the same for
 * the same seed, and not secret. Each thread has its own generator.
 */
#ifndef LAUD_BENCH_RANDOM_H
#define LAUD_BENCH_RANDOM_H

#include <stdint.h>

#include "base/hash.h"

struct random {
    uint64_t state;
};

static inline uint64_t random_next(struct random *random)
{
    random->state += 0xa0761d6478bd642fULL;
    return hash_mix(random->state, random->state ^ 0xe7037ed1a0b428dbULL);
}

/* Uniform in 0 … span-1; span above 0. The bias is below span / 2^64. */
static inline uint64_t random_below(struct random *random, uint64_t span)
{
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)(((wide)random_next(random) * span) >> 64);
}

/* Uniform in [0, 1). */
static inline double random_unit(struct random *random)
{
    return (double)(random_next(random) >> 11) * 0x1p-53;
}

#endif

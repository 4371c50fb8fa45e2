/*
 * Seeded randomness for tests. The seed comes from LAUD_SEED, or from the clock, and is printed, so
 * that a failure can be had again.
 */
#ifndef LAUD_CHANCE_H
#define LAUD_CHANCE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/hash.h"

/*
 * Sanitizers are several times slower. Where a test shows the more the longer it runs, they see one
 * part of so many, and the build without them all of it.
 */
#if defined(__SANITIZE_THREAD__)
enum { SANITIZED_PART = 10 };
#elif defined(__SANITIZE_ADDRESS__)
enum { SANITIZED_PART = 5 };
#else
enum { SANITIZED_PART = 1 };
#endif

struct chance {
    uint64_t state;
};

static inline uint64_t chance_next(struct chance *chance)
{
    chance->state += 0x9e3779b97f4a7c15ULL;
    return hash_mix(chance->state, chance->state >> 32);
}

static inline uint32_t chance_below(struct chance *chance, uint32_t end)
{
    return (uint32_t)((chance_next(chance) >> 32) * end >> 32);
}

static inline uint64_t test_seed(void)
{
    const char *text = getenv("LAUD_SEED");
    uint64_t seed = text != NULL ? strtoull(text, NULL, 10)
                                 : hash_mix(clock_wall_ms(), clock_monotonic_ns()) >> 32;
    print_message("LAUD_SEED=%llu\n", (unsigned long long)seed);
    return seed;
}

#endif

/*
 * A histogram of latencies in nanoseconds with logarithmic buckets: 128 for each power of two, so that the
 * error of a value is at most 0.4 %, from 1 ns to centuries, in 58 KiB. Each thread has its own; they are
 * merged at the end.
 */
#ifndef LAUD_BENCH_HISTOGRAM_H
#define LAUD_BENCH_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_BITS    7 /* how many bits of a value are kept after its highest bit */
#define HISTOGRAM_BUCKETS ((64 - HISTOGRAM_BITS + 1) << HISTOGRAM_BITS)

struct histogram {
    uint64_t count;
    uint64_t sum;
    uint64_t max;
    uint64_t buckets[HISTOGRAM_BUCKETS];
};

static inline uint32_t histogram_bucket(uint64_t value)
{
    if (value < (1u << HISTOGRAM_BITS))
        return (uint32_t)value;
    uint32_t shift = 63u - (uint32_t)__builtin_clzll(value) - HISTOGRAM_BITS;
    return (shift << HISTOGRAM_BITS) + (uint32_t)(value >> shift);
}

static inline void histogram_add(struct histogram *histogram, uint64_t value)
{
    histogram->count++;
    histogram->sum += value;
    if (value > histogram->max)
        histogram->max = value;
    histogram->buckets[histogram_bucket(value)]++;
}

void histogram_merge(struct histogram *into, const struct histogram *from);

/* The value that is not exceeded by the fraction `quantile` (0 … 1) of all values; 0 if there are none. */
uint64_t histogram_quantile(const struct histogram *histogram, double quantile);

double histogram_mean(const struct histogram *histogram);

#endif

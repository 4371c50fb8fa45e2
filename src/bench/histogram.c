#include "bench/histogram.h"

#include <math.h>

#include "base/assert.h"

void histogram_merge(struct histogram *into, const struct histogram *from)
{
    into->count += from->count;
    into->sum += from->sum;
    if (from->max > into->max)
        into->max = from->max;
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        into->buckets[i] += from->buckets[i];
}

/* The middle of a bucket: half a bucket's width is the largest error. */
static uint64_t bucket_middle(uint32_t bucket)
{
    if (bucket < (2u << HISTOGRAM_BITS))
        return bucket;
    uint32_t shift = (bucket >> HISTOGRAM_BITS) - 1;
    uint64_t low = (uint64_t)(bucket - (shift << HISTOGRAM_BITS)) << shift;
    return low + ((uint64_t)1 << shift) / 2;
}

uint64_t histogram_quantile(const struct histogram *histogram, double quantile)
{
    ASSERT(quantile >= 0 && quantile <= 1);
    if (histogram->count == 0)
        return 0;
    uint64_t wanted = (uint64_t)ceil(quantile * (double)histogram->count);
    if (wanted == 0)
        wanted = 1;
    if (wanted >= histogram->count)
        return histogram->max;
    uint64_t seen = 0;
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        seen += histogram->buckets[i];
        if (seen >= wanted) {
            uint64_t middle = bucket_middle(i);
            return middle < histogram->max ? middle : histogram->max;
        }
    }
    return histogram->max;
}

double histogram_mean(const struct histogram *histogram)
{
    return histogram->count == 0 ? 0 : (double)histogram->sum / (double)histogram->count;
}

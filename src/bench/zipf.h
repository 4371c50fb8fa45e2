/*
 * Zipf-distributed draws in constant time and memory: rank k of n comes with a probability
 * proportional to 1 / k^theta. The method is at the top of zipf.c.
 */
#ifndef LAUD_BENCH_ZIPF_H
#define LAUD_BENCH_ZIPF_H

#include <stdint.h>

#include "bench/random.h"

struct zipf {
    uint64_t count;
    double theta;
    double area_first; /* H(1.5) - h(1): where the first rank's bar begins */
    double area_last;  /* H(count + 0.5) */
    double squeeze;    /* within it of its rank, a point needs no second look */
};

/* count at least 1, theta above 0. */
void zipf_init(struct zipf *zipf, uint64_t count, double theta);

/* A rank counted from 0: 0 is the most drawn. */
uint64_t zipf_draw(const struct zipf *zipf, struct random *random);

#endif

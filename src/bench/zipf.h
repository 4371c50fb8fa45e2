/*
 * Zipf-distributed random numbers in constant time and memory: rank k of n has a probability that is
 * proportional to 1 / k^theta. zipf.c describes the method.
 */
#ifndef LAUD_BENCH_ZIPF_H
#define LAUD_BENCH_ZIPF_H

#include <stdint.h>

#include "bench/random.h"

struct zipf {
    uint64_t count;
    double theta;
    double area_first; /* H(1.5) - h(1): where the bar of the first rank begins */
    double area_last;  /* H(count + 0.5) */
    double squeeze;    /* a point that is at most this far from its rank is accepted at once */
};

/* `count` is at least 1 and theta is above 0. */
void zipf_init(struct zipf *zipf, uint64_t count, double theta);

/* Draws a rank, counted from 0: 0 is the most frequent. */
uint64_t zipf_draw(const struct zipf *zipf, struct random *random);

#endif

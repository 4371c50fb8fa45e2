/*
 * Rejection-inversion (Hörmann and Derflinger, "Rejection-inversion to generate variates from
 * monotone discrete distributions", 1996).
 *
 * With h(x) = x^-theta, its integral is
 *
 *     H(x) = (x^(1-theta) - 1) / (1-theta)        ln x            for theta = 1
 *     H'(y) = (1 + y (1-theta))^(1/(1-theta))     e^y             its inverse
 *
 * Draw y uniformly between H(1.5) - h(1) and H(n + 0.5), let x = H'(y) and k the whole number
 * nearest to x. The bar of rank k is h(k) wide and lies at the upper end of the stretch
 * H(k-0.5) … H(k+0.5), which is at least as wide because h is convex: so k is taken if
 * y >= H(k+0.5) - h(k), and drawn again otherwise. Every rank is thus taken with a probability
 * exactly proportional to h(k). The squeeze s = 2 - H'(H(2.5) - h(2)) accepts most points by
 * k - x <= s alone. Fewer than 1.2 draws are needed on average, whatever n and theta are: no
 * table and no sum over n, which for a hundred million items would take longer than the run.
 */
#include "bench/zipf.h"

#include <math.h>

#include "base/assert.h"

static double zipf_area(double theta, double x)
{
    double log_x = log(x);
    double power = (1 - theta) * log_x;
    return fabs(power) < 1e-12 ? log_x : expm1(power) / (1 - theta);
}

static double zipf_area_inverse(double theta, double y)
{
    double t = y * (1 - theta);
    if (t <= -1)
        t = -1 + 1e-16;
    return fabs(t) < 1e-12 ? exp(y) : exp(log1p(t) / (1 - theta));
}

static double zipf_height(double theta, double x)
{
    return exp(-theta * log(x));
}

void zipf_init(struct zipf *zipf, uint64_t count, double theta)
{
    ASSERT(count >= 1 && theta > 0);
    zipf->count = count;
    zipf->theta = theta;
    zipf->area_first = zipf_area(theta, 1.5) - 1;
    zipf->area_last = zipf_area(theta, (double)count + 0.5);
    zipf->squeeze = 2 - zipf_area_inverse(theta, zipf_area(theta, 2.5) - zipf_height(theta, 2));
}

uint64_t zipf_draw(const struct zipf *zipf, struct random *random)
{
    for (;;) {
        double y = zipf->area_last + random_unit(random) * (zipf->area_first - zipf->area_last);
        double x = zipf_area_inverse(zipf->theta, y);
        double rank = floor(x + 0.5);
        if (!(rank >= 1))
            rank = 1;
        if (rank > (double)zipf->count)
            rank = (double)zipf->count;
        if (rank - x <= zipf->squeeze ||
            y >= zipf_area(zipf->theta, rank + 0.5) - zipf_height(zipf->theta, rank)) {
            uint64_t drawn = (uint64_t)rank - 1;
            return drawn < zipf->count ? drawn : zipf->count - 1;
        }
    }
}

/*
 * A hot tier for tests, which wraps another one: hot_try runs nothing, so every batch is submitted,
 * and what was submitted is done zero to three turns of its loop later than by the inner tier. The
 * delays are drawn at random from a seed, so submissions of different connections overtake each other.
 * Each delay is divided into turns before the inner tier gets the submission and turns after it was
 * answered. A tier that asks another server from the loop's own thread behaves in this way.
 *
 * A turn is one mailbox_drain of the loop that submitted. The tier has no thread of its own and knows no
 * more of the loop than its mailbox (hot/submission.h). The n-th submission of a tier has the same
 * delays for the same seed.
 *
 * All that is not submitted goes to the inner tier at once. The inner tier is the caller's: hot_stop
 * stops it, but hot_close frees only the wrapper, and has to be called before the inner tier is closed.
 *
 * It is compiled only with fault injection (-Dfaults=true). `laud serve` uses it if LAUD_HOT_DELAYED has
 * a seed.
 */
#ifndef LAUD_HOT_DELAYED_HOT_DELAYED_H
#define LAUD_HOT_DELAYED_HOT_DELAYED_H

#include <stdint.h>

#include "hot/hot.h"

#define HOT_DELAYED_TURNS 3 /* the longest delay */

/* NULL: no memory. */
struct hot *hot_delayed_open(struct hot *inner, uint64_t seed);

#endif

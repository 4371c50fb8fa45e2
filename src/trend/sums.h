/*
 * Sums by id: a flat array of rows in order of first mention, and while it is added to an index by
 * hash beside it. Sums are taken modulo 2^64, so a total is right whenever the total itself fits 64
 * signed bits, whatever its parts were.
 *
 * All zero is an empty one. Owned and changed by one thread at a time.
 */
#ifndef LAUD_TREND_SUMS_H
#define LAUD_TREND_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ranked.h"
#include "trend/space.h"

struct sums {
    struct ranked *rows;
    uint32_t *slots; /* twice the capacity: number of the row + 1; NULL: no index */
    uint32_t used;
    uint32_t capacity; /* a power of two while there is an index */
};

/*
 * How far sums may be off for what was let go: the truth is at most `under` more, and at most `over`
 * less, than what is kept of any id, which is 0 if nothing is.
 */
struct sums_loss {
    uint64_t under;
    uint64_t over;
};

/* Room for so many rows, with an index. False: no memory, and nothing has changed. */
bool sums_reserve(struct sums *sums, struct trend_space *space, uint32_t rows);
/* False: it has `most` rows or there is no memory for one more, and nothing was added. */
bool sums_add(struct sums *sums, struct trend_space *space, uint32_t most, struct id id,
              int64_t delta);
/* Keeps the better half: what is 0 goes first, then the lowest. */
void sums_prune(struct sums *sums, struct trend_space *space, struct sums_loss *loss);
/* Nothing will be added any more: takes no more memory than its rows. */
void sums_close(struct sums *sums, struct trend_space *space);
void sums_free(struct sums *sums, struct trend_space *space);

void sums_loss_add(struct sums_loss *loss, struct sums_loss more);

/* Brings the `keep` first ones, in the order of ranked.h, to the front; in no order there. */
void sums_select(struct ranked *rows, size_t count, size_t keep, uint64_t seed);

#endif

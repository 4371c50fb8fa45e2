/*
 * Sums by id: a flat array of rows in the order in which ids first occurred, and a hash index while
 * rows are added. Sums are computed modulo 2^64, so a total is correct whenever the total itself
 * fits in 64 signed bits, even if intermediate sums do not.
 *
 * A struct of zeros is empty. One thread at a time owns and changes it.
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
    uint32_t *slots; /* twice the capacity; each has row number + 1; NULL: no index */
    uint32_t used;
    uint32_t capacity; /* a power of two while there is an index */
};

/*
 * The error bound after rows were dropped: for any id, the true sum is at most `under` more and at
 * most `over` less than the sum that is kept, or than 0 if none is kept.
 */
struct sums_loss {
    uint64_t under;
    uint64_t over;
};

/* Makes room for `rows` rows with an index. False: there is no memory, and nothing has changed. */
bool sums_reserve(struct sums *sums, struct trend_space *space, uint32_t rows);
/*
 * Adds to the sum of an id. False: there are `most` rows already or there is no memory for one
 * more, and nothing was added.
 */
bool sums_add(struct sums *sums, struct trend_space *space, uint32_t most, struct id id,
              int64_t delta);
/* Drops half of the rows: those with sum 0 first, then the lowest. */
void sums_prune(struct sums *sums, struct trend_space *space, struct sums_loss *loss);
/* Nothing will be added any more: reduces the memory to that of the rows. */
void sums_close(struct sums *sums, struct trend_space *space);
void sums_free(struct sums *sums, struct trend_space *space);

void sums_loss_add(struct sums_loss *loss, struct sums_loss more);

/* Brings the first `keep` rows in the order of ranked.h to the front, in no particular order. */
void sums_select(struct ranked *rows, size_t count, size_t keep, uint64_t seed);

#endif

/*
 * Why half of the rows are dropped at once: the cost of one pass over all rows is shared by as many
 * additions as it makes room for. Why there are two error bounds: an id that occurs again after it
 * was dropped is counted from 0, which is too low if its sum was positive and too high if it was
 * negative.
 */
#include "trend/sums.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

#define ROWS_MIN 16
#define ROWS_MAX (1U << 28)

static size_t sums_bytes(const struct sums *sums)
{
    size_t index = sums->slots != NULL ? 2 * sizeof(*sums->slots) : 0;
    return sums->capacity * (sizeof(*sums->rows) + index);
}

/* The slot of an id: that of its row, or the empty slot where it belongs. */
static uint32_t *slot_of(const struct sums *sums, struct id id, uint64_t seed)
{
    uint32_t mask = sums->capacity * 2 - 1;
    for (uint32_t at = (uint32_t)id_hash(id, seed) & mask;; at = (at + 1) & mask) {
        uint32_t *slot = &sums->slots[at];
        if (*slot == 0 || id_equal(sums->rows[*slot - 1].id, id))
            return slot;
    }
}

static void sums_index(struct sums *sums, uint64_t seed)
{
    ASSERT(sums->slots != NULL && sums->used <= sums->capacity);
    memset(sums->slots, 0, 2 * (size_t)sums->capacity * sizeof(*sums->slots));
    for (uint32_t i = 0; i < sums->used; i++)
        *slot_of(sums, sums->rows[i].id, seed) = i + 1;
}

static bool sums_grow(struct sums *sums, struct trend_space *space, uint32_t capacity)
{
    ASSERT(capacity > sums->capacity && capacity <= ROWS_MAX);
    ASSERT((capacity & (capacity - 1)) == 0); /* slots are masked */
    size_t bytes = capacity * (sizeof(*sums->rows) + 2 * sizeof(*sums->slots));
    size_t before = sums_bytes(sums);
    if (!space_take(space, bytes))
        return false;
    struct ranked *rows = realloc(sums->rows, capacity * sizeof(*rows));
    if (rows != NULL)
        sums->rows = rows;
    uint32_t *slots = malloc(2 * (size_t)capacity * sizeof(*slots));
    if (rows == NULL || slots == NULL) {
        free(slots);
        space_give(space, bytes);
        return false;
    }
    free(sums->slots);
    sums->slots = slots;
    sums->capacity = capacity;
    space_give(space, before);
    sums_index(sums, space->seed);
    return true;
}

bool sums_reserve(struct sums *sums, struct trend_space *space, uint32_t rows)
{
    uint32_t capacity = ROWS_MIN;
    while (capacity < rows && capacity < ROWS_MAX)
        capacity *= 2;
    return rows <= capacity && (sums->capacity >= capacity || sums_grow(sums, space, capacity));
}

bool sums_add(struct sums *sums, struct trend_space *space, uint32_t most, struct id id,
              int64_t delta)
{
    if (sums->capacity == 0 && !sums_grow(sums, space, ROWS_MIN))
        return false;
    ASSERT(sums->slots != NULL); /* a closed slice has no index, and nothing is added to it */
    uint32_t *slot = slot_of(sums, id, space->seed);
    if (*slot != 0) {
        struct ranked *row = &sums->rows[*slot - 1];
        row->value = (int64_t)((uint64_t)row->value + (uint64_t)delta);
        return true;
    }
    if (sums->used >= most)
        return false;
    if (sums->used == sums->capacity) {
        if (sums->capacity >= ROWS_MAX || !sums_grow(sums, space, sums->capacity * 2))
            return false;
        slot = slot_of(sums, id, space->seed);
    }
    sums->rows[sums->used++] = (struct ranked){.id = id, .value = delta};
    *slot = sums->used;
    return true;
}

static void rows_swap(struct ranked *a, struct ranked *b)
{
    struct ranked kept = *a;
    *a = *b;
    *b = kept;
}

void sums_select(struct ranked *rows, size_t count, size_t keep, uint64_t seed)
{
    ASSERT(keep <= count);
    size_t first = 0;
    size_t past = count;
    while (first < keep && keep < past) {
        seed = hash_mix(seed, past);
        rows_swap(&rows[first], &rows[first + seed % (past - first)]);
        /* Rows before this index precede the pivot, which is the first row. */
        size_t up = first + 1;
        size_t down = past; /* rows from this index on follow the pivot */
        while (up < down) {
            if (ranked_order(rows[up], rows[first]) < 0)
                up++;
            else
                rows_swap(&rows[up], &rows[--down]);
        }
        rows_swap(&rows[first], &rows[up - 1]);
        if (keep < up)
            past = up - 1;
        else
            first = up;
    }
}

static uint64_t sum_saturated(uint64_t a, uint64_t b)
{
    return a + b < a ? UINT64_MAX : a + b;
}

void sums_loss_add(struct sums_loss *loss, struct sums_loss more)
{
    loss->under = sum_saturated(loss->under, more.under);
    loss->over = sum_saturated(loss->over, more.over);
}

/* The highest and the lowest sum of the dropped rows. */
static struct sums_loss loss_of(const struct ranked *rows, size_t count)
{
    struct sums_loss loss = {0};
    for (size_t i = 0; i < count; i++) {
        int64_t value = rows[i].value;
        uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
        uint64_t *bound = value < 0 ? &loss.over : &loss.under;
        *bound = size > *bound ? size : *bound;
    }
    return loss;
}

void sums_prune(struct sums *sums, struct trend_space *space, struct sums_loss *loss)
{
    uint32_t keep = sums->used / 2;
    uint32_t some = 0;
    for (uint32_t i = 0; i < sums->used; i++)
        if (sums->rows[i].value != 0)
            rows_swap(&sums->rows[some++], &sums->rows[i]);
    if (some > keep) {
        sums_select(sums->rows, some, keep, space->seed);
        sums_loss_add(loss, loss_of(sums->rows + keep, some - keep));
        some = keep;
    }
    ASSERT(some <= keep);
    sums->used = some;
    if (sums->slots != NULL)
        sums_index(sums, space->seed);
}

void sums_close(struct sums *sums, struct trend_space *space)
{
    ASSERT(sums->capacity > 0);
    size_t before = sums_bytes(sums);
    uint32_t capacity = sums->used > 0 ? sums->used : 1;
    ASSERT(capacity <= sums->capacity);
    free(sums->slots);
    sums->slots = NULL;
    struct ranked *rows = realloc(sums->rows, capacity * sizeof(*rows));
    if (rows != NULL) {
        sums->rows = rows;
        sums->capacity = capacity;
    }
    space_give(space, before - sums_bytes(sums));
}

void sums_free(struct sums *sums, struct trend_space *space)
{
    space_give(space, sums_bytes(sums));
    free(sums->rows);
    free(sums->slots);
    *sums = (struct sums){0};
}

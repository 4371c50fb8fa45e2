/*
 * After trend_board_turn only slices of that time are open, at most one on each level; all others
 * are closed, and their sums are also in the level above. So for a window of one level, the open
 * slices of the levels below have exactly what its own slices do not have yet.
 */
#include "trend/board.h"

#include <stdlib.h>

#include "base/assert.h"

#define HALVE_MIN 64 /* smallest number of rows for which halving a slice is worthwhile */

static const struct {
    uint32_t slice_s;
    uint32_t slices;
} levels[TREND_LEVELS] = {{TREND_SLICE_S, 12}, {3600, 24}, {86400, 7}};

uint32_t trend_board_slice_s(int level)
{
    ASSERT(level >= 0 && level < TREND_LEVELS);
    return levels[level].slice_s;
}

uint32_t trend_board_slices(int level)
{
    ASSERT(level >= 0 && level < TREND_LEVELS);
    return levels[level].slices;
}

struct trend_board *trend_board_new(struct trend_space *space, uint16_t type, uint8_t name)
{
    ASSERT(type < LIMIT_TYPES && name < LIMIT_NAMES);
    if (!space_take(space, sizeof(struct trend_board)))
        return NULL;
    struct trend_board *board = calloc(1, sizeof(*board));
    if (board == NULL) {
        space_give(space, sizeof(*board));
        return NULL;
    }
    board->type = type;
    board->name = name;
    pthread_mutex_init(&board->asking, NULL);
    return board;
}

static void slices_free(struct slice *slice, struct trend_space *space)
{
    while (slice != NULL) {
        struct slice *older = slice->older;
        sums_free(&slice->sums, space);
        space_give(space, sizeof(*slice));
        free(slice);
        slice = older;
    }
}

void trend_board_free(struct trend_board *board, struct trend_space *space)
{
    for (int level = 0; level < TREND_LEVELS; level++) {
        slices_free(board->slices[level], space);
        memory_release(&space->answers, board->answers[level].count * sizeof(struct ranked));
        free(board->answers[level].rows);
    }
    pthread_mutex_destroy(&board->asking);
    space_give(space, sizeof(*board));
    free(board);
}

bool trend_board_is_empty(const struct trend_board *board)
{
    return board->slices[0] == NULL && board->slices[1] == NULL && board->slices[2] == NULL;
}

/* Makes a slice with room for some items, so that one can always be added. */
static struct slice *slice_new(struct trend_space *space, uint32_t number)
{
    if (!space_take(space, sizeof(struct slice)))
        return NULL;
    struct slice *slice = calloc(1, sizeof(*slice));
    if (slice != NULL && sums_reserve(&slice->sums, space, 1)) {
        slice->number = number;
        return slice;
    }
    space_give(space, sizeof(*slice));
    free(slice);
    return NULL;
}

/* Drops half of the rows of the largest closed slice. */
static void board_halve(struct trend_board *board, struct trend_space *space)
{
    struct slice *largest = NULL;
    for (int level = 0; level < TREND_LEVELS; level++)
        for (struct slice *slice = board->slices[level]; slice != NULL; slice = slice->older)
            if (slice->closed && slice->sums.used >= HALVE_MIN &&
                (largest == NULL || slice->sums.used > largest->sums.used))
                largest = slice;
    if (largest == NULL)
        return;
    ASSERT(largest->closed); /* rows are still added to an open slice */
    sums_prune(&largest->sums, space, &largest->loss);
    sums_close(&largest->sums, space);
    space->pruned++;
}

/* Finds or makes the slice with this number, the newest of its level. NULL: there is no memory. */
static struct slice *board_open(struct trend_board *board, struct trend_space *space, int level,
                                uint32_t number)
{
    struct slice *newest = board->slices[level];
    if (newest != NULL && newest->number == number)
        return newest;
    ASSERT(newest == NULL || newest->number < number);
    struct slice *slice = slice_new(space, number);
    if (slice == NULL) {
        board_halve(board, space);
        slice = slice_new(space, number);
    }
    if (slice == NULL)
        return NULL;
    slice->older = newest;
    board->slices[level] = slice;
    return slice;
}

struct slice *trend_board_append(struct trend_board *board, struct trend_space *space, int level,
                                 uint32_t number)
{
    ASSERT(level >= 0 && level < TREND_LEVELS);
    struct slice *slice = slice_new(space, number);
    struct slice **end = &board->slices[level];
    while (*end != NULL)
        end = &(*end)->older;
    *end = slice;
    return slice;
}

void slice_add(struct slice *slice, struct trend_space *space, struct id id, int64_t delta)
{
    ASSERT(!slice->closed);
    if (sums_add(&slice->sums, space, space->items_max, id, delta))
        return;
    sums_prune(&slice->sums, space, &slice->loss);
    space->pruned++;
    bool added = sums_add(&slice->sums, space, space->items_max, id, delta);
    ASSERT(added);
}

void trend_board_add(struct trend_board *board, struct trend_space *space, uint32_t time_s,
                     struct id id, int64_t delta)
{
    struct slice *slice = board_open(board, space, 0, time_s / TREND_SLICE_S);
    board->changes++;
    if (slice != NULL) {
        slice_add(slice, space, id, delta);
    } else {
        board->since_s = time_s;
        space->lost++;
    }
}

/* Adds the sums of a slice to the level above. */
static void board_carry(struct trend_board *board, struct trend_space *space, int level,
                        uint32_t time_s)
{
    ASSERT(level + 1 < TREND_LEVELS && board->slices[level] != NULL);
    const struct slice *slice = board->slices[level];
    uint32_t ratio = levels[level + 1].slice_s / levels[level].slice_s;
    struct slice *above = board_open(board, space, level + 1, slice->number / ratio);
    if (above == NULL) {
        board->since_s = time_s;
        space->lost += slice->sums.used;
        return;
    }
    for (uint32_t i = 0; i < slice->sums.used; i++)
        slice_add(above, space, slice->sums.rows[i].id, slice->sums.rows[i].value);
    sums_loss_add(&above->loss, slice->loss);
}

static void board_expire(struct trend_board *board, struct trend_space *space, int level,
                         uint32_t now)
{
    struct slice **at = &board->slices[level];
    ASSERT(*at == NULL || (*at)->number <= now); /* no slice is in the future */
    while (*at != NULL && now - (*at)->number < levels[level].slices)
        at = &(*at)->older;
    slices_free(*at, space);
    *at = NULL;
}

void trend_board_turn(struct trend_board *board, struct trend_space *space, uint32_t time_s)
{
    board->changes++;
    for (int level = 0; level < TREND_LEVELS; level++) {
        uint32_t now = time_s / levels[level].slice_s;
        struct slice *newest = board->slices[level];
        ASSERT(newest == NULL || newest->number <= now);
        if (newest != NULL && !newest->closed && newest->number < now) {
            if (level + 1 < TREND_LEVELS)
                board_carry(board, space, level, time_s);
            newest->closed = true;
            sums_close(&newest->sums, space);
        }
        board_expire(board, space, level, now);
    }
}

void trend_board_visit(const struct trend_board *board, int level, uint32_t now_s,
                       trend_board_visit_fn *visit, void *context)
{
    ASSERT(level >= 0 && level < TREND_LEVELS);
    uint32_t now = now_s / levels[level].slice_s;
    for (int below = 0; below <= level; below++) {
        uint32_t ratio = levels[level].slice_s / levels[below].slice_s;
        for (const struct slice *slice = board->slices[below]; slice != NULL; slice = slice->older)
            if ((below == level || !slice->closed) &&
                now - slice->number / ratio < levels[level].slices)
                visit(context, slice);
    }
}

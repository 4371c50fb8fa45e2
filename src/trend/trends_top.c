/*
 * A question costs one pass over the slices of a window. The answer is stored, so the next question
 * costs nothing until the board changes or the present slice is over. While an answer is computed,
 * threads that ask for the same board wait for it, and threads that ask for another board wait
 * until they may compute, because that takes memory.
 */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "trend/trends_priv.h"

static void count_rows(void *context, const struct slice *slice)
{
    *(uint32_t *)context += slice->sums.used;
}

struct addition {
    struct trend_space *space;
    struct sums sums;
};

static void add_rows(void *context, const struct slice *slice)
{
    struct addition *addition = context;
    for (uint32_t i = 0; i < slice->sums.used; i++) {
        const struct ranked *row = &slice->sums.rows[i];
        bool added = sums_add(&addition->sums, addition->space, UINT32_MAX, row->id, row->value);
        ASSERT(added); /* there is room for all of them already */
    }
}

static int compare_ranked(const void *a, const void *b)
{
    return ranked_order(*(const struct ranked *)a, *(const struct ranked *)b);
}

/* Puts the best of the positive sums to the front, in order. Returns how many. */
static uint32_t rank(struct sums *sums, uint64_t seed)
{
    uint32_t risen = 0;
    for (uint32_t i = 0; i < sums->used; i++)
        if (sums->rows[i].value > 0)
            sums->rows[risen++] = sums->rows[i];
    uint32_t best = risen < LIMIT_TREND_TOP ? risen : LIMIT_TREND_TOP;
    ASSERT(best <= risen && risen <= sums->used);
    sums_select(sums->rows, risen, best, seed);
    if (best > 0)
        qsort(sums->rows, best, sizeof *sums->rows, compare_ranked);
    return best;
}

/* Computes the answer again. Without memory for it there is no stored answer. */
static void answer_keep(struct trends *trends, struct answer *answer, const struct sums *sums,
                        uint32_t count)
{
    struct trend_space *space = &trends->space;
    size_t bytes = count * sizeof(*answer->rows);
    memory_release(&space->answers, answer->count * sizeof(*answer->rows));
    free(answer->rows);
    *answer = (struct answer){0};
    if (!memory_charge(&space->answers, bytes))
        return;
    answer->rows = malloc(bytes + 1);
    if (answer->rows == NULL) {
        memory_release(&space->answers, bytes);
        return;
    }
    ASSERT(count <= LIMIT_TREND_TOP && count <= sums->used);
    answer->count = count;
    if (count > 0)
        memcpy(answer->rows, sums->rows, bytes);
}

static void answer_copy(const struct ranked *rows, uint32_t rows_count, struct ranked *out,
                        size_t limit, size_t *count)
{
    *count = rows_count < limit ? rows_count : limit;
    if (*count > 0)
        memcpy(out, rows, *count * sizeof(*out));
}

/* The sums are of one moment. Their memory is not part of the boards' share. */
static enum status answer_make(struct trends *trends, const struct trend_board *board, int level,
                               uint32_t now_s, struct answer *answer, struct ranked *out,
                               size_t limit, size_t *count)
{
    struct trend_space scratch = {
        .share = {.limit = UINT64_MAX, .within = trends->space.share.within},
        .seed = trends->space.seed};
    struct addition addition = {.space = &scratch};
    enum status status = STATUS_NO_MEMORY;
    uint32_t rows = 0;
    trend_board_visit(board, level, now_s, count_rows, &rows);
    pthread_mutex_lock(&trends->adding_up);
    if (sums_reserve(&addition.sums, &scratch, rows)) {
        trend_board_visit(board, level, now_s, add_rows, &addition);
        uint32_t ranked = rank(&addition.sums, scratch.seed);
        answer_keep(trends, answer, &addition.sums, ranked);
        answer_copy(addition.sums.rows, ranked, out, limit, count);
        answer->number = now_s / trend_board_slice_s(level);
        answer->changes = board->changes;
        status = STATUS_OK;
    }
    sums_free(&addition.sums, &scratch);
    pthread_mutex_unlock(&trends->adding_up);
    return status;
}

static enum status board_top(struct trends *trends, struct trend_board *board, int level,
                             uint32_t now_s, struct ranked *out, size_t limit, size_t *count)
{
    enum status status = STATUS_OK;
    struct answer *answer = &board->answers[level];
    pthread_mutex_lock(&board->asking);
    if (answer->rows != NULL && answer->changes == board->changes &&
        answer->number == now_s / trend_board_slice_s(level))
        answer_copy(answer->rows, answer->count, out, limit, count);
    else
        status = answer_make(trends, board, level, now_s, answer, out, limit, count);
    pthread_mutex_unlock(&board->asking);
    return status;
}

enum status trends_top(struct trends *trends, uint16_t type, uint8_t name, enum trend_window window,
                       uint32_t now_s, struct ranked *out, size_t limit, size_t *count)
{
    *count = 0;
    ASSERT(window >= TREND_HOUR && window <= TREND_WEEK && limit <= LIMIT_TREND_TOP);
    ASSERT(type < LIMIT_TYPES && name < LIMIT_NAMES);
    enum status status = STATUS_OK;
    pthread_rwlock_rdlock(&trends->lock);
    const struct board_row *row = trends->rows[type];
    struct trend_board *board = row != NULL ? row->boards[name] : NULL;
    if (now_s < trends->time_s)
        now_s = trends->time_s;
    if (board != NULL)
        status = board_top(trends, board, (int)window - 1, now_s, out, limit, count);
    else if (trends->refused_s[type] != 0 || (row != NULL && row->refused_s[name] != 0))
        status = STATUS_TREND_REFUSED;
    pthread_rwlock_unlock(&trends->lock);
    return status;
}

/*
 * Reading a board. The kept result of the last reading answers most requests. Otherwise all sections are
 * gathered, and the best entries are selected and ordered. Few requests ask for more than a hundred
 * entries; until one does, only TOP_FEW entries are ordered.
 *
 * If a board has fewer entries above its floor than the request asks for, and may have more items, it
 * cannot answer: a worker waits for a while until the board is filled again.
 */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "hot/memory/boards.h"
#include "hot/memory/catch_up.h"
#include "hot/memory/hot_memory_priv.h"
#include "hot/scratch.h"
#include "trend/trends.h"

#define TOP_FEW    128
#define TOP_SPARE  64 /* the filler checks a board with fewer entries than `enough` and these */
#define GATHER_MAX BOARD_GATHERED

_Static_assert(TOP_FEW <= LIMIT_TOP, "few is not many");

/* Allocates memory for a kept result. If there is none, every reading gathers again. */
static void top_keep(struct hot_memory *hot, struct board *board)
{
    size_t bytes = LIMIT_TOP * sizeof(*board->top);
    if (board->top != NULL || boards_take(&hot->boards, bytes) != STATUS_OK)
        return;
    board->top = malloc(bytes);
    if (board->top == NULL)
        boards_give(&hot->boards, bytes);
}

/* Gathers the sections and puts the best entries first, in order. Called under the board's lock. */
static void top_refresh(struct hot_memory *hot, struct board *board, uint32_t wanted,
                        struct ranked *entries)
{
    struct board_gathered gathered = {.entries = entries};
    top_keep(hot, board);
    atomic_exchange(&board->dirty, false);
    boards_gather(hot, board->key, &gathered);
    if (gathered.floored && gathered.count < hot->boards.enough + TOP_SPARE)
        atomic_store(&board->thin, true);
    uint32_t count = gathered.count < wanted ? gathered.count : wanted;
    ranked_best(entries, gathered.count, count);
    ranked_sort(entries, count);
    if (board->top != NULL && count > 0)
        memcpy(board->top, entries, count * sizeof(*entries));
    board->top_count = count;
    board->top_wanted = wanted;
    board->top_all = !gathered.floored && count == gathered.count;
}

/* Copies the best entries to `out`. BLOCKED: there may be more, but the board has to be filled first. */
static enum status top_take(struct hot_memory *hot, struct board *board, uint32_t limit,
                            struct ranked *out, uint32_t *count)
{
    pthread_mutex_lock(&board->lock);
    uint32_t wanted = limit > TOP_FEW || board->top_wanted > TOP_FEW ? LIMIT_TOP : TOP_FEW;
    bool kept = board->top != NULL && !atomic_load(&board->dirty) && board->top_wanted >= wanted;
    if (!kept)
        top_refresh(hot, board, wanted, out);
    *count = board->top_count < limit ? board->top_count : limit;
    if (kept && *count > 0)
        memcpy(out, board->top, *count * sizeof(*out));
    bool enough = *count == limit || board->top_all;
    pthread_mutex_unlock(&board->lock);
    return enough ? STATUS_OK : STATUS_BLOCKED;
}

/* OK; BLOCKED: the board has to be filled first; NO_MEMORY, BOARD_OFF. */
static enum status top_read(struct hot_memory *hot, struct board *board,
                            struct hot_request *request, struct hot_scratch *scratch)
{
    const struct boards *boards = &hot->boards;
    if (atomic_load(&boards->loading) || atomic_load(&boards->missed))
        return STATUS_BLOCKED;
    if (atomic_load(&board->off))
        return STATUS_BOARD_OFF;
    if (!hot_scratch_reserve_ranked(scratch, GATHER_MAX))
        return STATUS_NO_MEMORY;
    uint32_t count;
    enum status status =
        top_take(hot, board, request->top.limit, scratch->ranked + scratch->ranked_used, &count);
    request->top.count = status == STATUS_OK ? count : 0;
    return status;
}

static enum status top_once(struct hot_memory *hot, struct hot_request *request,
                            struct hot_scratch *scratch)
{
    struct board *board = boards_find(&hot->boards, board_key(request->top.type, request->name));
    if (board != NULL)
        return top_read(hot, board, request, scratch);
    if (atomic_load(&hot->boards.loading) || boards_are_counting(hot))
        return STATUS_BLOCKED;
    return atomic_load(&hot->boards.full) ? STATUS_BOARD_OFF : STATUS_OK;
}

/* If the store has failed, the board would be counted for ever, so the answer is STORE_FAILED. */
static enum status why_not_counted(struct hot_memory *hot)
{
    enum status status = hot_memory_reach(hot, journal_appended(hot->journal), 0);
    return status == STATUS_STORE_FAILED ? status : STATUS_BOARD_COUNTING;
}

static enum status top_wait(struct hot_memory *hot, struct hot_request *request,
                            struct hot_scratch *scratch)
{
    uint64_t until_ns = clock_monotonic_ns() + LIMIT_TOP_WAIT_MS * 1000000ULL;
    for (;;) {
        struct board *board =
            boards_find(&hot->boards, board_key(request->top.type, request->name));
        if (board != NULL)
            atomic_store(&board->thin, true);
        bool again = boards_wait(hot, until_ns);
        enum status status = top_once(hot, request, scratch);
        if (status != STATUS_BLOCKED || !again)
            return status == STATUS_BLOCKED ? why_not_counted(hot) : status;
    }
}

/* The store first has to reach every change that was made before the request. */
static enum status top_of_window(struct hot_memory *hot, struct hot_request *request,
                                 struct hot_scratch *scratch)
{
    size_t count = 0;
    enum status status = catch_up(hot, UINT64_MAX);
    if (status == STATUS_OK && !hot_scratch_reserve_ranked(scratch, request->top.limit))
        status = STATUS_NO_MEMORY;
    if (status == STATUS_OK)
        status = hot->trend(hot->trend_context, request->top.type, request->name,
                            request->top.window, request->time_s,
                            scratch->ranked + scratch->ranked_used, request->top.limit, &count);
    request->top.count = status == STATUS_OK ? (uint32_t)count : 0;
    return status;
}

bool hot_memory_top(struct hot_memory *hot, struct hot_request *request, struct hot_trail trail,
                    struct hot_scratch *scratch, unsigned worker)
{
    (void)trail;
    ASSERT(request->top.limit > 0 && request->top.limit <= LIMIT_TOP);
    bool is_valid = request->top.type < LIMIT_TYPES && request->name < LIMIT_NAMES;
    bool windowed = request->top.window != TREND_NONE;
    request->top.first = scratch->ranked_used;
    request->top.count = 0;
    request->status = STATUS_OK;
    if (windowed && hot->trend == NULL)
        request->status = STATUS_NO_WINDOWS;
    else if (!windowed && hot->without_boards)
        request->status = STATUS_NO_BOARDS;
    else if (is_valid && windowed)
        request->status =
            worker == LOAD_NOBODY ? STATUS_BLOCKED : top_of_window(hot, request, scratch);
    else if (is_valid)
        request->status = top_once(hot, request, scratch);
    if (request->status == STATUS_BLOCKED && worker == LOAD_NOBODY)
        return false;
    if (request->status == STATUS_BLOCKED && !windowed)
        request->status = top_wait(hot, request, scratch);
    scratch->ranked_used += request->top.count;
    return true;
}

#include "hot/memory/boards.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "hot/memory/hot_memory_priv.h"

#define SHARE_FRACTION 32 /* boards may use 1/32 of the budget */
#define SHARE_MIN      KIB(512)
#define SLOTS          (2 * LIMIT_BOARDS)

_Static_assert((SLOTS & (SLOTS - 1)) == 0, "slots are picked by mask");

uint64_t boards_share(uint64_t limit)
{
    return limit / SHARE_FRACTION < SHARE_MIN ? SHARE_MIN : limit / SHARE_FRACTION;
}

void boards_init(struct boards *boards, struct memory_budget *budget, uint32_t entries_max)
{
    boards->budget = budget;
    boards->scan = scan_choose();
    boards->share = boards_share(budget->limit);
    boards->entries_max = entries_max == 0 ? BOARD_ENTRIES : entries_max;
    boards->enough = boards->entries_max == BOARD_ENTRIES ? LIMIT_TOP : boards->entries_max;
    pthread_mutex_init(&boards->lock, NULL);
    boards_filler_init(&boards->filler);
}

static size_t board_bytes(const struct board *board)
{
    return sizeof(*board) + (board->top != NULL ? LIMIT_TOP * sizeof(*board->top) : 0);
}

void boards_destroy(struct boards *boards)
{
    for (uint32_t i = 0; i < boards->count; i++) {
        struct board *board = boards->list[i];
        boards_give(boards, board_bytes(board));
        pthread_mutex_destroy(&board->lock);
        free(board->top);
        free(board);
    }
    boards->count = 0;
    pthread_mutex_destroy(&boards->lock);
}

enum status boards_take(struct boards *boards, size_t bytes)
{
    uint64_t before = atomic_fetch_add_explicit(&boards->bytes, bytes, memory_order_relaxed);
    enum status status = STATUS_OK;
    if (before + bytes > boards->share)
        status = STATUS_BOARD_OFF;
    else if (!memory_charge(boards->budget, bytes))
        status = STATUS_NO_MEMORY;
    if (status != STATUS_OK)
        atomic_fetch_sub_explicit(&boards->bytes, bytes, memory_order_relaxed);
    return status;
}

void boards_give(struct boards *boards, size_t bytes)
{
    atomic_fetch_sub_explicit(&boards->bytes, bytes, memory_order_relaxed);
    memory_release(boards->budget, bytes);
}

struct board *boards_find(const struct boards *boards, uint32_t key)
{
    for (uint32_t i = board_key_hash(key);; i++) {
        struct board *board =
            atomic_load_explicit(&boards->table[i & (SLOTS - 1)], memory_order_acquire);
        if (board == NULL || board->key == key)
            return board;
    }
}

/* Called under the lock. OK, BOARD_OFF or NO_MEMORY. */
static enum status make_board(struct boards *boards, uint32_t key, struct board **out)
{
    uint32_t count = atomic_load_explicit(&boards->count, memory_order_relaxed);
    enum status status =
        count == LIMIT_BOARDS ? STATUS_BOARD_OFF : boards_take(boards, sizeof(struct board));
    if (status != STATUS_OK)
        return status;
    struct board *board = calloc(1, sizeof(*board));
    if (board == NULL) {
        boards_give(boards, sizeof(*board));
        return STATUS_NO_MEMORY;
    }
    board->key = key;
    pthread_mutex_init(&board->lock, NULL);
    atomic_init(&board->dirty, true);
    uint32_t i = board_key_hash(key);
    while (atomic_load_explicit(&boards->table[i & (SLOTS - 1)], memory_order_relaxed) != NULL)
        i++;
    boards->list[count] = board;
    atomic_store_explicit(&boards->table[i & (SLOTS - 1)], board, memory_order_release);
    atomic_store_explicit(&boards->count, count + 1, memory_order_release);
    *out = board;
    return status;
}

struct board *boards_get(struct boards *boards, uint32_t key)
{
    struct board *board = boards_find(boards, key);
    if (board != NULL || atomic_load_explicit(&boards->full, memory_order_relaxed))
        return board;
    enum status status = STATUS_OK;
    pthread_mutex_lock(&boards->lock);
    board = boards_find(boards, key);
    if (board == NULL)
        status = make_board(boards, key, &board);
    pthread_mutex_unlock(&boards->lock);
    if (status == STATUS_BOARD_OFF)
        atomic_store(&boards->full, true);
    else if (status != STATUS_OK)
        atomic_store(&boards->missed, true);
    return board;
}

void boards_miss(struct boards *boards, struct board *board, enum status status)
{
    if (status == STATUS_BOARD_OFF)
        atomic_store(&board->off, true);
    else
        atomic_store(&boards->missed, true);
}

bool boards_are_counting(struct hot_memory *hot)
{
    bool counting = atomic_load(&hot->boards.missed);
    for (uint32_t i = 0; i < LIMIT_SHARDS && !counting; i++) {
        struct item_shard *shard = &hot->items[i];
        pthread_mutex_lock(&shard->lock);
        counting = shard->boards.counting;
        pthread_mutex_unlock(&shard->lock);
    }
    return counting;
}

static void gather_floor(struct board_gathered *out, struct ranked floor)
{
    if (!out->floored || ranked_order(floor, out->floor) < 0)
        out->floor = floor;
    out->floored = true;
}

static void gather_section(const struct board_shard *shard, uint32_t key,
                           struct board_gathered *out)
{
    const struct board_section *section = board_find(shard, key);
    if (section == NULL) {
        if (shard->counting)
            gather_floor(out, board_best());
        return;
    }
    if (section->floored)
        gather_floor(out, section->floor);
    if (section->limited)
        gather_floor(out, section->trusted);
    for (uint32_t i = 0; i < section->count; i++)
        out->entries[out->count++] = board_entry(section, i);
}

void boards_gather(struct hot_memory *hot, uint32_t key, struct board_gathered *out)
{
    out->count = 0;
    out->floored = false;
    for (uint32_t i = 0; i < LIMIT_SHARDS; i++) {
        struct item_shard *shard = &hot->items[i];
        pthread_mutex_lock(&shard->lock);
        gather_section(&shard->boards, key, out);
        pthread_mutex_unlock(&shard->lock);
    }
    if (!out->floored)
        return;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < out->count; i++)
        if (ranked_order(out->entries[i], out->floor) < 0)
            out->entries[kept++] = out->entries[i];
    out->count = kept;
}

void boards_stats(struct hot_memory *hot, struct hot_stats *out)
{
    struct boards *boards = &hot->boards;
    for (uint32_t i = 0; i < LIMIT_SHARDS; i++) {
        struct item_shard *shard = &hot->items[i];
        pthread_mutex_lock(&shard->lock);
        out->board_entries += shard->boards.entries;
        pthread_mutex_unlock(&shard->lock);
    }
    uint32_t count = atomic_load_explicit(&boards->count, memory_order_acquire);
    for (uint32_t i = 0; i < count; i++)
        out->boards_off += atomic_load_explicit(&boards->list[i]->off, memory_order_relaxed);
    out->boards = count - out->boards_off;
    out->boards_full = atomic_load(&boards->full);
    out->board_bytes = atomic_load_explicit(&boards->bytes, memory_order_relaxed);
    out->board_bytes_max = boards->share;
    out->board_fills = atomic_load_explicit(&boards->filler.fills, memory_order_relaxed);
    out->boards_state = boards_are_counting(hot)        ? HOT_BOARDS_COUNTING
                        : atomic_load(&boards->loading) ? HOT_BOARDS_LOADING
                                                        : HOT_BOARDS_OK;
}

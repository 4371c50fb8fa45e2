/*
 * Saving and loading boards. The entries are read at moments S after the store was flushed at D, not all
 * at the same moment. This does no harm. If no event after D concerns an item, its value at the next start
 * is that of S. If an event concerns it, replay notes the item's present value on its board at the next
 * start, and the value in the file does not matter. But the values at S must not depend on events that a
 * power cut can take back. So the file is not renamed until the journal is on disk up to S.
 *
 * The store may have advanced from the file's position B to D. The events between B and D are not
 * replayed, so their items are read again from the store (boards_touch). The net effect of these events
 * would not be enough: it would miss a counter whose value at S was neither that of B nor that of D.
 *
 * A board that is not in the file had no items at S, because no file is written while some boards are
 * not kept.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/assert.h"
#include "base/clock.h"
#include "hot/memory/boards_file.h"
#include "hot/memory/hot_memory_priv.h"

#define DURABLE_WAIT_NS 10000000000ULL
#define DURABLE_NAP_NS  500000

struct saving {
    struct hot_memory *hot;
    struct ranked *entries; /* BOARDS_FILE_ENTRIES */
};

static void save_board(void *context, uint32_t number, struct boards_file_board *out)
{
    struct saving *saving = context;
    uint32_t key = saving->hot->boards.list[number]->key;
    struct board_gathered gathered = {.entries = saving->entries};
    boards_gather(saving->hot, key, &gathered);
    *out = (struct boards_file_board){.type = (uint16_t)(key >> 8),
                                      .name = (uint8_t)key,
                                      .floored = gathered.floored,
                                      .floor = gathered.floor,
                                      .count = gathered.count,
                                      .entries = gathered.entries};
}

static int save_ended(void *context)
{
    const struct saving *saving = context;
    struct journal *journal = saving->hot->journal;
    uint64_t position = journal_appended(journal);
    uint64_t until_ns = clock_monotonic_ns() + DURABLE_WAIT_NS;
    while (journal_durable(journal) < position) {
        if (journal_state(journal) != STATUS_OK || clock_monotonic_ns() > until_ns)
            return -EAGAIN;
        journal_sync(journal);
        nanosleep(&(struct timespec){.tv_nsec = DURABLE_NAP_NS}, NULL);
    }
    return 0;
}

/* Do the boards have every item that they should have? */
static bool can_save(struct hot_memory *hot)
{
    struct hot_stats stats = {0};
    boards_stats(hot, &stats);
    return stats.boards_state == HOT_BOARDS_OK && stats.boards_off == 0 && !stats.boards_full;
}

int hot_memory_save_boards(struct hot *base, const char *path, uint64_t position)
{
    struct hot_memory *hot = hot_memory_of(base);
    if (!can_save(hot))
        return -EAGAIN;
    struct saving saving = {hot, malloc(BOARDS_FILE_ENTRIES * sizeof(*saving.entries))};
    struct boards_file_source source = {
        .position = position,
        .count = atomic_load_explicit(&hot->boards.count, memory_order_acquire),
        .board = save_board,
        .ended = save_ended,
        .context = &saving,
    };
    int result = saving.entries == NULL ? -ENOMEM : boards_file_write(path, &source);
    free(saving.entries);
    return result;
}

static void load_board(void *context, const struct boards_file_board *board)
{
    struct hot_memory *hot = context;
    uint32_t key = board_key(board->type, board->name);
    for (uint32_t i = 0; i < board->count; i++) {
        struct item item = {.id = board->entries[i].id, .type = board->type};
        struct item_shard *shard = item_shard_of(hot, item_hash_of(hot, item));
        board_put(&shard->boards, key, item.id, board->entries[i].value);
    }
    for (uint32_t i = 0; i < LIMIT_SHARDS && board->floored; i++) {
        struct board_shard *shard = &hot->items[i].boards;
        struct board_section *section = board_make(shard, key);
        if (section != NULL)
            board_raise(shard, section, board->floor);
    }
}

enum status hot_memory_load_boards(struct hot *base, const char *path, uint64_t *position,
                                   char *problem, size_t size)
{
    struct hot_memory *hot = hot_memory_of(base);
    uint32_t count;
    ASSERT(hot->journal == NULL && atomic_load(&hot->boards.count) == 0);
    for (uint32_t i = 0; i < LIMIT_SHARDS; i++)
        hot->items[i].boards.counting = false;
    enum status status = boards_file_read(path, position, &count, load_board, hot, problem, size);
    if (status != STATUS_OK)
        boards_recount(hot);
    else
        atomic_store(&hot->boards.loading, true);
    return status;
}

bool hot_memory_touch_boards(struct hot *base, const struct event *event)
{
    struct hot_memory *hot = hot_memory_of(base);
    struct board_counter counter = {
        .id = event->item.id, .type = event->item.type, .name = event->name};
    if (event->type == EVENT_DEFINE || event->type == EVENT_COMMENT)
        return true;
    if (event->type != EVENT_SET && event->type != EVENT_CLEAR && event->type != EVENT_ADD)
        return false;
    bool noted = boards_touch(hot, counter);
    for (uint32_t i = 0; event->type != EVENT_ADD && i < event->cleared_count && noted; i++) {
        counter.name = event->cleared[i];
        noted = boards_touch(hot, counter);
    }
    return noted;
}

void hot_memory_recount_boards(struct hot *base)
{
    boards_recount(hot_memory_of(base));
}

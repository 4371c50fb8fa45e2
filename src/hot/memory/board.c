/*
 * Ids and values stand in arrays of their own, so that an item is found by comparing several ids at
 * a time (scan.h). A full part is cut to three quarters at once: the floor then rises once in so
 * many insertions and not with each.
 *
 * Noting cannot fail, for it belongs to a change that is decided already. A part that cannot have
 * the memory it needs lets go of all it has and raises its floor above everything: it is empty, says
 * so, and is filled again later. If there is not even a part to say so, all boards are counted anew.
 */
#include "hot/memory/board.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "hot/memory/boards.h"

#define FIRST_CAPACITY 4
#define FIRST_PARTS    4
#define ENTRY_BYTES    (3 * sizeof(uint64_t))

void board_shard_init(struct board_shard *shard, struct boards *boards, bool counting, bool spare)
{
    *shard = (struct board_shard){.boards = boards, .counting = counting, .spare = spare};
}

static enum status shard_take(struct board_shard *shard, size_t bytes)
{
    if (!shard->spare)
        return boards_take(shard->boards, bytes);
    return memory_charge(shard->boards->budget, bytes) ? STATUS_OK : STATUS_NO_MEMORY;
}

static void shard_give(struct board_shard *shard, size_t bytes)
{
    if (shard->spare)
        memory_release(shard->boards->budget, bytes);
    else
        boards_give(shard->boards, bytes);
}

static void part_empty(struct board_shard *shard, struct board_part *part)
{
    if (part->capacity != 0)
        shard_give(shard, part->capacity * ENTRY_BYTES);
    free(part->entries);
    shard->entries -= part->count;
    part->entries = NULL;
    part->count = part->capacity = 0;
}

void board_shard_destroy(struct board_shard *shard)
{
    for (uint32_t i = 0; shard->parts != NULL && i <= shard->mask; i++)
        part_empty(shard, &shard->parts[i]);
    if (shard->parts != NULL)
        shard_give(shard, (shard->mask + 1) * sizeof(*shard->parts));
    free(shard->parts);
    shard->parts = NULL;
    shard->mask = shard->used = 0;
}

static struct board_part *free_slot(struct board_part *parts, uint32_t mask, uint32_t key)
{
    uint32_t i = board_key_hash(key);
    while (parts[i & mask].key != 0)
        i++;
    return &parts[i & mask];
}

/* Room for one part more. */
static enum status parts_grow(struct board_shard *shard)
{
    uint32_t slots = shard->parts == NULL ? 0 : shard->mask + 1;
    if (shard->used + 1 <= slots / 4 * 3)
        return STATUS_OK;
    uint32_t more = slots == 0 ? FIRST_PARTS : slots * 2;
    enum status status = shard_take(shard, more * sizeof(*shard->parts));
    if (status != STATUS_OK)
        return status;
    struct board_part *parts = calloc(more, sizeof(*parts));
    if (parts == NULL) {
        shard_give(shard, more * sizeof(*parts));
        return STATUS_NO_MEMORY;
    }
    for (uint32_t i = 0; i < slots; i++)
        if (shard->parts[i].key != 0)
            *free_slot(parts, more - 1, shard->parts[i].key) = shard->parts[i];
    if (slots != 0)
        shard_give(shard, slots * sizeof(*parts));
    free(shard->parts);
    shard->parts = parts;
    shard->mask = more - 1;
    return STATUS_OK;
}

struct board_part *board_make(struct board_shard *shard, uint32_t key)
{
    struct board_part *part = board_find(shard, key);
    if (part != NULL || shard->boards == NULL)
        return part;
    struct board *board = boards_get(shard->boards, key);
    if (board == NULL || atomic_load_explicit(&board->off, memory_order_relaxed))
        return NULL;
    enum status status = parts_grow(shard);
    if (status != STATUS_OK) {
        boards_miss(shard->boards, board, status);
        return NULL;
    }
    part = free_slot(shard->parts, shard->mask, key);
    shard->used++;
    *part = (struct board_part){.key = key,
                                .board = board,
                                .limited = shard->counting,
                                .filling = shard->counting,
                                .known = board_best()};
    return part;
}

static bool is_below(const struct board_part *part, struct id id, int64_t value)
{
    return value == 0 ||
           (part->floored && ranked_order((struct ranked){id, value}, part->floor) >= 0);
}

static void part_lose(struct board_shard *shard, struct board_part *part, enum status status)
{
    part_empty(shard, part);
    part->floored = true;
    part->floor = board_best();
    atomic_store_explicit(&part->board->thin, true, memory_order_relaxed);
    if (status == STATUS_BOARD_OFF)
        atomic_store_explicit(&part->board->off, true, memory_order_relaxed);
}

static void part_set(struct board_part *part, uint32_t index, struct ranked entry)
{
    uint64_t *at = part->entries + index;
    at[0] = entry.id.lo;
    at[part->capacity] = entry.id.hi;
    at[2 * (uint32_t)part->capacity] = (uint64_t)entry.value;
}

/* False: there is no memory, and the part is lost. */
static bool part_grow(struct board_shard *shard, struct board_part *part)
{
    uint32_t most = shard->boards->entries_max;
    uint32_t capacity = part->capacity == 0 ? FIRST_CAPACITY : 2U * part->capacity;
    capacity = capacity > most ? most : capacity;
    enum status status = shard_take(shard, capacity * ENTRY_BYTES);
    uint64_t *entries = status == STATUS_OK ? malloc(capacity * ENTRY_BYTES) : NULL;
    if (entries == NULL) {
        if (status == STATUS_OK)
            shard_give(shard, capacity * ENTRY_BYTES);
        part_lose(shard, part, status == STATUS_OK ? STATUS_NO_MEMORY : status);
        return false;
    }
    for (uint32_t i = 0; i < 3 && part->count > 0; i++)
        memcpy(entries + (size_t)i * capacity, part->entries + (size_t)i * part->capacity,
               part->count * sizeof(*entries));
    if (part->capacity != 0)
        shard_give(shard, part->capacity * ENTRY_BYTES);
    free(part->entries);
    part->entries = entries;
    part->capacity = (uint16_t)capacity;
    return true;
}

/* The best three quarters stay; the best of the rest is the floor. */
static void part_cut(struct board_shard *shard, struct board_part *part)
{
    struct ranked entries[BOARD_ENTRIES];
    uint32_t keep = part->count / 4U * 3;
    for (uint32_t i = 0; i < part->count; i++)
        entries[i] = board_entry(part, i);
    ranked_best(entries, part->count, keep);
    struct ranked floor = entries[keep];
    for (uint32_t i = keep + 1; i < part->count; i++)
        if (ranked_order(entries[i], floor) < 0)
            floor = entries[i];
    for (uint32_t i = 0; i < keep; i++)
        part_set(part, i, entries[i]);
    shard->entries -= part->count - keep;
    part->count = (uint16_t)keep;
    part->floored = true;
    part->floor = floor;
}

static uint32_t part_search(const struct board_shard *shard, const struct board_part *part,
                            struct id id)
{
    for (uint32_t at = 0; at < part->count; at++) {
        at += (uint32_t)shard->boards->scan(part->entries + at, part->count - at, id.lo);
        if (at < part->count && part->entries[part->capacity + at] == id.hi)
            return at;
    }
    return part->count;
}

static void part_remove(struct board_shard *shard, struct board_part *part, uint32_t index)
{
    part->count--;
    shard->entries--;
    part_set(part, index, board_entry(part, part->count));
    if (part->floored && part->count < shard->boards->entries_max / 4 &&
        !atomic_load_explicit(&part->board->thin, memory_order_relaxed))
        atomic_store_explicit(&part->board->thin, true, memory_order_relaxed);
}

static void part_insert(struct board_shard *shard, struct board_part *part, struct ranked entry)
{
    if (part->count == part->capacity && part->capacity < shard->boards->entries_max) {
        if (!part_grow(shard, part))
            return;
    } else if (part->count == part->capacity) {
        part_cut(shard, part);
        if (is_below(part, entry.id, entry.value))
            return;
    }
    part_set(part, part->count++, entry);
    shard->entries++;
}

static void board_outdate(const struct board_shard *shard, struct board *board)
{
    if (!shard->spare && !atomic_load_explicit(&board->dirty, memory_order_relaxed))
        atomic_store_explicit(&board->dirty, true, memory_order_relaxed);
}

static void part_put(struct board_shard *shard, struct board_part *part, struct id id,
                     int64_t value)
{
    struct board *board = part->board;
    if (atomic_load_explicit(&board->off, memory_order_relaxed)) {
        part_lose(shard, part, STATUS_BOARD_OFF);
        return;
    }
    bool below = is_below(part, id, value);
    uint32_t index = part_search(shard, part, id);
    if (index < part->count && below)
        part_remove(shard, part, index);
    else if (index < part->count)
        part->entries[2 * (uint32_t)part->capacity + index] = (uint64_t)value;
    else if (!below)
        part_insert(shard, part, (struct ranked){id, value});
    board_outdate(shard, board);
}

void board_put(struct board_shard *shard, uint32_t key, struct id id, int64_t value)
{
    struct board_part *part = value == 0 ? board_find(shard, key) : board_make(shard, key);
    if (part != NULL)
        part_put(shard, part, id, value);
}

void board_move(struct board_shard *shard, uint32_t key, struct id id, int64_t old, int64_t value)
{
    struct board_part *part = board_make(shard, key);
    if (part != NULL && !(is_below(part, id, old) && is_below(part, id, value)))
        part_put(shard, part, id, value);
}

void board_raise(struct board_shard *shard, struct board_part *part, struct ranked floor)
{
    if (part->floored && ranked_order(part->floor, floor) <= 0)
        return;
    part->floored = true;
    part->floor = floor;
    for (uint32_t i = part->count; i-- > 0;) {
        struct ranked entry = board_entry(part, i);
        if (is_below(part, entry.id, entry.value))
            part_remove(shard, part, i);
    }
    board_outdate(shard, part->board); /* what went is not noted any more */
}

/*
 * Ids and values are in separate arrays, so that an item is found by comparing several ids at a time
 * (scan.h). A full section is reduced to three quarters in one step, so that the floor does not rise with
 * each insertion.
 *
 * Noting a change cannot fail, because the change is decided already. A section that does not get the
 * memory it needs drops all its entries and raises its floor above every possible entry. So it is
 * correct, but empty, and is filled again later. If not even the section can be allocated, all boards are
 * counted again.
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

/* How many entries of this capacity count as extra ones of the board. */
static uint32_t extra_of(const struct board_shard *shard, uint32_t capacity)
{
    uint32_t usual = shard->boards->entries_max;
    return capacity > usual && !shard->spare ? capacity - usual : 0;
}

/* The largest capacity of a section. */
static uint32_t capacity_most(const struct board_shard *shard, const struct board_section *section)
{
    uint32_t usual = shard->boards->entries_max;
    return boards_is_wide(shard->boards, section->key) ? usual * BOARD_WIDER : usual;
}

static uint32_t capacity_next(const struct board_shard *shard, const struct board_section *section)
{
    uint32_t most = capacity_most(shard, section);
    uint32_t next = section->capacity == 0 ? FIRST_CAPACITY : 2U * section->capacity;
    return next < most ? next : most;
}

/* May the section get the next larger capacity? If that has extra entries, they are taken from the board. */
static bool section_may_grow(struct board_shard *shard, const struct board_section *section)
{
    uint32_t next = capacity_next(shard, section), usual = shard->boards->entries_max;
    uint32_t extra = extra_of(shard, next) - extra_of(shard, section->capacity);
    if (next <= section->capacity)
        return false;
    _Atomic uint32_t *used = &section->board->extra;
    uint32_t most = (uint32_t)((uint64_t)usual * BOARD_EXTRA / BOARD_ENTRIES);
    if (extra == 0 || atomic_fetch_add_explicit(used, extra, memory_order_relaxed) + extra <= most)
        return true;
    atomic_fetch_sub_explicit(used, extra, memory_order_relaxed);
    return false;
}

static void section_empty(struct board_shard *shard, struct board_section *section)
{
    if (section->capacity != 0) {
        shard_give(shard, section->capacity * ENTRY_BYTES);
        atomic_fetch_sub_explicit(&section->board->extra, extra_of(shard, section->capacity),
                                  memory_order_relaxed);
    }
    free(section->entries);
    shard->entries -= section->count;
    section->entries = NULL;
    section->count = section->capacity = 0;
}

void board_shard_destroy(struct board_shard *shard)
{
    for (uint32_t i = 0; shard->sections != NULL && i <= shard->mask; i++)
        section_empty(shard, &shard->sections[i]);
    if (shard->sections != NULL)
        shard_give(shard, (shard->mask + 1) * sizeof(*shard->sections));
    free(shard->sections);
    shard->sections = NULL;
    shard->mask = shard->used = 0;
}

static struct board_section *free_slot(struct board_section *sections, uint32_t mask, uint32_t key)
{
    uint32_t i = board_key_hash(key);
    while (sections[i & mask].key != 0)
        i++;
    return &sections[i & mask];
}

/* Makes room for one more section. */
static enum status sections_grow(struct board_shard *shard)
{
    uint32_t slots = shard->sections == NULL ? 0 : shard->mask + 1;
    if (shard->used + 1 <= slots / 4 * 3)
        return STATUS_OK;
    uint32_t more = slots == 0 ? FIRST_PARTS : slots * 2;
    enum status status = shard_take(shard, more * sizeof(*shard->sections));
    if (status != STATUS_OK)
        return status;
    struct board_section *sections = calloc(more, sizeof(*sections));
    if (sections == NULL) {
        shard_give(shard, more * sizeof(*sections));
        return STATUS_NO_MEMORY;
    }
    for (uint32_t i = 0; i < slots; i++)
        if (shard->sections[i].key != 0)
            *free_slot(sections, more - 1, shard->sections[i].key) = shard->sections[i];
    if (slots != 0)
        shard_give(shard, slots * sizeof(*sections));
    free(shard->sections);
    shard->sections = sections;
    shard->mask = more - 1;
    return STATUS_OK;
}

struct board_section *board_make(struct board_shard *shard, uint32_t key)
{
    struct board_section *section = board_find(shard, key);
    if (section != NULL || shard->boards == NULL)
        return section;
    struct board *board = boards_get(shard->boards, key);
    if (board == NULL || atomic_load_explicit(&board->off, memory_order_relaxed))
        return NULL;
    enum status status = sections_grow(shard);
    if (status != STATUS_OK) {
        boards_miss(shard->boards, board, status);
        return NULL;
    }
    section = free_slot(shard->sections, shard->mask, key);
    shard->used++;
    *section = (struct board_section){.key = key,
                                      .board = board,
                                      .limited = shard->counting,
                                      .filling = shard->counting,
                                      .trusted = board_best()};
    return section;
}

static bool is_below(const struct board_section *section, struct id id, int64_t value)
{
    return value == 0 ||
           (section->floored && ranked_order((struct ranked){id, value}, section->floor) >= 0);
}

static void section_lose(struct board_shard *shard, struct board_section *section,
                         enum status status)
{
    section_empty(shard, section);
    section->floored = true;
    section->floor = board_best();
    atomic_store_explicit(&section->board->thin, true, memory_order_relaxed);
    if (status == STATUS_BOARD_OFF)
        atomic_store_explicit(&section->board->off, true, memory_order_relaxed);
}

static void section_set(struct board_section *section, uint32_t index, struct ranked entry)
{
    uint64_t *at = section->entries + index;
    at[0] = entry.id.lo;
    at[section->capacity] = entry.id.hi;
    at[2 * (uint32_t)section->capacity] = (uint64_t)entry.value;
}

/*
 * Called if section_may_grow has said so. False: there is no memory, and the section has lost its entries.
 */
static bool section_grow(struct board_shard *shard, struct board_section *section)
{
    uint32_t capacity = capacity_next(shard, section);
    uint32_t extra = extra_of(shard, capacity) - extra_of(shard, section->capacity);
    enum status status = shard_take(shard, capacity * ENTRY_BYTES);
    uint64_t *entries = status == STATUS_OK ? malloc(capacity * ENTRY_BYTES) : NULL;
    if (entries == NULL) {
        if (status == STATUS_OK)
            shard_give(shard, capacity * ENTRY_BYTES);
        atomic_fetch_sub_explicit(&section->board->extra, extra, memory_order_relaxed);
        section_lose(shard, section, status == STATUS_OK ? STATUS_NO_MEMORY : status);
        return false;
    }
    for (uint32_t i = 0; i < 3 && section->count > 0; i++)
        memcpy(entries + (size_t)i * capacity, section->entries + (size_t)i * section->capacity,
               section->count * sizeof(*entries));
    if (section->capacity != 0)
        shard_give(shard, section->capacity * ENTRY_BYTES);
    free(section->entries);
    section->entries = entries;
    section->capacity = (uint16_t)capacity;
    return true;
}

/* Keeps the best three quarters. The best of the other entries becomes the floor. */
static void section_cut(struct board_shard *shard, struct board_section *section)
{
    struct ranked entries[BOARD_ENTRIES * BOARD_WIDER];
    uint32_t keep = section->count / 4U * 3;
    for (uint32_t i = 0; i < section->count; i++)
        entries[i] = board_entry(section, i);
    ranked_best(entries, section->count, keep);
    struct ranked floor = entries[keep];
    for (uint32_t i = keep + 1; i < section->count; i++)
        if (ranked_order(entries[i], floor) < 0)
            floor = entries[i];
    for (uint32_t i = 0; i < keep; i++)
        section_set(section, i, entries[i]);
    shard->entries -= section->count - keep;
    section->count = (uint16_t)keep;
    section->floored = true;
    section->floor = floor;
}

static uint32_t section_search(const struct board_shard *shard, const struct board_section *section,
                               struct id id)
{
    for (uint32_t at = 0; at < section->count; at++) {
        at += (uint32_t)shard->boards->scan(section->entries + at, section->count - at, id.lo);
        if (at < section->count && section->entries[section->capacity + at] == id.hi)
            return at;
    }
    return section->count;
}

static void section_remove(struct board_shard *shard, struct board_section *section, uint32_t index)
{
    section->count--;
    shard->entries--;
    section_set(section, index, board_entry(section, section->count));
    if (section->floored && section->count < shard->boards->entries_max / 4 &&
        !atomic_load_explicit(&section->board->thin, memory_order_relaxed))
        atomic_store_explicit(&section->board->thin, true, memory_order_relaxed);
}

static void section_insert(struct board_shard *shard, struct board_section *section,
                           struct ranked entry)
{
    bool is_full = section->count == section->capacity;
    if (is_full && section_may_grow(shard, section)) {
        if (!section_grow(shard, section))
            return;
    } else if (is_full) {
        section_cut(shard, section);
        if (is_below(section, entry.id, entry.value))
            return;
    }
    section_set(section, section->count++, entry);
    shard->entries++;
}

static void board_outdate(const struct board_shard *shard, struct board *board)
{
    if (!shard->spare && !atomic_load_explicit(&board->dirty, memory_order_relaxed))
        atomic_store_explicit(&board->dirty, true, memory_order_relaxed);
}

static void section_put(struct board_shard *shard, struct board_section *section, struct id id,
                        int64_t value)
{
    struct board *board = section->board;
    if (atomic_load_explicit(&board->off, memory_order_relaxed)) {
        section_lose(shard, section, STATUS_BOARD_OFF);
        return;
    }
    bool below = is_below(section, id, value);
    uint32_t index = section_search(shard, section, id);
    if (index < section->count && below)
        section_remove(shard, section, index);
    else if (index < section->count)
        section->entries[2 * (uint32_t)section->capacity + index] = (uint64_t)value;
    else if (!below)
        section_insert(shard, section, (struct ranked){id, value});
    board_outdate(shard, board);
}

void board_put(struct board_shard *shard, uint32_t key, struct id id, int64_t value)
{
    struct board_section *section = value == 0 ? board_find(shard, key) : board_make(shard, key);
    if (section != NULL)
        section_put(shard, section, id, value);
}

void board_update(struct board_shard *shard, uint32_t key, struct id id, int64_t old, int64_t value)
{
    struct board_section *section = board_make(shard, key);
    if (section != NULL && !(is_below(section, id, old) && is_below(section, id, value)))
        section_put(shard, section, id, value);
}

void board_raise(struct board_shard *shard, struct board_section *section, struct ranked floor)
{
    if (section->floored && ranked_order(section->floor, floor) <= 0)
        return;
    section->floored = true;
    section->floor = floor;
    for (uint32_t i = section->count; i-- > 0;) {
        struct ranked entry = board_entry(section, i);
        if (is_below(section, entry.id, entry.value))
            section_remove(shard, section, i);
    }
    board_outdate(shard, section->board); /* it does not see later changes of the removed entries */
}

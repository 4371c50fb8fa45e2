/*
 * How boards are filled, and why the result is exact.
 *
 *   1. The sections of the boards lose their floor, one shard after the other, each under its lock. From
 *      then on every change of one of their items is noted. A is the end of the journal after this step.
 *   2. Once the store has applied A, its counters are visited in one snapshot. The best items of each
 *      shard are kept as candidates; floor0 is the best item that is not a candidate.
 *   3. The present value of each candidate is read as COUNTS reads it, and put into the section.
 *   4. The floor of the section becomes floor0 or its own floor, whichever is better.
 *
 * Now take any item whose present value is better than that floor:
 *
 *   - It changed since step 1. Then the change was noted, and as the floor was never above the item, it is
 *     still in the section with its present value.
 *   - It did not change since step 1. Then the store had its value at A, so the visit saw the present
 *     value. This is better than floor0, so the item was a candidate, and was put.
 *
 * No entry has a wrong value: a value that was put was read under the lock of the item's shard, and later
 * changes are noted. During all this the section serves entries that are better than its former floor
 * (`trusted`), because it has had all of those the whole time.
 *
 * At a start without a file the sections have no floor from the beginning, and everything that is
 * replayed is noted. They keep the floors that they got since then.
 *
 * Without a store all rows stay in memory. Then these are visited instead, and their values are put.
 */
#include "hot/memory/boards_fill.h"

#include <stdlib.h>

#include "base/assert.h"
#include "base/log.h"
#include "hot/memory/boards.h"
#include "hot/memory/hot_memory_priv.h"

#define WALK_BUCKETS 64  /* visited while the shard is locked once */
#define PAUSE_MAX    600 /* rounds between two fillings */

static struct item item_of_counter(struct board_counter counter)
{
    return (struct item){.id = counter.id, .type = counter.type};
}

static int64_t value_of(const struct store_item *item, const struct store_values *values,
                        uint8_t name)
{
    for (uint32_t i = 0; i < item->count; i++)
        if (values->values[item->first + i].name == name)
            return values->values[item->first + i].value;
    return 0;
}

/*
 * Puts the present values of up to LOAD_KEYS counters. A counter that is not in memory has the value that
 * the store says, because nothing that changed since load_begin can have been evicted (load.h).
 */
static enum status put_present(struct hot_memory *hot, const struct board_counter *counters,
                               size_t count)
{
    struct store_item items[LOAD_KEYS];
    struct store_values values = {0};
    ASSERT(count <= LOAD_KEYS);
    for (size_t i = 0; i < count; i++)
        items[i] = (struct store_item){.item = item_of_counter(counters[i])};
    load_begin(&hot->loads, LOAD_BOARDS);
    enum status status = store_read_items(hot->store, NULL, items, count, &values);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        uint64_t hash = item_hash_of(hot, items[i].item);
        struct item_shard *shard = item_shard_of(hot, hash);
        pthread_mutex_lock(&shard->lock);
        const struct item_row *row = item_find(shard, hash, items[i].item);
        ASSERT(row == NULL || !(row->flags & ITEM_PARTIAL));
        int64_t value = row != NULL ? item_value(row, counters[i].name)
                                    : value_of(&items[i], &values, counters[i].name);
        board_put(&shard->boards, board_key(counters[i].type, counters[i].name), counters[i].id,
                  value);
        pthread_mutex_unlock(&shard->lock);
    }
    load_end(&hot->loads, LOAD_BOARDS);
    free(values.values);
    return status;
}

/* Reads the noted counters again, after a start from a file. */
static enum status put_touched(struct hot_memory *hot)
{
    struct boards_filler *filler = &hot->boards.filler;
    enum status status = STATUS_OK;
    for (size_t at = 0; at < filler->touched_count && status == STATUS_OK; at += LOAD_KEYS) {
        size_t left = filler->touched_count - at;
        status = atomic_load(&filler->stopping)
                     ? STATUS_STOPPING
                     : put_present(hot, filler->touched + at, left < LOAD_KEYS ? left : LOAD_KEYS);
    }
    if (status == STATUS_OK)
        boards_touched_free(hot);
    return status;
}

/* Does the board have too few entries? */
static bool is_short(struct hot_memory *hot, struct board *board, struct ranked *room)
{
    struct board_gathered gathered = {.entries = room};
    if (atomic_load(&board->off) || !atomic_exchange(&board->thin, false))
        return false;
    boards_gather(hot, board->key, &gathered);
    return gathered.floored && gathered.count < hot->boards.enough;
}

/* Finds the boards that have to be filled. False: there are none. */
static bool find_short(struct hot_memory *hot)
{
    struct boards *boards = &hot->boards;
    struct ranked *room = malloc(BOARD_GATHERED * sizeof(*room));
    if (room == NULL)
        return false;
    bool any = false;
    uint32_t count = atomic_load_explicit(&boards->count, memory_order_acquire);
    for (uint32_t i = 0; i < count; i++) {
        struct board *board = boards->list[i];
        board->filling = is_short(hot, board, room);
        any = any || board->filling;
    }
    free(room);
    return any;
}

static void section_begin(struct board_section *section, bool all)
{
    section->limited = all || section->floored;
    section->trusted = all ? board_best() : section->floor;
    section->floored = false;
    section->filling = true;
}

/*
 * After this the sections note every change. If a change is missed before `missed` is reset, it is before
 * the position, so it will be in the store when the store is visited.
 */
static void fill_begin(struct hot_memory *hot, bool all)
{
    struct boards_filler *filler = &hot->boards.filler;
    for (uint32_t i = 0; i < LIMIT_SHARDS; i++) {
        struct item_shard *shard = &hot->items[i];
        struct board_shard *boards = &shard->boards;
        pthread_mutex_lock(&shard->lock);
        bool counting =
            boards->counting; /* it has had no floor since the start, and keeps the floors it got */
        boards->counting = all;
        for (uint32_t j = 0; boards->sections != NULL && j <= boards->mask && !counting; j++) {
            struct board_section *section = &boards->sections[j];
            if (section->key != 0 && !atomic_load(&section->board->off) &&
                (all || section->board->filling))
                section_begin(section, all);
        }
        pthread_mutex_unlock(&shard->lock);
    }
    if (all)
        atomic_store(&hot->boards.missed, false);
    filler->begun = true;
    filler->all = all;
    filler->position = hot->journal == NULL ? 0 : journal_appended(hot->journal);
}

/* What the visit of the store collects. */
struct candidates {
    struct hot_memory *hot;
    struct board_shard shards[LIMIT_SHARDS];
};

static enum status visit_count(void *context, const struct store_count *count)
{
    struct candidates *candidates = context;
    struct hot_memory *hot = candidates->hot;
    uint32_t key = board_key(count->item.type, count->name);
    if (atomic_load_explicit(&hot->boards.filler.stopping, memory_order_relaxed))
        return STATUS_STOPPING;
    if (!hot->boards.filler.all) {
        const struct board *board = boards_find(&hot->boards, key);
        if (board == NULL || !board->filling)
            return STATUS_OK;
    }
    uint64_t hash = item_hash_of(hot, count->item);
    board_note(&candidates->shards[hash >> SHARD_SHIFT], key, count->item.id, 0, count->value);
    return STATUS_OK;
}

static enum status put_section(struct hot_memory *hot, const struct board_section *section)
{
    struct board_counter counters[BOARD_ENTRIES];
    enum status status = STATUS_OK;
    for (uint32_t i = 0; i < section->count && status == STATUS_OK;) {
        uint32_t count = 0;
        for (; i < section->count && count < BOARD_ENTRIES; i++)
            counters[count++] = (struct board_counter){.id = board_entry(section, i).id,
                                                       .type = (uint16_t)(section->key >> 8),
                                                       .name = (uint8_t)section->key};
        status = put_present(hot, counters, count);
    }
    return status;
}

static enum status put_candidates(struct hot_memory *hot, const struct candidates *candidates)
{
    enum status status = STATUS_OK;
    for (uint32_t i = 0; i < LIMIT_SHARDS; i++) {
        const struct board_shard *shard = &candidates->shards[i];
        for (uint32_t j = 0; shard->sections != NULL && j <= shard->mask && status == STATUS_OK;
             j++) {
            if (atomic_load(&hot->boards.filler.stopping))
                status = STATUS_STOPPING;
            else if (shard->sections[j].key != 0)
                status = put_section(hot, &shard->sections[j]);
        }
    }
    return status;
}

/* Sets the floors of the candidates; the shard itself may not have a section of such a board yet. */
static void shard_finish(struct board_shard *boards, const struct board_shard *candidates)
{
    for (uint32_t i = 0;
         candidates != NULL && candidates->sections != NULL && i <= candidates->mask; i++) {
        const struct board_section *from = &candidates->sections[i];
        struct board_section *section =
            from->key != 0 && from->floored ? board_make(boards, from->key) : NULL;
        if (section != NULL)
            board_raise(boards, section, from->floor);
    }
    for (uint32_t i = 0; boards->sections != NULL && i <= boards->mask; i++) {
        struct board_section *section = &boards->sections[i];
        if (section->key == 0 || !section->filling)
            continue;
        section->filling = section->limited = false;
        atomic_store_explicit(&section->board->dirty, true, memory_order_relaxed);
    }
    boards->counting = false;
}

static void fill_finish(struct hot_memory *hot, const struct candidates *candidates)
{
    for (uint32_t i = 0; i < LIMIT_SHARDS; i++) {
        struct item_shard *shard = &hot->items[i];
        pthread_mutex_lock(&shard->lock);
        shard_finish(&shard->boards, candidates == NULL ? NULL : &candidates->shards[i]);
        pthread_mutex_unlock(&shard->lock);
    }
}

static enum status fill_from_store(struct hot_memory *hot)
{
    struct candidates *candidates = calloc(1, sizeof(*candidates));
    struct store_visitor visitor = {.count = visit_count, .context = candidates};
    if (candidates == NULL)
        return STATUS_NO_MEMORY;
    candidates->hot = hot;
    for (uint32_t i = 0; i < LIMIT_SHARDS; i++)
        board_shard_init(&candidates->shards[i], &hot->boards, false, true);
    enum status status = store_visit(hot->admin, &visitor);
    if (status == STATUS_OK)
        status = put_candidates(hot, candidates);
    if (status == STATUS_OK)
        fill_finish(hot, candidates);
    for (uint32_t i = 0; i < LIMIT_SHARDS; i++)
        board_shard_destroy(&candidates->shards[i]);
    free(candidates);
    return status;
}

struct row_walk {
    struct hot_memory *hot;
    struct board_shard *boards;
};

static void walk_row(void *context, struct slab *slab, uint32_t cell)
{
    struct row_walk *walk = context;
    const struct item_row *row = slab_at(slab, cell);
    struct hot_counter counters[LIMIT_NAMES];
    uint32_t count = item_read(row, counters);
    struct item item = item_of(row);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t key = board_key(item.type, counters[i].name);
        const struct board_section *section = board_find(walk->boards, key);
        if (walk->hot->boards.filler.all || (section != NULL && section->filling))
            board_put(walk->boards, key, item.id, counters[i].value);
    }
}

static enum status fill_from_memory(struct hot_memory *hot)
{
    for (uint32_t i = 0; i < LIMIT_SHARDS; i++) {
        struct item_shard *shard = &hot->items[i];
        struct row_walk walk = {hot, &shard->boards};
        uint32_t cursor = 0;
        do {
            pthread_mutex_lock(&shard->lock);
            cursor = table_visit_some(&shard->table, cursor, WALK_BUCKETS, walk_row, &walk);
            pthread_mutex_unlock(&shard->lock);
        } while (cursor != 0);
    }
    fill_finish(hot, NULL);
    return STATUS_OK;
}

/* A filling that failed, or did not give enough entries, is not repeated at once. */
static void fill_pause(struct boards_filler *filler, enum status status)
{
    if (status != STATUS_OK)
        log_warn("boards could not be counted: %s; trying again", status_sentence(status));
    filler->pause = filler->pause_next;
    filler->pause_next = filler->pause_next * 2 < PAUSE_MAX ? filler->pause_next * 2 : PAUSE_MAX;
}

static void fill(struct hot_memory *hot)
{
    struct boards_filler *filler = &hot->boards.filler;
    enum status status = hot->store == NULL ? fill_from_memory(hot) : fill_from_store(hot);
    if (status == STATUS_STOPPING)
        return;
    atomic_fetch_add_explicit(&filler->fills, 1, memory_order_relaxed);
    filler->begun = status != STATUS_OK;
    fill_pause(filler, status);
}

static void finish_loading(struct hot_memory *hot)
{
    enum status status = put_touched(hot);
    if (status == STATUS_OK)
        atomic_store(&hot->boards.loading, false);
    else if (status != STATUS_STOPPING)
        fill_pause(&hot->boards.filler, status);
}

/* Are all rows complete that were replayed at the start? */
static bool is_complete(struct hot_memory *hot)
{
    pthread_rwlock_rdlock(&hot->loads.base_lock);
    bool complete = hot->loads.base == NULL;
    pthread_rwlock_unlock(&hot->loads.base_lock);
    return complete;
}

static void round_run(struct hot_memory *hot)
{
    struct boards *boards = &hot->boards;
    struct boards_filler *filler = &boards->filler;
    if (!is_complete(hot))
        return;
    if (filler->pause > 0) {
        filler->pause--;
        return;
    }
    if (atomic_load(&boards->loading)) {
        finish_loading(hot);
        return;
    }
    if (!filler->begun) {
        bool all = boards_are_counting(hot);
        if (!all && !find_short(hot)) {
            filler->pause_next = BOARDS_PAUSE_MIN;
            return;
        }
        fill_begin(hot, all);
    }
    if (hot->store == NULL || atomic_load(&hot->loads.applied) >= filler->position)
        fill(hot);
}

void boards_round(struct hot_memory *hot)
{
    pthread_mutex_lock(&hot->boards.filler.round);
    round_run(hot);
    pthread_mutex_unlock(&hot->boards.filler.round);
}

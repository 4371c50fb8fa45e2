/*
 * Filling, and why its result is exact. It begins by taking the floor away from the parts concerned,
 * one shard after the other, each under its lock: from then on every change of one of their items is
 * noted. The position the journal has reached after that is A. Once the store has applied A, its
 * counters are visited, as of one moment, and the best of each shard are put aside as candidates,
 * with `floor0` the best of those that were not. Then each candidate's present value is read the way
 * COUNTS reads it, and put into the part; and last the part's floor becomes the better one of its own
 * and floor0. Now take any item whose present value is better than that floor:
 *
 *   - changed since the beginning: it noted itself then, and as the floor was never above it, it is
 *     still there with its present value
 *   - not changed since: the store had its value at A, so the visit saw the value it has now. That is
 *     better than floor0, so it was a candidate, and was put
 *
 * Nothing else is there with another value than its own: what was put is what the item had under the
 * lock of its shard, and later changes are noted. During all this the part answers for what is better
 * than its floor from before (`known`), for that it has all along.
 *
 * At a start without a file the parts are without a floor from the beginning, and everything that was
 * replayed is noted: they keep the floors they got since.
 *
 * Without a store all rows are in memory for good. They are walked instead, and put as they stand.
 */
#include "hot/memory/boards_fill.h"

#include <stdlib.h>

#include "base/assert.h"
#include "base/log.h"
#include "hot/memory/boards.h"
#include "hot/memory/hot_memory_priv.h"

#define WALK_BUCKETS 64  /* of a table walked under one lock */
#define PAUSE_MAX    600 /* rounds between two fillings */

static struct item item_of_place(struct board_place place)
{
    return (struct item){.id = place.id, .type = place.type};
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
 * Puts what the counters are now, up to LOAD_KEYS of them. What is not in memory is as the store
 * says, because nothing that changed since load_begin can have left memory (load.h).
 */
static enum status put_present(struct hot_memory *hot, const struct board_place *places,
                               size_t count)
{
    struct store_item items[LOAD_KEYS];
    struct store_values values = {0};
    ASSERT(count <= LOAD_KEYS);
    for (size_t i = 0; i < count; i++)
        items[i] = (struct store_item){.item = item_of_place(places[i])};
    load_begin(&hot->loads, LOAD_BOARDS);
    enum status status = store_read_items(hot->store, NULL, items, count, &values);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        uint64_t hash = item_hash_of(hot, items[i].item);
        struct item_shard *shard = item_shard_of(hot, hash);
        pthread_mutex_lock(&shard->lock);
        const struct item_row *row = item_find(shard, hash, items[i].item);
        ASSERT(row == NULL || !(row->flags & ITEM_PARTIAL));
        int64_t value = row != NULL ? item_value(row, places[i].name)
                                    : value_of(&items[i], &values, places[i].name);
        board_put(&shard->boards, board_key(places[i].type, places[i].name), places[i].id, value);
        pthread_mutex_unlock(&shard->lock);
    }
    load_end(&hot->loads, LOAD_BOARDS);
    free(values.values);
    return status;
}

/* After a start from a file. */
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

/* Does the board have too little? */
static bool is_short(struct hot_memory *hot, struct board *board, struct ranked *room)
{
    struct board_gathered gathered = {.entries = room};
    if (atomic_load(&board->off) || !atomic_exchange(&board->thin, false))
        return false;
    boards_gather(hot, board->key, &gathered);
    return gathered.floored && gathered.count < hot->boards.enough;
}

/* Which boards have to be filled? */
static bool find_short(struct hot_memory *hot)
{
    struct boards *boards = &hot->boards;
    struct ranked *room = malloc(LIMIT_SHARDS * BOARD_ENTRIES * sizeof(*room));
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

static void part_begin(struct board_part *part, bool all)
{
    part->limited = all || part->floored;
    part->known = all ? board_best() : part->floor;
    part->floored = false;
    part->filling = true;
}

/*
 * From here on the parts concerned note every change. One that is missed before `missed` is taken back
 * comes before the position, and so is in what the store will have.
 */
static void fill_begin(struct hot_memory *hot, bool all)
{
    struct boards_filler *filler = &hot->boards.filler;
    for (uint32_t i = 0; i < LIMIT_SHARDS; i++) {
        struct item_shard *shard = &hot->items[i];
        struct board_shard *boards = &shard->boards;
        pthread_mutex_lock(&shard->lock);
        bool counting = boards->counting; /* since the start, with floors of its own */
        boards->counting = all;
        for (uint32_t j = 0; boards->parts != NULL && j <= boards->mask && !counting; j++) {
            struct board_part *part = &boards->parts[j];
            if (part->key != 0 && !atomic_load(&part->board->off) && (all || part->board->filling))
                part_begin(part, all);
        }
        pthread_mutex_unlock(&shard->lock);
    }
    if (all)
        atomic_store(&hot->boards.missed, false);
    filler->begun = true;
    filler->all = all;
    filler->position = hot->journal == NULL ? 0 : journal_appended(hot->journal);
}

/* What the visit of the store gathers. */
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

static enum status put_part(struct hot_memory *hot, const struct board_part *part)
{
    struct board_place places[BOARD_ENTRIES];
    for (uint32_t i = 0; i < part->count; i++)
        places[i] = (struct board_place){.id = board_entry(part, i).id,
                                         .type = (uint16_t)(part->key >> 8),
                                         .name = (uint8_t)part->key};
    return part->count == 0 ? STATUS_OK : put_present(hot, places, part->count);
}

static enum status put_candidates(struct hot_memory *hot, const struct candidates *candidates)
{
    enum status status = STATUS_OK;
    for (uint32_t i = 0; i < LIMIT_SHARDS; i++) {
        const struct board_shard *shard = &candidates->shards[i];
        for (uint32_t j = 0; shard->parts != NULL && j <= shard->mask && status == STATUS_OK; j++) {
            if (atomic_load(&hot->boards.filler.stopping))
                status = STATUS_STOPPING;
            else if (shard->parts[j].key != 0)
                status = put_part(hot, &shard->parts[j]);
        }
    }
    return status;
}

/* Floors that only candidates have: the part of that board may be missing in the shard itself. */
static void shard_finish(struct board_shard *boards, const struct board_shard *candidates)
{
    for (uint32_t i = 0; candidates != NULL && candidates->parts != NULL && i <= candidates->mask;
         i++) {
        const struct board_part *from = &candidates->parts[i];
        struct board_part *part =
            from->key != 0 && from->floored ? board_make(boards, from->key) : NULL;
        if (part != NULL)
            board_raise(boards, part, from->floor);
    }
    for (uint32_t i = 0; boards->parts != NULL && i <= boards->mask; i++) {
        struct board_part *part = &boards->parts[i];
        if (part->key == 0 || !part->filling)
            continue;
        part->filling = part->limited = false;
        atomic_store_explicit(&part->board->dirty, true, memory_order_relaxed);
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
        const struct board_part *part = board_find(walk->boards, key);
        if (walk->hot->boards.filler.all || (part != NULL && part->filling))
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

/* What did not help, or failed, is not repeated at once. */
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

/* Are all rows complete that were replayed at start? */
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

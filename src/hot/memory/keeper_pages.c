/*
 * Why whole pages are emptied, and not single entries evicted: a freed cell can only be used for data of
 * the same size. A cache that has filled up with rows of one size would stay so for ever.
 *
 * Why relocation is limited: if all data in the chosen pages was used lately and therefore copied to other
 * pages, no memory would be gained. Half of it may be copied for this reason; data that is not clean is
 * always copied.
 */
#include "hot/memory/keeper_priv.h"

#define SIFT_CELLS      4096 /* free cells visited while the shard is locked once */
#define RETIRE_FRACTION 4    /* 1/4 of a shard's pages are emptied at a time */
#define ENTRY_BYTES     16   /* of an entry on a shelf, about */

static bool user_is_clean(const struct walk *walk, const struct user_row *row)
{
    for (const struct shelf *shelf = &row->first; shelf != NULL;
         shelf = user_next_shelf(walk->users, shelf))
        if (shelf->flags & SHELF_USED && shelf_stamp(&walk->users->slab, shelf) >= walk->clean)
            return false;
    return true;
}

static bool user_is_retiring(const struct walk *walk, const struct user_row *row, uint32_t cell)
{
    const struct slab *slab = &walk->users->slab;
    if (slab_is_retiring(slab, cell))
        return true;
    for (const struct shelf *shelf = &row->first; shelf != NULL;
         shelf = user_next_shelf(walk->users, shelf))
        if (shelf_is_retiring(slab, shelf) ||
            (shelf->next != 0 && slab_is_retiring(slab, shelf->next)))
            return true;
    return false;
}

bool keeper_may_spare(struct walk *walk, uint64_t bytes)
{
    if (walk->may_relocate < bytes)
        return false;
    walk->may_relocate -= bytes;
    return true;
}

static void retire_user(void *context, struct slab *slab, uint32_t cell)
{
    struct walk *walk = context;
    struct user_row *row = slab_at(slab, cell);
    bool idle = row->first.flags & SHELF_AGE;
    if (!idle)
        row->first.flags |= SHELF_AGE_ONE;
    if (!user_is_retiring(walk, row, cell))
        return;
    uint64_t hash = user_hash_of(walk->hot, user_of(row));
    bool clean = user_is_clean(walk, row);
    if ((!clean || (!idle && keeper_may_spare(walk, row->first.count * ENTRY_BYTES))) &&
        user_relocate(walk->users, hash, &cell)) {
        keeper_count(&walk->hot->keeper.stats.relocated, 1);
    } else if (clean) {
        user_evict(walk->users, hash, cell);
        keeper_count(&walk->hot->keeper.stats.evicted_users, 1);
    }
}

static void retire_item(void *context, struct slab *slab, uint32_t cell)
{
    struct walk *walk = context;
    struct item_row *row = slab_at(slab, cell);
    bool idle = row->flags & ITEM_AGE;
    if (!idle)
        row->flags |= ITEM_AGE_ONE;
    if (!slab_is_retiring(slab, cell))
        return;
    uint64_t hash = item_hash_of(walk->hot, item_of(row));
    bool clean = row->stamp < walk->clean &&
                 !(row->flags & ITEM_PARTIAL); /* boards need partial rows to be completed */
    if ((!clean || (!idle && keeper_may_spare(walk, ITEM_ROW_USUAL))) &&
        item_relocate(walk->items, hash, cell)) {
        keeper_count(&walk->hot->keeper.stats.relocated, 1);
    } else if (clean) {
        item_evict(walk->items, hash, cell);
        keeper_count(&walk->hot->keeper.stats.evicted_items, 1);
    }
}

static void keep_cell(void *context, struct slab *slab, uint32_t cell)
{
    (void)context;
    (void)slab;
    (void)cell;
}

/* Copies the other cells in the shard's retiring pages; a visit copies the cells of the table itself. */
static void relocate_rest(struct walk *walk)
{
    struct table *table;
    if (walk->users != NULL) {
        cleared_relocate(&walk->users->cleared);
        table = &walk->users->cleared.table;
    } else {
        tokens_relocate(&walk->items->tokens);
        table = &walk->items->tokens.table;
    }
    for (uint32_t cursor = 0;
         (cursor = table_visit_some(table, cursor, KEEPER_STEP_BUCKETS, keep_cell, NULL)) != 0;)
        continue;
}

/* One step of emptying pages, under the shard's lock; true: there is more to do. */
typedef bool retire_step(struct walk *walk, struct walk_shard *side);

static bool step_sift(struct walk *walk, struct walk_shard *side)
{
    (void)walk;
    return !slab_retire_sift(side->slab, SIFT_CELLS);
}

static bool step_visit(struct walk *walk, struct walk_shard *side)
{
    walk->clean = loads_clean(&walk->hot->loads);
    walk->cursor = table_visit_some(side->table, walk->cursor, KEEPER_STEP_BUCKETS,
                                    walk->users != NULL ? retire_user : retire_item, walk);
    return walk->cursor != 0;
}

/* The tables of comments, one after the other. */
static bool step_subjects(struct walk *walk, struct walk_shard *side)
{
    (void)side;
    return walk->items != NULL && keeper_retire_comments(walk, 0);
}

static bool step_comments(struct walk *walk, struct walk_shard *side)
{
    (void)side;
    return walk->items != NULL && keeper_retire_comments(walk, 1);
}

static bool step_changed(struct walk *walk, struct walk_shard *side)
{
    (void)side;
    return walk->items != NULL && keeper_retire_comments(walk, 2);
}

/* Ends the emptying and counts the pages that were gained, less those that were taken for copies. */
static bool step_end(struct walk *walk, struct walk_shard *side)
{
    relocate_rest(walk);
    walk->emptied = slab_retire_left(side->slab) == 0;
    if (walk->emptied)
        slab_retire_end(side->slab);
    else
        slab_retire_cancel(side->slab);
    uint32_t taken = side->slab->taken;
    if (walk->emptied && walk->pages > taken)
        keeper_count(&walk->hot->keeper.stats.pages, walk->pages - taken);
    return false;
}

/* Empties so many of a shard's pages, or fewer if it has fewer; false: there was no room for copies. */
static bool retire_pages(struct walk *walk, struct walk_shard *side, uint32_t pages, bool moving)
{
    static retire_step *const steps[] = {step_sift,     step_visit,   step_subjects,
                                         step_comments, step_changed, step_end};
    pthread_mutex_lock(side->lock);
    side->slab->moving = moving;
    walk->pages = slab_retire_begin(side->slab, pages);
    side->slab->moving = false;
    pthread_mutex_unlock(side->lock);
    if (walk->pages == 0)
        return true;
    walk->cursor = 0;
    walk->may_relocate = moving ? 0 : (uint64_t)walk->pages * SLAB_PAGE_BYTES / 2;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        bool more = true;
        while (more) {
            pthread_mutex_lock(side->lock);
            side->slab->moving = moving;
            more = steps[i](walk, side);
            side->slab->moving = false;
            pthread_mutex_unlock(side->lock);
        }
    }
    return walk->emptied;
}

/* Does the shard have so many free cells that one page less would be enough? */
static bool has_idle_page(struct walk_shard *side)
{
    pthread_mutex_lock(side->lock);
    bool has = slab_idle_bytes(side->slab) >= SLAB_PAGE_BYTES;
    pthread_mutex_unlock(side->lock);
    return has;
}

/*
 * Empties some of a shard's pages. If memory is used up, there may be no room to copy what cannot be
 * evicted, even if these are only a few cells. Then only one page is emptied, with the help of pages that
 * are reserved for this. It frees at least as many pages as it takes, so the reserve is never used up.
 */
void keeper_empty_pages(struct walk *walk)
{
    struct walk_shard side = walk_shard_of(walk);
    pthread_mutex_lock(side.lock);
    uint32_t pages = side.slab->page_count / RETIRE_FRACTION + 1;
    pthread_mutex_unlock(side.lock);
    if (!retire_pages(walk, &side, pages, false) && has_idle_page(&side))
        (void)retire_pages(walk, &side, 1, true);
}

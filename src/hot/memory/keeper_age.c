/* Evicts data by age, even if there is enough memory: unused items, and the old ends of shelves. */
#include "hot/memory/keeper_priv.h"

/* Evicts an item that was not used for the last rounds; otherwise makes it one round older. */
static void age_item(void *context, struct slab *slab, uint32_t cell)
{
    struct walk *walk = context;
    struct item_row *row = slab_at(slab, cell);
    if ((row->flags & ITEM_AGE) != ITEM_AGE)
        row->flags += ITEM_AGE_ONE;
    if ((row->flags & ITEM_AGE) != ITEM_AGE || row->stamp >= walk->clean ||
        row->flags & ITEM_PARTIAL)
        return;
    item_evict(walk->items, item_hash_of(walk->hot, item_of(row)), cell);
    keeper_count(&walk->hot->keeper.stats.expired_items, 1);
}

/* Evicts the end of a shelf that is too old, or too long because it was not clean when it grew. */
static void trim_shelf(struct walk *walk, struct user_row *row, struct shelf *shelf)
{
    const struct hot_memory *hot = walk->hot;
    uint32_t oldest_s = walk->now_s > hot->shelf_age_s ? walk->now_s - hot->shelf_age_s : 0;
    uint32_t gone = shelf_cut(&walk->users->slab, shelf, hot->shelf_max, oldest_s, walk->clean);
    walk->users->reactions -= gone;
    if (gone > 0)
        shelf->flags |= SHELF_INCOMPLETE;
    if (shelf->count > hot->shelf_max)
        walk->users->long_shelves = true; /* some entries are not clean yet */
    if (shelf->count == 0)
        user_retire_shelf(walk->users, row, shelf);
}

static void trim_user(void *context, struct slab *slab, uint32_t cell)
{
    struct walk *walk = context;
    struct user_row *row = slab_at(slab, cell);
    struct shelf *shelf = &row->first;
    do {
        struct shelf *next = user_next_shelf(walk->users, shelf);
        if (shelf->flags & SHELF_USED && !(shelf->flags & SHELF_WARM))
            trim_shelf(walk, row, shelf);
        shelf = next;
    } while (shelf != NULL);
    if (!(row->first.flags & SHELF_USED) && row->first.next == 0)
        user_evict(walk->users, user_hash_of(walk->hot, user_of(row)), cell);
}

/* Visits all rows of a shard, in small steps. */
static void visit_shard(struct hot_memory *hot, uint32_t shard, uint32_t now_s,
                        table_visit_some_fn *visit)
{
    struct walk walk = walk_of(hot, shard, now_s);
    struct walk_shard side = walk_shard_of(&walk);
    uint32_t cursor = 0;
    do {
        pthread_mutex_lock(side.lock);
        walk.clean = loads_clean(&hot->loads);
        cursor = table_visit_some(side.table, cursor, KEEPER_STEP_BUCKETS, visit, &walk);
        pthread_mutex_unlock(side.lock);
    } while (cursor != 0);
}

void keeper_age_items(struct hot_memory *hot, uint32_t now_s)
{
    for (uint32_t i = 0; i < LIMIT_SHARDS; i++)
        visit_shard(hot, 2 * i + 1, now_s, age_item);
}

/* Visits all shards, or only those where a shelf may be too long. */
void keeper_trim_users(struct hot_memory *hot, uint32_t now_s, bool all)
{
    for (uint32_t i = 0; i < LIMIT_SHARDS; i++) {
        struct user_shard *users = &hot->users[i];
        pthread_mutex_lock(&users->lock);
        bool wanted = all || users->long_shelves;
        users->long_shelves = false;
        pthread_mutex_unlock(&users->lock);
        if (wanted)
            visit_shard(hot, 2 * i, now_s, trim_user);
    }
}

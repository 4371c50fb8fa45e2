/*
 * What the files of the keeper share: a walk through one shard, of users or of items. Only the keeper's
 * thread walks (in tests, the one thread that plays its part).
 */
#ifndef LAUD_HOT_MEMORY_KEEPER_PRIV_H
#define LAUD_HOT_MEMORY_KEEPER_PRIV_H

#include "hot/memory/hot_memory_priv.h"

#define KEEPER_STEP_BUCKETS 64                 /* of a table walked under one lock */
#define KEEPER_SHARDS       (2 * LIMIT_SHARDS) /* even numbers: users, odd ones: items */

/* One walk through one shard. */
struct walk {
    struct hot_memory *hot;
    struct user_shard *users; /* one of the two */
    struct item_shard *items;
    uint32_t clean;
    uint32_t now_s;
    uint64_t may_move; /* bytes that may move although they could go */
    uint32_t pages;    /* that are being emptied */
    uint32_t cursor;   /* how far the table has been walked for that */
    bool emptied;      /* they were */
};

/* The shard of a walk, whichever it is. */
struct walk_shard {
    pthread_mutex_t *lock;
    struct slab *slab;
    struct table *table;
};

static inline struct walk_shard walk_shard_of(const struct walk *walk)
{
    if (walk->users != NULL)
        return (struct walk_shard){&walk->users->lock, &walk->users->slab, &walk->users->table};
    return (struct walk_shard){&walk->items->lock, &walk->items->slab, &walk->items->table};
}

static inline struct walk walk_of(struct hot_memory *hot, uint32_t shard, uint32_t now_s)
{
    return (struct walk){
        .hot = hot,
        .users = shard % 2 == 0 ? &hot->users[shard / 2] : NULL,
        .items = shard % 2 == 0 ? NULL : &hot->items[shard / 2],
        .now_s = now_s,
        .clean = loads_clean(&hot->loads),
    };
}

static inline void keeper_count(_Atomic uint64_t *counter, uint64_t by)
{
    atomic_fetch_add_explicit(counter, by, memory_order_relaxed);
}

/* keeper_pages.c: empties some of a shard's pages. */
void keeper_empty_pages(struct walk *walk);

/*
 * keeper_age.c: evicts rows of items that nobody used for a while; the ends of shelves that are too old
 * or too long, in all shards or only where a shelf is known to be too long.
 */
void keeper_age_items(struct hot_memory *hot, uint32_t now_s);
void keeper_trim_users(struct hot_memory *hot, uint32_t now_s, bool all);

#endif

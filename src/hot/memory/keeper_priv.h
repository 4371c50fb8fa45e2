/*
 * What the files of the keeper share: a walk through one shard, of users or of items. Only the keeper's
 * thread does this (in tests, the one thread that calls keeper_round).
 */
#ifndef LAUD_HOT_MEMORY_KEEPER_PRIV_H
#define LAUD_HOT_MEMORY_KEEPER_PRIV_H

#include "hot/memory/hot_memory_priv.h"

#define KEEPER_STEP_BUCKETS 64                 /* visited while the shard is locked once */
#define KEEPER_SHARDS       (2 * LIMIT_SHARDS) /* even numbers: users, odd numbers: items */

/* One walk through one shard. */
struct walk {
    struct hot_memory *hot;
    struct user_shard *users; /* NULL if it is a shard of items */
    struct item_shard *items; /* NULL if it is a shard of users */
    uint32_t clean;           /* stamps below this are clean */
    uint64_t clean_position;  /* the same for exact positions */
    uint32_t now_s;
    uint64_t may_relocate; /* bytes that may still be copied although they could be evicted */
    uint32_t pages;        /* how many pages are being emptied */
    uint32_t cursor;       /* how far the table has been visited for this */
    bool emptied;          /* all of these pages were emptied */
};

/* What user shards and item shards have in common. */
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
/* May data that was used lately be copied instead of evicted? */
bool keeper_may_spare(struct walk *walk, uint64_t bytes);

/*
 * comment_keep.c: the first function keeps comments within their share of memory. The second one is a step of
 * emptying pages of an item shard, under its lock: it visits some rows of subjects (table 0), comments (1) or
 * changed comments (2); true: there is more to do.
 */
void keeper_keep_comments(struct hot_memory *hot);
bool keeper_retire_comments(struct walk *walk, unsigned table);

/*
 * keeper_age.c: the first function evicts rows of items that were not used for a while. The second one
 * evicts the ends of shelves that are too old or too long; if not `all`, only in shards where a shelf may
 * be too long.
 */
void keeper_age_items(struct hot_memory *hot, uint32_t now_s);
void keeper_trim_users(struct hot_memory *hot, uint32_t now_s, bool all);

#endif

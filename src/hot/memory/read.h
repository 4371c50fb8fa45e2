/*
 * Reading for ASK, COUNTS and FEED: first the user's reactions on all items of the request, then the
 * counters of each item. This header is shared by the files read_*.c.
 *
 * A thread that is not a worker gives LOAD_NOBODY as `worker`. Then nothing waits, and the status is
 * BLOCKED if only the store has the answer.
 */
#ifndef LAUD_HOT_MEMORY_READ_H
#define LAUD_HOT_MEMORY_READ_H

#include "hot/memory/hot_memory_priv.h"
#include "hot/memory/item_probe.h"

#define LOOKUP_ALL_KINDS (-1)
#define ITEM_GROUP       32 /* rows prefetched at a time */

/* A reaction whose state only the store has. */
struct unknown {
    uint32_t item; /* index in the request */
    uint8_t kind;
};

struct shelf_index;

/* Finds which reactions one user has on the items of one request. */
struct lookup {
    struct hot_memory *hot;
    struct user_shard *users;
    struct user_row *row; /* valid while the shard is locked; NULL: the user has no row */
    struct hot_request *request;
    uint64_t user_hash;
    int kind;                  /* LOOKUP_ALL_KINDS, or the kind of the request */
    const struct shelf *shelf; /* the shelf that is being searched */
    uint32_t shelf_count;      /* how many shelves the user has, in use or not */
    struct shelf_index *index; /* of these shelves; NULL: there are only a few */
    struct unknown *unknown;   /* only for workers: the reactions to read from the store */
    size_t unknown_count;
    size_t unknown_capacity;
    bool shared; /* other workers are reading some of these reactions */
    struct item_probe probe;
};

/*
 * read_shelves.c: adds the reactions on the user's shelves to the answers, either all of them or those of
 * one kind. The shard is locked, and the user has a row.
 */
void lookup_walk_shelves(struct lookup *lookup);

/*
 * read_unknown.c: finds the reactions whose state only the store has. Called after lookup_walk_shelves,
 * with the shard locked. Returns OK; BLOCKED if there are any and the caller may not wait; or NO_MEMORY.
 */
enum status lookup_find_unknown(struct lookup *lookup, bool may_wait);

/* read_user.c: sets the kinds of all answers. OK, BLOCKED, NO_MEMORY or an error of the store. */
enum status read_user(struct hot_memory *hot, struct hot_request *request, struct hot_trail trail,
                      int kind, unsigned worker);

/* Items of a request whose rows are being prefetched. */
struct item_group {
    uint32_t from;
    uint32_t count;
    uint64_t hashes[ITEM_GROUP];
    const struct table_bucket *buckets[ITEM_GROUP];
};

/* read_items.c: prefetch a group of items. The second function also prefetches the user's row. */
void item_group_fetch(struct hot_memory *hot, const struct hot_request *request, uint32_t from,
                      struct item_group *group);
void item_group_fetch_with_user(struct hot_memory *hot, const struct hot_request *request,
                                struct hot_trail trail, struct item_group *group);

/*
 * Reads the counters of all items and sets the request's status. The first group was prefetched by the
 * caller. False: the request needs a worker, and nothing was appended to the scratch.
 */
bool read_all_items(struct hot_memory *hot, struct hot_request *request, struct item_group *group,
                    struct hot_scratch *scratch, unsigned worker);

#endif

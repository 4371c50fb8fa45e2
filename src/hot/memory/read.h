/*
 * Reading for ASK, COUNTS and FEED: the user's reactions once for the whole request, then the counters
 * of each item. This is what the files read_*.c share.
 *
 * Whoever is no worker gives LOAD_NOBODY for `worker`; then nothing waits, and what only the store can
 * answer is BLOCKED.
 */
#ifndef LAUD_HOT_MEMORY_READ_H
#define LAUD_HOT_MEMORY_READ_H

#include "hot/memory/hot_memory_priv.h"

#define LOOKUP_ALL_KINDS (-1)
#define PROBE_HEADS      4096
#define ITEM_GROUP       32 /* rows prefetched at a time */

_Static_assert(PROBE_HEADS >= 4 * LIMIT_ITEMS, "probes mostly hit an empty head");

/* A reaction that only the store can tell about. */
struct unknown {
    uint32_t item; /* index in the request */
    uint8_t kind;
};

struct shelf_index;

/* Reading what one user has on the items of one request. */
struct lookup {
    struct hot_memory *hot;
    struct user_shard *users;
    struct user_row *row; /* while the shard is locked; NULL: there is none */
    struct hot_request *request;
    uint64_t user_hash;
    int kind;                  /* LOOKUP_ALL_KINDS, or the one asked for */
    const struct shelf *shelf; /* the one being looked through */
    uint32_t shelf_count;      /* how many the user has, used or not */
    struct shelf_index *index; /* of those; NULL: they are few */
    struct unknown *unknown;   /* a worker's: what to ask the store */
    size_t unknown_count;
    size_t unknown_capacity;
    bool shared; /* some of that was left to other workers */
    uint64_t probe_factor;
    uint32_t probe_shift;
    uint16_t probe_heads[PROBE_HEADS]; /* 1 + index of an item, 0: none */
    uint16_t probe_next[LIMIT_ITEMS];
};

/*
 * read_shelves.c: adds to the answers what is on the user's shelves, all of them or those of one kind.
 * The shard is locked, and there is a row.
 */
void lookup_walk_shelves(struct lookup *lookup);

/*
 * read_unknown.c: finds what only the store can tell about, after the shelves. The shard is locked. OK;
 * BLOCKED: there is something, and the caller may not wait; NO_MEMORY.
 */
enum status lookup_find_unknown(struct lookup *lookup, bool may_wait);

/* read_user.c: fills the kinds of all answers. OK, BLOCKED, NO_MEMORY or what the store said. */
enum status read_user(struct hot_memory *hot, struct hot_request *request, struct hot_trail trail,
                      int kind, unsigned worker);

/* Items of a request whose rows are being prefetched. */
struct item_group {
    uint32_t from;
    uint32_t count;
    uint64_t hashes[ITEM_GROUP];
    const struct table_bucket *buckets[ITEM_GROUP];
};

/* read_items.c: prefetches a group; the second one also the user's row, at the same time. */
void item_group_fetch(struct hot_memory *hot, const struct hot_request *request, uint32_t from,
                      struct item_group *group);
void item_group_fetch_with_user(struct hot_memory *hot, const struct hot_request *request,
                                struct hot_trail trail, struct item_group *group);

/*
 * Reads the counters of all items; the first group is fetched already. Sets the request's status.
 * False: it needs a worker, and nothing was appended to the scratch.
 */
bool read_all_items(struct hot_memory *hot, struct hot_request *request, struct item_group *group,
                    struct hot_scratch *scratch, unsigned worker);

#endif

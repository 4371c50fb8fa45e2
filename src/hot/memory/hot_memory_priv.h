/*
 * What the files of the hot tier in memory share. Order of locks: a user shard, an item shard, then the
 * locks inside the journal. No thread holds two user shards or two item shards at the same time, and no
 * thread holds a shard while it reads the store.
 */
#ifndef LAUD_HOT_MEMORY_PRIV_H
#define LAUD_HOT_MEMORY_PRIV_H

#include <stdatomic.h>

#include "base/assert.h"
#include "base/gene.h"
#include "base/limits.h"
#include "base/slab.h"
#include "hot/memory/admission.h"
#include "hot/memory/bans.h"
#include "hot/memory/boards.h"
#include "hot/memory/clean.h"
#include "hot/memory/comment_feed.h"
#include "hot/memory/comment_heads.h"
#include "hot/memory/comment_tier.h"
#include "hot/memory/hot_memory.h"
#include "hot/memory/items.h"
#include "hot/memory/keeper.h"
#include "hot/memory/load.h"
#include "hot/memory/repeats.h"
#include "hot/memory/users.h"
#include "hot/pool.h"
#include "query/removal_progress.h"

#define HOT_MEMORY_MAGIC 0x686f7421U
#define HOT_ITEM_SEED    0x9ddfea08eb382d69ULL /* so that items and users have different hashes */
#define SEEN_LOCKS       64
#define WARM_MAX         64 /* reactions on one warm shelf */

struct hot_memory {
    struct hot hot;
    uint32_t magic;
    uint32_t shelf_max;
    uint32_t shelf_age_s;
    uint32_t item_ttl_s;
    uint32_t token_ttl_s;
    uint64_t token_max;
    uint64_t token_found_max; /* how many tokens of earlier runs a start accepts */
    uint64_t seed;
    scan_fn *scan;
    struct store_reader *store; /* NULL: there is no store, and everything is in memory */
    struct store_admin *admin;  /* of the same store */
    struct filters *filters;    /* asked before the store */
    struct journal *journal;    /* NULL while replaying */
    const struct exclusive *exclusive;
    struct slab_pool *pool;
    struct memory_budget *budget;
    uint32_t replay_stamp; /* of the events being replayed */
    uint64_t replay_position;
    hot_reach_fn *reach; /* NULL: there is no projector */
    void *reach_context;
    hot_trend_fn *trend; /* NULL: windowed boards are not kept */
    void *trend_context;
    struct timeline *timeline; /* NULL: recorded times are those of the clock */

    _Alignas(64) _Atomic uint64_t token_count; /* in all shards, including reserved tokens */
    _Atomic uint32_t token_expired_s;          /* when old tokens of all shards were last removed */
    _Atomic uint64_t kinds[4];                 /* all kinds that exist, as a kind_set */
    _Atomic uint32_t floor_s; /* the earliest time of the next decision; only grows */
    _Atomic bool refused;     /* without a store: the last change was refused for lack of memory */

    struct admission admission;
    struct pool workers;                    /* they run submissions */
    struct hot_pacer pacers[LIMIT_WORKERS]; /* by the number of the worker */

    struct loads loads;
    struct keeper keeper;
    struct removal_progress removals;
    struct boards boards;
    bool without_boards;

    struct comment_tier comments;
    const struct comment_policy *policy; /* never NULL */
    _Atomic uint64_t comments_end; /* position after the newest event about comments, or later */
    _Atomic uint64_t erased_end;   /* the same for events that have removed a text */
    struct bans bans;
    struct repeats repeats;
    struct heads *heads;                    /* NULL: there is no store */
    pthread_mutex_t seen_locks[SEEN_LOCKS]; /* see comment_users.c */
    struct user_shard users[LIMIT_SHARDS];
    struct item_shard items[LIMIT_SHARDS];
    struct comment_feeds feeds[LIMIT_SHARDS]; /* each under the lock of the shard of items */
};

/* The hashes of one request or event, computed once. */
struct hot_trail {
    uint64_t user;
    uint64_t item; /* of the first item */
};

/*
 * Notes whether a change was refused for lack of memory. Without a store, readiness depends on this
 * note: even if no further page can be allocated, pages in use may still have room.
 */
static inline void hot_note_room(struct hot_memory *hot, enum status status, bool changed)
{
    bool refused = status == STATUS_NO_MEMORY;
    if (hot->store == NULL && (refused || changed) &&
        refused != atomic_load_explicit(&hot->refused, memory_order_relaxed))
        atomic_store_explicit(&hot->refused, refused, memory_order_relaxed);
}

static inline struct hot_memory *hot_memory_of(struct hot *hot)
{
    struct hot_memory *memory = (struct hot_memory *)hot;
    CHECK_MAGIC(memory, HOT_MEMORY_MAGIC);
    return memory;
}

#define SHARD_BITS  __builtin_ctz(LIMIT_SHARDS)
#define SHARD_SHIFT (64 - SHARD_BITS)

static inline struct user_shard *user_shard_of(struct hot_memory *hot, uint64_t hash)
{
    return &hot->users[hash >> SHARD_SHIFT];
}

static inline struct item_shard *item_shard_of(struct hot_memory *hot, uint64_t hash)
{
    return &hot->items[hash >> SHARD_SHIFT];
}

static inline struct comment_feeds *comment_feeds_of(struct hot_memory *hot, uint64_t hash)
{
    return &hot->feeds[hash >> SHARD_SHIFT];
}

static inline uint64_t user_hash_of(const struct hot_memory *hot, struct id user)
{
    return id_hash(user, hot->seed);
}

/* The index of the type `comment`; POLICY_NO_TYPE: there is none. */
static inline uint16_t comment_type_of(const struct hot_memory *hot)
{
    return atomic_load_explicit(&hot->policy->type, memory_order_relaxed);
}

/*
 * The upper bits are the item's shard, which is made from its gene, so that items with the same gene share
 * a shard. All other bits are a seeded hash for the tables of the shard, which use the lower half.
 */
static inline uint64_t item_hash_of(const struct hot_memory *hot, struct item item)
{
    uint32_t own = comment_item_gene(item, comment_type_of(hot));
    uint64_t shard = gene_shard(own, hot->seed, SHARD_BITS);
    return item_hash(item, hot->seed ^ HOT_ITEM_SEED) >> SHARD_BITS | shard << SHARD_SHIFT;
}

/* The key of a reaction for load_claim. */
static inline uint64_t claim_of(const struct hot_memory *hot, uint64_t user_hash, struct item item,
                                uint8_t kind)
{
    return hash_3(user_hash, item_hash(item, hot->seed), kind);
}

/* Returns what a filter said, and counts if it said no. `denied` belongs to a shard that is locked. */
static inline bool filter_said(uint64_t *denied, bool maybe)
{
    *denied += !maybe;
    return maybe;
}

/*
 * Run SET, CLEAR and ADD. They return what the request has to wait for; if that is NEED_NOTHING, its
 * status and value are set. `reads` is what a worker has read from the store for this request; NULL on an
 * I/O thread.
 */
enum hot_need hot_memory_set(struct hot_memory *hot, struct hot_request *request,
                             struct hot_trail trail, const struct hot_reads *reads);
enum hot_need hot_memory_clear(struct hot_memory *hot, struct hot_request *request,
                               struct hot_trail trail, const struct hot_reads *reads);
enum hot_need hot_memory_add(struct hot_memory *hot, struct hot_request *request,
                             struct hot_trail trail);

/*
 * Tokens of additions and comments, under the lock of the item's shard. hot_memory_token_value: what a repeated
 * write answers; 0: there is no such token with a value. A reserved cell is given to tokens_add, or released.
 * TOKENS_FULL: the caller may call hot_memory_expire_all, without a lock, and try again if it returns true.
 */
uint64_t hot_memory_token_value(struct hot_memory *hot, struct item_shard *shard,
                                const uint64_t token[2], uint32_t time_s);
enum status hot_memory_token_reserve(struct hot_memory *hot, struct item_shard *shard,
                                     const uint64_t token[2], uint64_t value, uint32_t *cell);
void hot_memory_token_release(struct hot_memory *hot, struct item_shard *shard, uint64_t value,
                              uint32_t cell);
enum status hot_memory_token_replay(struct hot_memory *hot, struct item_shard *shard,
                                    const uint64_t token[2], uint32_t time_s, uint64_t value);
/* Removes expired tokens in all shards. False if this was already done in this second. */
bool hot_memory_expire_all(struct hot_memory *hot, uint32_t time_s);

/* Sets how many tokens there may be. hot->store must be set before. */
void hot_memory_bound_tokens(struct hot_memory *hot, uint64_t most, uint64_t bytes);
/* Removes expired tokens in all shards, so that they go also if there are no further additions. */
void hot_memory_expire_tokens(struct hot_memory *hot, uint32_t now_s);

/*
 * The time of a decision, which is not earlier than that of any decision before it. Called under the lock
 * of the user's shard or, for an addition, of the item's shard.
 */
static inline uint32_t hot_memory_time(struct hot_memory *hot, uint32_t time_s)
{
    uint32_t floor = atomic_load_explicit(&hot->floor_s, memory_order_relaxed);
    while (time_s > floor && !atomic_compare_exchange_weak(&hot->floor_s, &floor, time_s))
        continue;
    return time_s > floor ? time_s : floor;
}

/* An event about comments ends at this position. Whoever has appended one calls this before the reply. */
static inline void hot_memory_note_comment(struct hot_memory *hot, uint64_t position)
{
    uint64_t end = atomic_load(&hot->comments_end);
    while (position > end && !atomic_compare_exchange_weak(&hot->comments_end, &end, position))
        continue;
}

/* The same for an event that has removed a text (hot_memory_erased). */
static inline void hot_memory_note_erased(struct hot_memory *hot, uint64_t position)
{
    uint64_t end = atomic_load(&hot->erased_end);
    while (position > end && !atomic_compare_exchange_weak(&hot->erased_end, &end, position))
        continue;
}

/* Lists the reactions whose old state a SET or CLEAR may need. */
void hot_memory_keys(const struct hot_memory *hot, const struct hot_request *request,
                     struct hot_reads *reads);

/* Replay of one event. */
enum status hot_memory_apply_set(struct hot_memory *hot, const struct event *event,
                                 struct hot_trail trail);
enum status hot_memory_apply_clear(struct hot_memory *hot, const struct event *event,
                                   struct hot_trail trail);
enum status hot_memory_apply_add(struct hot_memory *hot, const struct event *event,
                                 struct hot_trail trail, uint32_t now_s);
/* In comment_users.c: empties the inbox of a user and lifts a ban, for FORGET. Only workers may call it. */
enum status hot_memory_forget_user(struct hot_memory *hot, unsigned worker, struct id user,
                                   uint32_t time_s, int64_t *value);

/* In comment_users.c: of COMMENT_EVENT_BAN, SEEN and INBOX. */
enum status hot_memory_apply_user(struct hot_memory *hot, const struct event *event,
                                  uint32_t now_s);
/* In comment_apply.c. The body of the event is valid only during the call. */
enum status hot_memory_apply_comment(struct hot_memory *hot, const struct event *event,
                                     struct hot_trail trail, uint32_t now_s);

/*
 * Runs a request of one action. A worker gives its number and may wait; an I/O thread gives
 * LOAD_NOBODY. Returns false if the caller is an I/O thread and the request needs the store, or memory
 * that only the keeper can free; then nothing has changed. An action that needs a store is called only
 * if there is one.
 */
typedef bool hot_action_fn(struct hot_memory *hot, struct hot_request *request,
                           struct hot_trail trail, struct hot_scratch *scratch, unsigned worker);

hot_action_fn hot_memory_ask;     /* read.c */
hot_action_fn hot_memory_counts;  /* read.c */
hot_action_fn hot_memory_feed;    /* read.c */
hot_action_fn hot_memory_top;     /* top.c */
hot_action_fn hot_memory_ban;     /* comment_users.c */
hot_action_fn hot_memory_seen;    /* comment_users.c */
hot_action_fn hot_memory_comment; /* comment_run.c */

/* run.c: hot_try. */
size_t hot_memory_try(struct hot *hot, struct hot_request *requests, size_t count,
                      struct hot_scratch *scratch);

/* Has the store brought to a position: OK, LAGGING (not in time) or STORE_FAILED (never). May wait. */
static inline enum status hot_memory_reach(struct hot_memory *hot, uint64_t position,
                                           unsigned timeout_ms)
{
    enum status status =
        hot->reach != NULL ? hot->reach(hot->reach_context, position, timeout_ms) : STATUS_LAGGING;
    return status == STATUS_LAGGING && atomic_load(&hot->admission.store_failed)
               ? STATUS_STORE_FAILED
               : status;
}

/*
 * Puts a reaction that was read from the store on a warm shelf, if there is memory for it. Called under
 * the lock of the user's shard.
 */
void hot_memory_warm(struct hot_memory *hot, struct user_shard *shard, uint64_t hash,
                     struct id user, uint8_t kind, struct item item, uint32_t time_s);

/*
 * dump.c: visits all reactions that are set and all counters, in no order, and locks one shard at a time.
 * For tests and tools.
 */
struct hot_memory_visitor {
    void (*reaction)(void *context, struct id user, uint8_t kind, struct item item,
                     uint32_t time_s); /* those on shelves, newest chunk first */
    void (*counter)(void *context, struct item item, uint8_t name, int64_t value);
    void *context;
};
void hot_memory_dump(struct hot *hot, const struct hot_memory_visitor *visitor);

#endif

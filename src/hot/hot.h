/*
 * The hot tier port: what decides and what serves. Requests come in batches, are run in order and
 * carry their answers back. Every write is decided in one atomic step beside the user's own state,
 * and the same step appends its event to the journal (law 1); what it answers may be told to the
 * client once the journal has released the position it reached.
 *
 * Any thread may run any request. The caller has passed journal_admit for the batch if any of it
 * writes. Time is the caller's (time_s), as it is to be recorded (time/timeline.h). Two implementations: memory/ and, in the cluster shape,
 * Redis scripts.
 */
#ifndef LAUD_HOT_HOT_H
#define LAUD_HOT_HOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "base/ranked.h"
#include "base/status.h"
#include "store/store.h"
#include "time/timeline.h"

enum hot_action {
    HOT_SET,    /* user, name (kind), items[0] → value: 1 changed, 0 already so */
    HOT_CLEAR,  /* likewise */
    HOT_ADD,    /* items[0], name (counter), delta, token → value: the new value */
    HOT_ASK,    /* user, name (kind), items → answers[].kinds has that kind's bit or not */
    HOT_COUNTS, /* items → answers[].first, count */
    HOT_FEED,   /* user, items → all of answers[] */
    /* Lists, newest first: what comes behind `after`, up to `limit` → first, count, more */
    HOT_LIST_REACTIONS, /* user, name (kind), type → ids of items */
    HOT_LIST_REACTORS,  /* items[0], name (kind) → users */
    HOT_FRIENDS, /* user, follow (kind), type (of users), items[0], name → users; no after */
    /* Removing, up to `limit` → value: how many; more: there may be others. They need a worker */
    HOT_FORGET, /* user, leave: all reactions of the user */
    HOT_DROP,   /* items[0], leave: all reactions on the item, then its counters */
    /* user, since_s, until_s, after, limit → first, count, more; until_s and after to go on with */
    HOT_CHANGES,
    HOT_TOP,   /* type, name, window, limit → first, count: scratch->ranked, best first */
    HOT_NAMES, /* → nothing: the caller has the names themselves */
};

/* A set of kinds, by index in the table of names. */
struct kind_set {
    uint64_t bits[4];
};

static inline bool kind_set_has(const struct kind_set *set, uint8_t kind)
{
    return set->bits[kind >> 6] >> (kind & 63) & 1;
}

static inline void kind_set_add(struct kind_set *set, uint8_t kind)
{
    set->bits[kind >> 6] |= 1ULL << (kind & 63);
}

static inline void kind_set_remove(struct kind_set *set, uint8_t kind)
{
    set->bits[kind >> 6] &= ~(1ULL << (kind & 63));
}

struct hot_counter {
    int64_t value;
    uint8_t name;
};

struct hot_answer {
    struct kind_set kinds; /* FEED: the user's live kinds on the item; ASK: only the one asked */
    uint32_t first; /* the item's counters, none 0: scratch->counters[first … first + count) */
    uint32_t count;
};

/*
 * Room for answers, owned by the calling thread and used for a whole batch: `counters` grows as
 * needed (realloc) and is reused, and so do `listed` and `ranked`; the caller sets all `used` to 0
 * between batches.
 */
struct hot_scratch {
    struct timeline *timeline; /* tells the times to show for those in `listed`; NULL: the same */
    struct hot_counter *counters;
    uint32_t used;
    uint32_t capacity;
    uint32_t listed_used;
    uint32_t listed_capacity;
    struct store_listed *listed;
    struct ranked *ranked;
    uint32_t ranked_used;
    uint32_t ranked_capacity;
};

/* What the clock said at the recorded time of something listed. */
static inline uint32_t hot_shown_s(const struct hot_scratch *scratch, uint32_t time_s)
{
    return scratch->timeline != NULL ? timeline_shown(scratch->timeline, time_s) : time_s;
}

/*
 * FORGET and DROP write more than the caller has passed journal_admit for: they ask for it anew, for
 * up to LIMIT_BATCH writes at a time and holding no lock. OK; BLOCKED: it is enough for this time;
 * any other status: why not. In the caller's own struct, who owns it.
 */
struct hot_leave {
    enum status (*take)(struct hot_leave *leave, uint32_t writes);
};

struct hot_request {
    enum hot_action action;
    enum status status; /* out: OK, COUNTER_OVERFLOW, TOKENS_FULL, NO_MEMORY, … */
    uint8_t name;
    bool has_token;
    bool memory_only; /* FEED: what memory does not know is not asked of the store */
    uint8_t op;       /* its place in the table of operations; the hot tier does not care */
    bool own;         /* nobody has asked for it but the server; the hot tier does not care */
    uint32_t time_s;
    uint32_t item_count;
    struct id user;
    const struct item *items;
    int64_t delta;
    uint64_t token[2];          /* hash of item, counter and token */
    int64_t value;              /* out: SET, CLEAR, ADD */
    struct hot_answer *answers; /* out: item_count of them; ASK, COUNTS, FEED */
    uint16_t type;
    uint8_t follow;
    uint8_t window; /* TOP: enum trend_window */
    bool more;      /* out, lists: there is something behind the last one */
    uint32_t limit;
    uint32_t first; /* out, lists: scratch->listed[first … first + count); TOP: likewise ranked */
    uint32_t count; /* out */
    struct store_listed after;
    struct hot_leave *leave;
    uint32_t since_s; /* CHANGES: 0: all that is live */
    uint32_t until_s; /* since when the next round is; 0: this one begins */
};

enum hot_boards_state {
    HOT_BOARDS_OK,
    HOT_BOARDS_LOADING,  /* Boards were read from a file; some entries may still be outdated. */
    HOT_BOARDS_COUNTING, /* Boards are being filled by reading all counters. */
};

/* For INFO. */
static inline const char *hot_boards_state_text(enum hot_boards_state state)
{
    return state == HOT_BOARDS_OK ? "ok" : state == HOT_BOARDS_LOADING ? "loading" : "counting";
}

struct hot_stats {
    uint64_t users;
    uint64_t shelves;
    uint64_t reactions; /* live, on shelves */
    uint64_t items;
    uint64_t tokens;
    uint64_t cleared;        /* that the store may still have */
    uint64_t item_loads;     /* read of the store since start */
    uint64_t reaction_loads; /* likewise */
    uint64_t shared_loads;   /* that waited for another's read */
    uint64_t evicted_users;
    uint64_t evicted_items;
    uint64_t expired_items;
    uint64_t emptied_pages; /* to evict them */
    uint64_t filter_no;     /* questions to the filters that ended there */
    uint64_t filter_hit;    /* that did not, and the store had it */
    uint64_t filter_miss;   /* and had it not */
    uint64_t boards;        /* that are kept */
    uint64_t boards_off;    /* that are not, for want of room */
    bool boards_full;       /* and there may be more of those */
    uint64_t board_entries;
    uint64_t board_bytes;
    uint64_t board_bytes_max;
    uint64_t board_fills; /* passes over the store to fill some */
    enum hot_boards_state boards_state;
};

struct hot;

struct hot_ops {
    const char *name;
    size_t (*run)(struct hot *hot, struct hot_request *requests, size_t count,
                  struct hot_scratch *scratch);
    void (*run_blocking)(struct hot *hot, unsigned worker, struct hot_request *requests,
                         size_t count, struct hot_scratch *scratch);
    enum status (*admit)(struct hot *hot);
    void (*stats)(struct hot *hot, struct hot_stats *out);
    void (*close)(struct hot *hot);
};

struct hot {
    const struct hot_ops *ops;
};

/*
 * Runs requests in order and never blocks. Returns how many were run: fewer than count if the next
 * one needs the store, which then has changed nothing.
 */
static inline size_t hot_run(struct hot *hot, struct hot_request *requests, size_t count,
                             struct hot_scratch *scratch)
{
    return hot->ops->run(hot, requests, count, scratch);
}

/*
 * Runs all of them, waiting for the store where that is needed. For worker threads, each with a
 * number of its own below LIMIT_WORKERS; it has passed journal_admit for up to LIMIT_BATCH of them
 * if any writes.
 */
static inline void hot_run_blocking(struct hot *hot, unsigned worker, struct hot_request *requests,
                                    size_t count, struct hot_scratch *scratch)
{
    hot->ops->run_blocking(hot, worker, requests, count, scratch);
}

/* What a write that needs more memory would be told now: OK, or why it would be refused. */
static inline enum status hot_admit(struct hot *hot)
{
    return hot->ops->admit(hot);
}

static inline void hot_stats(struct hot *hot, struct hot_stats *out)
{
    hot->ops->stats(hot, out);
}

static inline void hot_close(struct hot *hot)
{
    hot->ops->close(hot);
}

#endif

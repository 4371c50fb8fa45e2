/*
 * The hot tier port: what decides and what serves. Requests come in batches, are run in order and
 * contain their answers afterwards. Every write is decided in one atomic step beside the user's own
 * state, and the same step records its event (law 1).
 *
 * hot_try never blocks. What it cannot finish is given to hot_submit (submission.h), and comes back to
 * the loop that sent it. Before a batch with writes in it is run by hot_try, its thread asks hot_admit;
 * submissions are admitted by the tier itself.
 *
 * A reply may be sent once hot_released has reached the release point (hot_point) that the tier had
 * when the reply was made. That holds for reads as well: no client sees a state that a power cut
 * could take back. Release points are opaque numbers that only grow.
 *
 * Any thread may call any of it, unless it says otherwise. Time is the caller's (time_s), as it is to
 * be recorded (time/timeline.h). How a tier is opened and recovered is not part of the port: that is
 * different for each. Implementations: memory/ and, in the cluster shape, Redis scripts.
 */
#ifndef LAUD_HOT_HOT_H
#define LAUD_HOT_HOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/id.h"
#include "base/ranked.h"
#include "base/status.h"
#include "store/store.h"
#include "time/timeline.h"

enum hot_action {
#define ACTION(name, flags) HOT_##name,
#include "hot/action.def"
#undef ACTION
};

/* What an action is; action.def says which. */
enum hot_flag {
    HOT_WRITES = 1,
    HOT_REMOVES = 2,
    HOT_HAS_USER = 4,
    HOT_CHANGES_ITEM = 8,
    HOT_READS_ITEMS = 16,
    HOT_IS_QUERY = 32,
    HOT_NEEDS_STORE = 64,
    HOT_HAS_ANSWERS = 128,
};

/* The flags of an action; for a constant action, a constant. */
static inline unsigned hot_flags(enum hot_action action)
{
    static const uint8_t flags_of[] = {
#define ACTION(name, flags) [HOT_##name] = (flags),
#include "hot/action.def"
#undef ACTION
    };
    return flags_of[action];
}

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

/* Between two batches: nothing of it is used any more. */
static inline void hot_scratch_clear(struct hot_scratch *scratch)
{
    scratch->used = scratch->listed_used = scratch->ranked_used = 0;
}

static inline void hot_scratch_free(struct hot_scratch *scratch)
{
    free(scratch->counters);
    free(scratch->listed);
    free(scratch->ranked);
}

/* What the clock said at the recorded time of something listed. */
static inline uint32_t hot_shown_s(const struct hot_scratch *scratch, uint32_t time_s)
{
    return scratch->timeline != NULL ? timeline_shown(scratch->timeline, time_s) : time_s;
}

/*
 * A request: the head, which all actions have, and what belongs to its action (action.def says which
 * member is whose). Whoever makes one sets all of it anew, so that nothing of an earlier request is left
 * in it. Members are inputs, unless they are marked as out.
 */
struct hot_request {
    enum hot_action action;
    enum status status; /* out: OK, COUNTER_OVERFLOW, TOKENS_FULL, NO_MEMORY, … */
    uint32_t time_s;
    uint32_t item_count;
    struct id user;
    const struct item *items;
    uint8_t name; /* index of a kind or counter; actions that need none ignore it */
    uint8_t op;   /* its index in the table of operations; the hot tier does not use it */
    bool own;     /* nobody has asked for it but the server; the hot tier does not use it */
    union {
        uint64_t all[6]; /* the first, so that an initialiser that names none of them zeroes all */
        struct {         /* SET, CLEAR, ADD */
            int64_t value; /* out: SET, CLEAR: 1 changed, 0 it was so already; ADD: the new value */
            int64_t delta; /* ADD only, as are the next two */
            uint64_t token[2]; /* hash of item, counter and token */
            bool has_token;
        } change;
        struct {                        /* ASK, COUNTS, FEED */
            struct hot_answer *answers; /* out: item_count of them; the room is the caller's */
            bool memory_only;           /* FEED: what is not in memory is not asked of the store */
        } read;
        struct { /* LIST_REACTIONS, LIST_REACTORS, FRIENDS */
            struct store_listed after;
            uint32_t limit;
            uint32_t first; /* out: scratch->listed[first … first + count) */
            uint32_t count; /* out */
            uint16_t type;
            uint8_t follow;
            bool more; /* out: there is something after the last one */
        } list;
        struct { /* FORGET, DROP */
            uint32_t limit;
            uint32_t removed; /* out */
            bool more;        /* out: there may be others */
        } remove;
        struct { /* CHANGES */
            struct store_listed after;
            uint32_t since_s; /* 0: all that is live */
            uint32_t until_s; /* also out: since when the next round is; 0: this one begins */
            uint32_t limit;
            uint32_t first; /* out, as in lists */
            uint32_t count; /* out */
            bool more;      /* out */
        } changes;
        struct { /* TOP */
            uint32_t limit;
            uint32_t first; /* out: scratch->ranked[first … first + count) */
            uint32_t count; /* out */
            uint16_t type;
            uint8_t window; /* enum trend_window */
        } top;
    };
};

/* It is copied for each submission, and many are prefetched at a time. */
_Static_assert(sizeof(struct hot_request) <= 96, "a request is small");

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
    uint64_t waiting;  /* submissions that nobody has begun yet */
    uint64_t lag_slow; /* bytes of lag from which on writes are slowed down */
    uint64_t lag_max;  /* and above which they are refused; 0: there is no bound */
};

/* May the request record events? */
static inline bool hot_request_writes(const struct hot_request *request)
{
    return (hot_flags(request->action) & HOT_WRITES) != 0;
}

/* Does it record any number of events, and is admitted piece by piece? */
static inline bool hot_request_removes(const struct hot_request *request)
{
    return (hot_flags(request->action) & HOT_REMOVES) != 0;
}

/* Gives the request room for the answers about its items, if it has any. */
static inline void hot_request_set_answers(struct hot_request *request, struct hot_answer *answers)
{
    if ((hot_flags(request->action) & HOT_HAS_ANSWERS) != 0)
        request->read.answers = answers;
}

/* When a thread's next write may be. Each thread that asks hot_admit has one; all zero at first. */
struct hot_pacer {
    uint64_t free_ns;
};

/*
 * Called by any thread, also while it holds locks of the tier's own: what may be released, the state
 * or the admission of writes has changed. It must not block.
 */
typedef void hot_listen_fn(void *context);

struct hot;
struct hot_submission;

struct hot_ops {
    const char *name;
    size_t (*try)(struct hot *hot, struct hot_request *requests, size_t count,
                  struct hot_scratch *scratch);
    bool (*submit)(struct hot *hot, struct hot_submission *submission);
    enum status (*admit)(struct hot *hot, const struct hot_pacer *pacer, uint64_t now_ns);
    uint64_t (*wait_ns)(struct hot *hot, const struct hot_pacer *pacer, uint64_t now_ns);
    void (*spend)(struct hot *hot, struct hot_pacer *pacer, uint32_t writes, uint64_t now_ns);
    enum status (*room)(struct hot *hot);
    uint64_t (*point)(struct hot *hot);
    uint64_t (*released)(struct hot *hot);
    enum status (*state)(struct hot *hot);
    void (*kick)(struct hot *hot);
    void (*listen)(struct hot *hot, hot_listen_fn *fn, void *context);
    const char *(*sentence)(struct hot *hot, enum status status);
    void (*stats)(struct hot *hot, struct hot_stats *out);
    void (*refuse_writes)(struct hot *hot);
    void (*stop)(struct hot *hot);
    void (*close)(struct hot *hot);
};

/* The head of every implementation's own struct. */
struct hot {
    const struct hot_ops *ops;
};

/*
 * Runs requests in order and never blocks. Returns how many were run: fewer than count if the next
 * one has to be submitted, which then has changed nothing.
 */
static inline size_t hot_try(struct hot *hot, struct hot_request *requests, size_t count,
                             struct hot_scratch *scratch)
{
    return hot->ops->try(hot, requests, count, scratch);
}

/*
 * Has all requests of a submission run in order, whatever that has to wait for. False: too many wait
 * already, and the submission is still the caller's. See submission.h for what happens to it.
 */
static inline bool hot_submit(struct hot *hot, struct hot_submission *submission)
{
    return hot->ops->submit(hot, submission);
}

/*
 * May this thread run a batch with up to LIMIT_BATCH writes in hot_try now? OK; BLOCKED: ask again
 * when the listener was called, or after hot_wait_ns; any other status is the reason why not. Asking
 * takes nothing.
 */
static inline enum status hot_admit(struct hot *hot, const struct hot_pacer *pacer, uint64_t now_ns)
{
    return hot->ops->admit(hot, pacer, now_ns);
}

/* How long this thread has to wait before it writes; 0: only for the listener. */
static inline uint64_t hot_wait_ns(struct hot *hot, const struct hot_pacer *pacer, uint64_t now_ns)
{
    return hot->ops->wait_ns(hot, pacer, now_ns);
}

/* This thread has made so many of the writes that it was admitted for. */
static inline void hot_spend(struct hot *hot, struct hot_pacer *pacer, uint32_t writes,
                             uint64_t now_ns)
{
    hot->ops->spend(hot, pacer, writes, now_ns);
}

/* The status that a write which needs more memory would get now: OK, or why it would be refused. */
static inline enum status hot_room(struct hot *hot)
{
    return hot->ops->room(hot);
}

/* The release point that replies which are made now depend on. */
static inline uint64_t hot_point(struct hot *hot)
{
    return hot->ops->point(hot);
}

/* Replies that depend on release points up to this one may be sent. */
static inline uint64_t hot_released(struct hot *hot)
{
    return hot->ops->released(hot);
}

/*
 * Can writes be recorded? OK; READONLY: never again, and what is not released by now never will be;
 * DISK_FULL, NO_FILES: not at the moment.
 */
static inline enum status hot_state(struct hot *hot)
{
    return hot->ops->state(hot);
}

/*
 * The end of a turn: what this thread has written may be committed now. Whoever writes by hot_try must
 * call it afterwards, once for as many writes as it likes.
 */
static inline void hot_kick(struct hot *hot)
{
    hot->ops->kick(hot);
}

/*
 * Sets the one listener; it is called at least once from then on, and is not called any more when
 * the tier was stopped and what it records to was closed.
 */
static inline void hot_listen(struct hot *hot, hot_listen_fn *fn, void *context)
{
    hot->ops->listen(hot, fn, context);
}

/* The sentence for a client about this status: the usual one, or with the cause where it is known. */
static inline const char *hot_sentence(struct hot *hot, enum status status)
{
    return hot->ops->sentence(hot, status);
}

static inline void hot_stats(struct hot *hot, struct hot_stats *out)
{
    hot->ops->stats(hot, out);
}

/* The first step of stopping: from now on writes are refused (STOPPING); all else goes on. */
static inline void hot_refuse_writes(struct hot *hot)
{
    hot->ops->refuse_writes(hot);
}

/*
 * The second step: ends the tier's threads. Every submission must be back. What the tier records to is
 * closed after this, and hot_close comes last.
 */
static inline void hot_stop(struct hot *hot)
{
    hot->ops->stop(hot);
}

static inline void hot_close(struct hot *hot)
{
    hot->ops->close(hot);
}

#endif

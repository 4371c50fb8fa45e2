/*
 * The port of the hot tier, which decides writes and serves reads. Requests are given in batches, are run
 * in order, and contain their answers afterwards. Every write is decided in one atomic step together with
 * the user's own state, and the same step records its event (law 1).
 *
 * hot_try never blocks. Requests that it cannot finish are given to hot_submit (submission.h), and are
 * later returned to the loop that sent them. Before a thread runs a batch with writes in hot_try, it asks
 * hot_admit; the tier itself admits the writes of submissions.
 *
 * A reply may be sent once hot_released has reached the release point (hot_point) that the tier had
 * when the reply was made. This holds for reads as well: no client sees a state that a power cut
 * could take back. Release points are opaque numbers that only grow.
 *
 * Any thread may call any function, unless its comment says otherwise. The caller gives the time of a
 * request (time_s), as it is to be recorded (time/timeline.h). Opening and recovering a tier is not part
 * of the port, because it is different for each tier. The implementation is in memory/; a cluster will
 * have another one, made of Redis scripts.
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

/* The properties of an action. action.def explains them and lists them for each action. */
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

/* The flags of an action. If the action is a constant, so is the result. */
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

/* Comments have more inputs and answers than fit here; both are in hot/comments.h. */
struct hot_detail;
struct hot_card;
struct hot_cards_page;
struct hot_inbox_entry;
struct hot_version;

struct hot_counter {
    int64_t value;
    uint8_t name;
};

struct hot_answer {
    struct kind_set kinds; /* FEED: the kinds that the user has set on the item; ASK: only `name` */
    uint32_t
        first; /* the item's counters that are not 0: scratch->counters[first … first + count) */
    uint32_t count;
};

/*
 * Memory for answers, owned by the calling thread and used for a whole batch. The arrays `counters`,
 * `listed` and `ranked` grow as needed (realloc) and are reused; the caller calls hot_scratch_clear
 * between batches.
 */
struct hot_scratch {
    struct timeline
        *timeline; /* converts recorded times in `listed` to shown ones; NULL: they are equal */
    struct hot_counter *counters;
    uint32_t used;
    uint32_t capacity;
    uint32_t listed_used;
    uint32_t listed_capacity;
    struct store_listed *listed;
    struct ranked *ranked;
    uint32_t ranked_used;
    uint32_t ranked_capacity;
    /* Answers about comments, see hot/comments.h; their texts are in `arena`. */
    struct hot_card *cards;
    uint32_t cards_used;
    uint32_t cards_capacity;
    struct hot_cards_page *pages;
    uint32_t pages_used;
    uint32_t pages_capacity;
    struct hot_inbox_entry *inbox;
    uint32_t inbox_used;
    uint32_t inbox_capacity;
    struct hot_version *versions;
    uint32_t versions_used;
    uint32_t versions_capacity;
    struct store_arena arena;
};

/* Called between two batches: the answers of the earlier batch are no longer used. */
static inline void hot_scratch_clear(struct hot_scratch *scratch)
{
    scratch->used = scratch->listed_used = scratch->ranked_used = 0;
    scratch->cards_used = scratch->pages_used = 0;
    scratch->inbox_used = scratch->versions_used = 0;
    if (scratch->arena.block != NULL)
        store_arena_empty(&scratch->arena);
}

static inline void hot_scratch_free(struct hot_scratch *scratch)
{
    free(scratch->counters);
    free(scratch->listed);
    free(scratch->ranked);
    free(scratch->cards);
    free(scratch->pages);
    free(scratch->inbox);
    free(scratch->versions);
    store_arena_destroy(&scratch->arena);
}

/* The time of the clock at this recorded time, for showing an entry of a list. */
static inline uint32_t hot_shown_s(const struct hot_scratch *scratch, uint32_t time_s)
{
    return scratch->timeline != NULL ? timeline_shown(scratch->timeline, time_s) : time_s;
}

/*
 * A request has a head, which is the same for all actions, and a union with the members of its action
 * (action.def says which action uses which member). Code that makes a request initialises the whole
 * struct, so that no value of an earlier request remains. Members are inputs, unless their comment begins
 * with "out".
 */
struct hot_request {
    enum hot_action action;
    enum status status; /* out: OK, COUNTER_OVERFLOW, TOKENS_FULL, NO_MEMORY, … */
    uint32_t time_s;
    uint32_t item_count;
    struct id user;
    const struct item *items;
    uint8_t name; /* index of a kind or counter; actions that need none ignore it */
    uint8_t op;   /* index in the table of operations; the hot tier does not use it */
    bool own; /* the server itself made the request, not a client; the hot tier does not use it */
    union {
        uint64_t all[6];   /* first, so that an initialiser that names no member sets all to zero */
        struct {           /* SET, CLEAR, ADD */
            int64_t value; /* out: SET, CLEAR: 1 if it changed, otherwise 0; ADD: the new value */
            int64_t delta; /* only for ADD, as are the next two members */
            uint64_t token[2]; /* hash of item, counter and token */
            bool has_token;
        } change;
        struct {                        /* ASK, COUNTS, FEED */
            struct hot_answer *answers; /* out: item_count answers, in memory of the caller */
            uint32_t first_friends;     /* out: where they are, see hot_feed_friends */
            uint16_t follow_type;       /* FEED with friends: the type of followed users, */
            uint8_t follow;             /* and the kind of following them */
            uint8_t friends;            /* FEED: how many friends of each item to name; 0: none */
            bool memory_only;           /* FEED: the store is not read for what is not in memory */
        } read;
        struct { /* LIST_REACTIONS, LIST_REACTORS, FRIENDS */
            struct store_listed after;
            uint32_t limit;
            uint32_t first; /* out: scratch->listed[first … first + count × hot_list_stride) */
            uint32_t count; /* out */
            uint16_t type;
            uint8_t follow;
            bool second; /* FRIENDS: also users whom followees follow; see hot_list_stride */
            bool more;   /* out: there are entries after the last one */
        } list;
        struct { /* FORGET, DROP */
            uint32_t limit;
            uint32_t removed; /* out */
            bool more;        /* out: there may be more to remove */
        } remove;
        struct { /* CHANGES */
            struct store_listed after;
            uint32_t since_s; /* 0: report every reaction that is set */
            uint32_t until_s; /* in: 0: a round begins; out: since_s of the next round */
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
        struct {           /* COMMENT, EDIT, … SEEN: all writes of comments */
            int64_t value; /* out: 1 if it changed anything, otherwise 0; as in `change` */
            const struct hot_detail *detail;
            uint64_t id;    /* out: COMMENT: the comment; COMMENT_REPEATED: the first one */
            uint32_t floor; /* out: COMMENT */
            uint32_t until_s;
            uint8_t state; /* MODERATE: enum comment_moderation; out: COMMENT: as it is shown */
            uint8_t mode;  /* enum subject_mode */
            bool set_owner;
            bool set_mode;
            bool shadow;
            bool repeated; /* out: COMMENT: the token was used before, and nothing was posted */
            bool deleted;  /* out: COMMENT: repeated, and the comment was deleted since */
        } comment;
        struct { /* COMMENTS, CARDS, WRITTEN, INBOX, HISTORY, SUBJECT, QUEUE, COMMENT_NEWS */
            const struct hot_detail *detail;
            uint64_t after; /* COMMENT_NEWS: changes after this point are wanted */
            uint32_t limit;
            uint32_t page; /* out: scratch->pages[page] */
            uint16_t type;
            uint8_t order;   /* enum comment_order */
            uint8_t replies; /* how many replies of each root */
            uint8_t queue;   /* enum queue_state */
            bool all;        /* ALL: hidden ones too, for moderators */
        } cards;
    };
};

#define HOT_NEWS_BEGIN 0 /* cards.after: the subject is watched from now on */

/*
 * The friends of one item in the answer to a FEED: those of the newest LIMIT_FRIENDS followees of the user
 * who like the item. The newest read.friends of them are named.
 */
struct hot_feed_friends {
    uint32_t found;                   /* how many there are */
    uint32_t named;                   /* how many of them are in `users` */
    const struct store_listed *users; /* newest like first */
};

/*
 * In the scratch, each item has read.friends + 1 entries, beginning at read.first_friends. The time of the
 * first entry is the number of friends that were found; the others are the friends.
 */
static inline struct hot_feed_friends hot_feed_friends(const struct hot_request *request,
                                                       const struct hot_scratch *scratch,
                                                       uint32_t item)
{
    uint32_t most = request->read.friends;
    const struct store_listed *entries =
        scratch->listed + request->read.first_friends + item * (most + 1);
    uint32_t found = entries[0].time_s;
    return (struct hot_feed_friends){
        .found = found, .named = found < most ? found : most, .users = entries + 1};
}

/*
 * With list.second, a user in the answer to FRIENDS has two entries in the scratch. The second one is the
 * followee of the request's user who follows this user; its time is 0 if the request's user follows this
 * user directly.
 */
static inline uint32_t hot_list_stride(const struct hot_request *request)
{
    return request->action == HOT_FRIENDS && request->list.second ? 2 : 1;
}

/* A request is copied for each submission, and many are prefetched at a time. */
_Static_assert(sizeof(struct hot_request) <= 96, "a request is small");

enum hot_boards_state {
    HOT_BOARDS_OK,
    HOT_BOARDS_LOADING,  /* Boards were read from a file; some entries may still be outdated. */
    HOT_BOARDS_COUNTING, /* Boards are being filled by reading all counters. */
};

/* The word for this state in INFO. */
static inline const char *hot_boards_state_text(enum hot_boards_state state)
{
    return state == HOT_BOARDS_OK ? "ok" : state == HOT_BOARDS_LOADING ? "loading" : "counting";
}

struct hot_stats {
    uint64_t users;
    uint64_t shelves;
    uint64_t reactions; /* that are set, on shelves */
    uint64_t items;
    uint64_t tokens;
    uint64_t cleared;        /* notes of cleared reactions that the store may still have */
    uint64_t item_loads;     /* items read from the store since the start */
    uint64_t reaction_loads; /* reactions read from the store since the start */
    uint64_t shared_loads;   /* loads that waited for the read of another worker instead */
    uint64_t evicted_users;
    uint64_t evicted_items;
    uint64_t expired_items;
    uint64_t emptied_pages; /* by the keeper */
    uint64_t filter_no;     /* lookups that a filter answered with no */
    uint64_t filter_hit;    /* lookups that a filter let pass, and the store had the reaction */
    uint64_t filter_miss;   /* lookups that a filter let pass, and the store did not have it */
    uint64_t boards;        /* boards that are kept */
    uint64_t boards_off;    /* boards that are not kept, because there is no room for them */
    bool boards_full;       /* there may be more boards that are not kept than boards_off says */
    uint64_t board_entries;
    uint64_t board_bytes;
    uint64_t board_bytes_max;
    uint64_t board_fills; /* passes over the store to fill boards */
    enum hot_boards_state boards_state;
    uint64_t waiting;  /* submissions that no worker has begun yet */
    uint64_t lag_slow; /* writes are slowed down from this lag on, in bytes */
    uint64_t lag_max;  /* writes are refused above this lag, in bytes; 0: there is no bound */
};

/* May the request record events? */
static inline bool hot_request_writes(const struct hot_request *request)
{
    return (hot_flags(request->action) & HOT_WRITES) != 0;
}

/* Is it a FORGET or DROP, which may record any number of events and is admitted piece by piece? */
static inline bool hot_request_removes(const struct hot_request *request)
{
    return (hot_flags(request->action) & HOT_REMOVES) != 0;
}

/* Gives the request memory for the answers about its items, if its action has such answers. */
static inline void hot_request_set_answers(struct hot_request *request, struct hot_answer *answers)
{
    if ((hot_flags(request->action) & HOT_HAS_ANSWERS) != 0)
        request->read.answers = answers;
}

#define HOT_WRITE_BYTES 32 /* bytes of a typical event: a like with narrow ids */

/* Paces the writes of one thread. Each thread that asks hot_admit has one, which is all zero at first. */
struct hot_pacer {
    uint64_t free_ns; /* when the next write may be made */
};

/*
 * Is called when hot_released, hot_state or the answer of hot_admit has changed. Any thread may call it,
 * even while the thread holds locks of the tier, so it must not block.
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
    void (*collect)(struct hot *hot, struct hot_stats *out);
    void (*refuse_writes)(struct hot *hot);
    void (*stop)(struct hot *hot);
    void (*close)(struct hot *hot);
};

/* The first member of every implementation's own struct. */
struct hot {
    const struct hot_ops *ops;
};

/*
 * Runs requests in order and never blocks. Returns how many were run. If that is fewer than `count`, the
 * next request has to be submitted, and it has changed nothing so far.
 */
static inline size_t hot_try(struct hot *hot, struct hot_request *requests, size_t count,
                             struct hot_scratch *scratch)
{
    return hot->ops->try(hot, requests, count, scratch);
}

/*
 * Has all requests of a submission run in order, even if they have to wait. Returns false if too many
 * submissions wait already; then it still belongs to the caller. submission.h describes its life.
 */
static inline bool hot_submit(struct hot *hot, struct hot_submission *submission)
{
    return hot->ops->submit(hot, submission);
}

/*
 * May this thread run a batch with up to LIMIT_BATCH writes in hot_try now? Returns OK; BLOCKED if it has
 * to ask again once the listener was called, or after hot_wait_ns; or another status, which is the reason
 * why not. The question itself reserves nothing.
 */
static inline enum status hot_admit(struct hot *hot, const struct hot_pacer *pacer, uint64_t now_ns)
{
    return hot->ops->admit(hot, pacer, now_ns);
}

/* How long this thread has to wait before it asks again; 0: it only has to wait for the listener. */
static inline uint64_t hot_wait_ns(struct hot *hot, const struct hot_pacer *pacer, uint64_t now_ns)
{
    return hot->ops->wait_ns(hot, pacer, now_ns);
}

/*
 * The number of writes that so many bytes of a long event count as in hot_spend: the lag is measured in
 * bytes, so a long event is slowed down as much as likes of the same size are together.
 */
static inline uint32_t hot_writes_of(size_t bytes)
{
    return (uint32_t)((bytes + HOT_WRITE_BYTES - 1) / HOT_WRITE_BYTES);
}

/*
 * Notes that this thread has made so many of the writes that it was admitted for. A write with a long
 * event counts as hot_writes_of its bytes.
 */
static inline void hot_spend(struct hot *hot, struct hot_pacer *pacer, uint32_t writes,
                             uint64_t now_ns)
{
    hot->ops->spend(hot, pacer, writes, now_ns);
}

/* The status that a write which needs more memory would get now: OK, or the reason for a refusal. */
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
 * Can writes be recorded? Returns OK; DISK_FULL or NO_FILES if they cannot at the moment; or READONLY if
 * they never can again. With READONLY, replies that are not released by now never will be.
 */
static inline enum status hot_state(struct hot *hot)
{
    return hot->ops->state(hot);
}

/*
 * Has the writes of this thread committed. A thread that writes with hot_try must call this afterwards,
 * once for any number of writes; a loop does it at the end of each turn.
 */
static inline void hot_kick(struct hot *hot)
{
    hot->ops->kick(hot);
}

/*
 * Sets the one listener. It is called at least once after this, and no more once the tier was stopped and
 * its journal was closed.
 */
static inline void hot_listen(struct hot *hot, hot_listen_fn *fn, void *context)
{
    hot->ops->listen(hot, fn, context);
}

/*
 * The sentence for a client about this status: the usual one, or one with the cause, if the tier has it.
 * The text belongs to the tier.
 */
static inline const char *hot_sentence(struct hot *hot, enum status status)
{
    return hot->ops->sentence(hot, status);
}

/* Fills in the numbers that INFO and METRICS show of the tier. Any thread may call it; it locks every shard. */
static inline void hot_collect(struct hot *hot, struct hot_stats *out)
{
    hot->ops->collect(hot, out);
}

/* The first step of stopping: from now on writes are refused (STOPPING); reads are still served. */
static inline void hot_refuse_writes(struct hot *hot)
{
    hot->ops->refuse_writes(hot);
}

/*
 * The second step of stopping: ends the tier's threads. Every submission must be finished before. After
 * this the journal is closed, and hot_close is the last step.
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

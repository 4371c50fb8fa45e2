/*
 * What the files of live streams share: live.c opens and closes streams, round.c reads items and sends
 * events, comments.c does so for comments, cold.c loads items that are not in memory. Nobody else
 * includes it.
 */
#ifndef LAUD_LIVE_PRIVATE_H
#define LAUD_LIVE_PRIVATE_H

#include <uv.h>

#include "base/list.h"
#include "live/live.h"
#include "live/news.h"
#include "live/pace.h"
#include "live/watched.h"
#include "net/conn.h"

#define LIVE_MS           1000000ULL
#define LIVE_GAP_NS       (200 * LIVE_MS)   /* between two events of a stream, and two rounds */
#define LIVE_HELD_NS      (20 * LIVE_MS)    /* until an event in `held` is tried again */
#define LIVE_STALLED_NS   (500 * LIVE_MS)   /* until a client that read nothing is tried again */
#define LIVE_COLD_NS      (50 * LIVE_MS)    /* between two submissions */
#define LIVE_QUIET_NS     (15000 * LIVE_MS) /* until a comment is sent, so that proxies stay open */
#define LIVE_STEP_MS      10                /* between two slices of time, if there is more to do */
#define LIVE_STEP_IDLE_MS 20                /* the same, if something is waited for */

struct live_stream {
    struct live *live;
    struct conn *conn;
    struct list quiet; /* in live->quiet, ordered by wrote_ns */
    struct list queue; /* in live->later, held or stalled; or in none */
    uint64_t wrote_ns; /* when anything was last written to it */
    uint64_t event_ns; /* when it last got an event; 0: never */
    uint64_t ready_ns; /* when it is its turn in the queue */
    uint64_t last;     /* digest of the last event that the client had before */
    uint64_t number;   /* its number among the streams of the thread, in the order of opening */
    size_t charged;    /* bytes that are charged to the budget */
    bool resumes;      /* `last` is set */
    bool begun;        /* the client has all of its items */
    bool chunked;
    bool of_comments; /* it has one viewer, of a subject; otherwise it is a stream of counters */
    uint32_t count;
    struct viewer viewers[];
};

struct live {
    struct loop *loop;
    uv_timer_t timer;
    uv_check_t after;   /* runs after the thread has waited for events */
    uint64_t before_ns; /* when the thread began to wait; 0: it does not wait */
    struct pace pace;
    struct watched_table items;    /* whose counters are watched */
    struct watched_table subjects; /* whose comments are watched */
    live_card_fn *write_card;      /* set by the first stream of comments */
    uint32_t streams;
    uint64_t opened; /* streams that were ever opened */

    bool looking;     /* a round of reading all items is in progress */
    uint32_t round;   /* its number, or that of the last round */
    uint64_t look_ns; /* when that round began */

    struct list quiet; /* all streams; the first has been silent for longest */
    struct list
        changed; /* items and subjects with a new version, whose viewers may need an event */
    struct list
        later;        /* streams that had an event less than LIVE_GAP_NS ago, ordered by ready_ns */
    struct list held; /* streams that wait for a release, ordered by ready_ns */
    struct list stalled; /* streams whose clients read nothing, ordered by ready_ns */
    struct list cold;    /* items that are not in memory */
    uint64_t cold_ns;    /* when items may be submitted again */
    uint32_t away;       /* how many items are submitted; they are in away_items, in this order */
    uint64_t away_seen;  /* the value of `opened` when they were submitted */
    struct watched *away_items[LIMIT_BATCH];
};

/* The table that an item is in. */
static inline struct watched_table *live_table(struct live *live, const struct watched *item)
{
    return item->news != NULL ? &live->subjects : &live->items;
}

/* Updates the metric of watched items, after their number changed. */
static inline void live_count_items(struct live *live)
{
    atomic_store_explicit(&live->loop->stats.live_items, live->items.count + live->subjects.count,
                          memory_order_relaxed);
}

/* Makes a request for the counters of an item, or for the changes of a subject. */
struct hot_request live_ask(struct live *live, struct watched *item, struct hot_answer *answer);

/*
 * Stores the counters of an item that were read when `seen` streams had been opened. If the counters differ
 * from the last ones, or if a stream waits for the item, its viewers may need an event.
 */
void live_take(struct live *live, struct watched *item, const struct hot_counter *counters,
               uint32_t count, uint64_t seen);

/* Queues an item that is not in memory. */
void live_want_cold(struct live *live, struct watched *item);

/* Submits queued items, unless some are submitted already or LIVE_COLD_NS has not passed. */
void live_send_cold(struct live *live, uint64_t now_ns);

/* Reads the counters of these items now. */
void live_look_at(struct live *live, struct watched *const *items, uint32_t count);

/* Was every item of the stream read since the stream was opened? */
bool live_is_loaded(const struct live_stream *stream);

/*
 * Writes an event with the new versions of a stream's items. The first event has all items; if the client
 * already has exactly these values, a comment is written. False: there is no memory.
 */
bool live_write_event(struct live_stream *stream, struct buffer *out, uint64_t now_ns);

/* Streams of comments; see the functions of the same names for counters. */
void live_look_at_comments(struct live *live, struct watched *item);
/* What a worker has collected about a subject; returns how many bytes of it were used. */
size_t live_take_comments(struct live *live, struct watched *item, const char *bytes, size_t length,
                          uint64_t seen);
/* What the stream needs now. If that is only a read, or nothing, the necessary steps are taken. */
enum news_need live_comments_need(struct live_stream *stream);
bool live_write_comments(struct live_stream *stream, enum news_need need, struct buffer *out,
                         uint64_t now_ns);

/* Uses one slice of time. Returns after how many milliseconds the next slice is due. */
uint64_t live_run(struct live *live);

#endif

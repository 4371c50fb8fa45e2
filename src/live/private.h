/* What the parts of live streams share: live.c their coming and going, round.c looking and telling. */
#ifndef LAUD_LIVE_PRIVATE_H
#define LAUD_LIVE_PRIVATE_H

#include <uv.h>

#include "base/list.h"
#include "live/live.h"
#include "live/pace.h"
#include "live/watched.h"
#include "net/conn.h"

#define LIVE_MS     1000000ULL
#define LIVE_GAP_NS (200 * LIVE_MS) /* between two events of a stream, and two looks */
#define LIVE_HELD_NS                                                                               \
    (20 * LIVE_MS) /* until an event that the journal does not let go yet is tried */
#define LIVE_STALLED_NS   (500 * LIVE_MS)   /* until a client that took nothing is tried again */
#define LIVE_COLD_NS      (50 * LIVE_MS)    /* between two jobs for a worker */
#define LIVE_QUIET_NS     (15000 * LIVE_MS) /* without a word: a comment keeps proxies content */
#define LIVE_STEP_MS      10                /* between two slices of time, if there is more to do */
#define LIVE_STEP_IDLE_MS 20                /* if something is waited for */

struct live_stream {
    struct live *live;
    struct conn *conn;
    struct list quiet; /* among all streams, by when they were last written to */
    struct list queue; /* later, held or stalled; or in none */
    uint64_t wrote_ns; /* when that was */
    uint64_t told_ns;  /* when it last got an event; 0: never */
    uint64_t ready_ns; /* when its turn in the queue comes */
    uint64_t last;     /* digest of what the client had before */
    uint64_t number;   /* streams of the thread that were opened up to this one */
    size_t charged;    /* bytes */
    bool resumes;      /* it had something */
    bool begun;        /* it got all of its items, or has them */
    bool chunked;
    uint32_t count;
    struct viewer viewers[];
};

struct live {
    struct loop *loop;
    uv_timer_t timer;
    uv_check_t after;
    uint64_t before_ns; /* when the thread began to wait; 0: it does not */
    struct pace pace;
    struct watched_table items;
    uint32_t streams;
    uint64_t opened; /* streams that were ever opened */

    bool looking;     /* a look at all items is under way */
    uint32_t round;   /* its number, or that of the last */
    uint64_t look_ns; /* when it began */

    struct list quiet;   /* all streams, those first that were quiet longest */
    struct list changed; /* items whose viewers are to be told */
    struct list later;   /* streams that had an event a moment ago; ready one after the other */
    struct list held;    /* streams that wait for the journal; likewise */
    struct list stalled; /* streams whose clients took nothing; likewise */
    struct list cold;    /* items that memory does not have */
    uint64_t cold_ns;    /* when a job for them may go */
    uint32_t away;       /* items that a worker has, in its order */
    uint64_t away_seen;  /* `opened` when they were sent to it */
    struct watched *away_items[LIMIT_BATCH];
};

/* Tells how many items are watched, after that changed. */
static inline void live_count_items(struct live *live)
{
    atomic_store_explicit(&live->loop->stats.live_items, live->items.count, memory_order_relaxed);
}

/* A request for the counters of an item. */
static inline void live_ask(struct hot_request *request, const struct watched *item,
                            struct hot_answer *answer)
{
    *request = (struct hot_request){.action = HOT_COUNTS,
                                    .op = OP_LIVE,
                                    .item_count = 1,
                                    .items = &item->item,
                                    .read.answers = answer};
}

/*
 * The counters of an item are these, at a time when `seen` streams had been opened: if they differ from
 * those before, or if a stream waits for them, its viewers are to be told.
 */
void live_take(struct live *live, struct watched *item, const struct hot_counter *counters,
               uint32_t count, uint64_t seen);

/* An item is to be read by a worker; and a job for one goes, if it is time. */
void live_want_cold(struct live *live, struct watched *item);
void live_send_cold(struct live *live, uint64_t now_ns);

/* Looks at some of the items, at once. */
void live_look_at(struct live *live, struct watched *const *items, uint32_t count);

/* Has each of its items been read since the stream was opened? */
bool live_is_known(const struct live_stream *stream);

/*
 * Writes an event of what is new for a stream, or at its beginning of everything, unless the client
 * has it. False: no memory.
 */
bool live_tell(struct live_stream *stream, struct buffer *out, uint64_t now_ns);

/* A slice of time; returns in how many milliseconds the next is due. */
uint64_t live_run(struct live *live);

#endif

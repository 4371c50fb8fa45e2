/*
 * One I/O thread: a libuv loop, its listeners and its connections. A turn of the loop reads what has
 * arrived, runs it, and puts the replies into *groups*. A group may be sent once the hot tier has released
 * the point that it depends on (hot_point). Release points only grow, so the groups wait in one queue.
 *
 * All members belong to the loop's own thread, except those whose comment begins with "shared".
 */
#ifndef LAUD_NET_LOOP_H
#define LAUD_NET_LOOP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

#include "hot/submission.h"
#include "net/rest.h"
#include "net/server.h"
#include "net/watch.h"
#include "op/op.h"

struct conn;
struct face;

/* A listening socket; all its connections have the same face. */
struct listener {
    uv_tcp_t tcp;
    struct loop *loop;
    const struct face *face;
    int socket;        /* tcp has a duplicate of it; it goes on listening while tcp is closed */
    bool open;         /* tcp is open */
    bool failing;      /* the last connection could not be accepted */
    uv_timer_t pause;  /* runs until accepting is tried again */
    uv_tcp_t unwanted; /* a connection that is being turned away, until it is closed */
    enum status why;   /* why `unwanted` is turned away */
    bool turning_away; /* `unwanted` is in use */
    bool next_waits;   /* another connection arrived while `unwanted` was in use */
};

#define LOOP_LISTENERS 2

/* Replies of one connection that wait for their release together. */
struct reply_group {
    struct conn *conn;
    uint64_t point;    /* the release point that they depend on */
    uint64_t end;      /* the offset of their end in the connection's stream of reply bytes */
    uint64_t since_ns; /* when they were ready, if they had to wait */
    uint32_t replies;
    bool wrote;  /* at least one of them acknowledges a write */
    bool bare;   /* at least one of them has no body */
    bool stream; /* the last of them is the head of a live stream */
};

/* Counters. The loop's thread writes them, any thread may read them (relaxed). */
struct loop_stats {
    _Atomic uint64_t commands;
    _Atomic uint64_t errors;
    _Atomic uint64_t accepted;
    _Atomic uint64_t refused;
    _Atomic uint64_t bytes_in;
    _Atomic uint64_t bytes_out;
    _Atomic uint64_t jobs; /* submitted jobs */
    _Atomic uint64_t
        jobs_refused; /* requests that were answered BUSY because none could be submitted */
    _Atomic uint64_t limits_checked;
    _Atomic uint64_t limited[LIMIT_BY_TOTAL]; /* refused, or would have been without the dry run */
    _Atomic uint64_t live_items;              /* items that live streams watch now */
    _Atomic uint64_t live_events;
    _Atomic uint64_t live_coalesced; /* versions of items that were sent only as a later version */
    _Atomic uint64_t live_stalled;   /* events that were delayed because a client read nothing */
};

/* Connections that are blocked, the one that has waited longest first. */
struct conn_queue {
    struct conn *first, *last;
};

struct loop {
    struct server *server;
    uv_loop_t uv;
    uv_thread_t thread;
    bool running; /* the thread was started; only the main thread uses it */
    struct listener listeners[LOOP_LISTENERS];
    unsigned listener_count;
    uv_async_t
        wake; /* shared: the hot tier has news, a submission is done, or the loop must stop */
    uv_prepare_t prepare;
    uv_timer_t check; /* once a second: time-outs and unused memory of connections */
    uv_timer_t pace;  /* runs while connections wait because the hot tier slows writes down */
    struct rests rests;
    struct conn *conns; /* all connections */
    uint32_t refused;   /* connections in the list that do not count as one of --max-connections */

    struct reply_group *groups; /* a queue in a ring, capacity a power of two */
    size_t group_first, group_count, group_capacity;

    struct conn_queue blocked; /* connections that wait to be admitted */
    struct conn_queue unnamed; /* connections that wait for a name */
    uint64_t name_wakes;       /* names_wakes when those in `unnamed` were last resumed */
    struct hot_pacer pacer;
    uint32_t submitted; /* submissions that are not done yet */
    bool wrote;         /* something was written in this turn, so the hot tier must be kicked */
    bool stopping;
    uint64_t stop_deadline_ms;
    uint64_t clock_ns; /* the monotonic clock when it was last read */
    struct watch watch;
    void *streams; /* what server_parts.streams->open returned; NULL: there are no live streams */

    /* Scratch memory for the current command or batch. */
    struct text *args; /* --max-args of them: the words of a command, for a face */
    struct op_scratch scratch;
    struct hot_scratch hot_scratch;
    struct hot_request requests[LIMIT_BATCH];
    char read_buffer[LIMIT_READ];

    atomic_bool stop_wanted; /* shared: loop_stop was called */
    atomic_bool waiting;     /* shared: the loop wants to be woken when the hot tier has news */
    struct mailbox mailbox;  /* shared: submissions that are done */
    struct loop_stats stats;
};

/* Prepares a loop. 0, or a libuv error; after an error nothing has to be freed. */
int loop_init(struct loop *loop, struct server *server);

/*
 * Listens on a bound socket, before loop_run. The loop owns the socket from now on, also after an error.
 * 0, or a libuv error.
 */
int loop_listen(struct loop *loop, const struct face *face, int socket);

/* Starts the loop's thread. 0, or a libuv error. */
int loop_run(struct loop *loop);

/* Says that the hot tier has news: a release, another state, or admission. Any thread may call it. */
void loop_notify(struct loop *loop);

/* Asks the loop to end its connections and its thread. Any thread may call it. */
void loop_stop(struct loop *loop);

/* Waits until the thread has ended. */
void loop_join(struct loop *loop);

/* Frees the loop, once no thread can call any of the functions above any more. */
void loop_free(struct loop *loop);

/* Begins to accept, or continues after a pause. A libuv error: if the listener is `open`, close it. */
int listener_open(struct listener *listener);

/* Stops accepting for good. */
void listener_end(struct listener *listener);

/*
 * Accepts the connection that waits, sends an error that says that there is no memory for it, and closes
 * it. It needs no memory itself. Without this, libuv would not report any further connection.
 */
void listener_turn_away(struct listener *listener);

/*
 * Submits to the hot tier, with a deadline. `done` of the submission is called in a later turn of the loop. False: too
 * many submissions wait already, and the caller still owns this one.
 */
bool loop_submit(struct loop *loop, struct hot_submission *submission);

/* `done` of each submission calls it: the submission is back, so the loop may end without waiting for it. */
void loop_took_back(struct loop *loop);

/* Adds a group to the queue. False: there is no memory. */
bool loop_queue(struct loop *loop, struct reply_group group);

static inline void loop_count(_Atomic uint64_t *counter, uint64_t by)
{
    /* One writer: no need for an atomic read-modify-write. */
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + by,
                          memory_order_relaxed);
}

#endif

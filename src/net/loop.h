/*
 * One I/O thread: a libuv loop, its listeners and its connections. A turn of the loop reads what
 * came, runs it, and hands replies over in *groups*: a group may be sent once the hot tier has
 * released the point that it depends on (hot_point). Release points only grow, so groups wait in one
 * queue.
 *
 * All members belong to the loop's own thread, but those marked as shared.
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

/* A socket that connections with one face come from. */
struct listener {
    uv_tcp_t tcp;
    struct loop *loop;
    const struct face *face;
    int socket;        /* what tcp has another descriptor of; it listens also while tcp is closed */
    bool open;         /* tcp is there */
    bool failing;      /* the last connection could not be accepted */
    uv_timer_t pause;  /* until it is tried again */
    uv_tcp_t unwanted; /* a connection that is not taken, while it is closed */
    enum status why;   /* it is not */
    bool turning_away;
    bool next_waits; /* and another has come meanwhile */
};

#define LOOP_LISTENERS 2

/* Replies of one connection that wait for their release together. */
struct reply_group {
    struct conn *conn;
    uint64_t point;    /* the release point that they depend on */
    uint64_t end;      /* offset behind them in the connection's stream of reply bytes */
    uint64_t since_ns; /* when they were ready, if they had to wait */
    uint32_t replies;
    bool wrote;  /* some of them acknowledge a write */
    bool bare;   /* some of them have no body */
    bool stream; /* the last of them is the head of a live stream */
};

/* Written by the loop's thread, read by any (relaxed). */
struct loop_stats {
    _Atomic uint64_t commands;
    _Atomic uint64_t errors;
    _Atomic uint64_t accepted;
    _Atomic uint64_t refused;
    _Atomic uint64_t bytes_in;
    _Atomic uint64_t bytes_out;
    _Atomic uint64_t jobs;         /* submitted */
    _Atomic uint64_t jobs_refused; /* answered BUSY instead */
    _Atomic uint64_t limits_checked;
    _Atomic uint64_t limited[LIMIT_BY_TOTAL]; /* refused, or in a dry run not */
    _Atomic uint64_t live_items;              /* watched by streams */
    _Atomic uint64_t live_events;
    _Atomic uint64_t live_coalesced; /* versions of items that were told as part of a later one */
    _Atomic uint64_t live_stalled;   /* events put off because a client took nothing */
};

/* Connections that are blocked, the one that has waited longest first. */
struct conn_queue {
    struct conn *first, *last;
};

struct loop {
    struct server *server;
    uv_loop_t uv;
    uv_thread_t thread;
    bool running; /* the thread was started; main's */
    struct listener listeners[LOOP_LISTENERS];
    unsigned listener_count;
    uv_async_t wake; /* shared: news of the hot tier, a submission that is done, the wish to stop */
    uv_prepare_t prepare;
    uv_timer_t sweep;
    uv_timer_t pace; /* runs while connections wait because the hot tier slows writes down */
    struct rests rests;
    struct conn *conns; /* all of them */
    uint32_t refused;   /* of them: have no place among --max-connections */

    struct reply_group *groups; /* a queue in a ring, capacity a power of two */
    size_t group_first, group_count, group_capacity;

    struct conn_queue blocked; /* connections that wait to be admitted */
    struct conn_queue unnamed; /* connections that wait for a name */
    uint64_t name_wakes;       /* names_wakes when those in `unnamed` were last resumed */
    struct hot_pacer pacer;
    uint32_t submitted; /* submissions that are not back yet */
    bool wrote;         /* this turn, so the hot tier must be kicked */
    bool stopping;
    uint64_t stop_deadline_ms;
    uint64_t clock_ns; /* as last looked at */
    struct watch watch;
    void *streams; /* of server_parts.streams; NULL: there are none */

    /* For the command or batch at hand. */
    struct text *args; /* --max-args of them: the words of a command, for a face */
    struct op_scratch scratch;
    struct hot_scratch hot_scratch;
    struct hot_request requests[LIMIT_BATCH];
    char read_buffer[LIMIT_READ];

    atomic_bool stop_wanted; /* shared */
    atomic_bool waiting;     /* shared: progress is of interest */
    struct mailbox mailbox;  /* shared: submissions that came back */
    struct loop_stats stats;
};

/* Prepares a loop. A libuv error: nothing is left. */
int loop_init(struct loop *loop, struct server *server);
/* Before it runs: listens on a bound socket, its own from now on, also if that fails. */
int loop_listen(struct loop *loop, const struct face *face, int socket);
int loop_run(struct loop *loop);    /* starts its thread */
void loop_moved(struct loop *loop); /* from any thread: there is news of the hot tier */
void loop_stop(struct loop *loop);  /* from any thread: ask it to end */
void loop_join(struct loop *loop);  /* wait for that */
void loop_free(struct loop *loop);  /* once nobody can call any of those above any more */

/* Begins to listen on its socket, or goes on. A libuv error: if it is `open` now, it is to be closed. */
int listener_open(struct listener *listener);
void listener_end(struct listener *listener); /* for good */

/*
 * Takes the connection that has come, says that there is no memory for it, and closes it. Needs none
 * itself: a listener whose connections are not taken would never hear of another.
 */
void listener_turn_away(struct listener *listener);

/*
 * Submits to the hot tier, with a deadline; `done` of the submission is called in a later turn of the
 * loop. False: too many wait already, and the submission is still the caller's.
 */
bool loop_submit(struct loop *loop, struct hot_submission *submission);

/* By `done` of each submission: it is back, and the loop does not wait for it before it ends. */
void loop_took_back(struct loop *loop);

/* Queues a group; false: no memory. */
bool loop_queue(struct loop *loop, struct reply_group group);

static inline void loop_count(_Atomic uint64_t *counter, uint64_t by)
{
    /* One writer: no need for an atomic read-modify-write. */
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + by,
                          memory_order_relaxed);
}

#endif

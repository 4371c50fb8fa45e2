/*
 * A connection. Bytes are read into the loop's shared buffer and commands run straight from it; only an
 * unfinished command is kept, in `in`. Replies are gathered in `out`. A stream offset relates `out` to
 * the stream of bytes that the client gets: what is below `released` may be written, and the rest waits
 * for its release. What the socket did not take at once is handed to libuv in `sending`.
 *
 * While a worker has requests of it, in `job`, the connection neither runs nor reads, so that replies
 * keep their order.
 *
 * The life of a connection is its `state`:
 *
 *       accepted
 *          |
 *          v
 *       +------+  a command waits for admission   +---------+
 *       | OPEN | -------------------------------> | BLOCKED |
 *       |      | <------------------------------- |         |
 *       +------+           it is tried again      +---------+
 *          |                                           |
 *          |  QUIT, end of input, end of a stream      |
 *          +--------------------+----------------------+
 *          |                    v
 *          |              +----------+
 *          |              | DRAINING | -------------------------+
 *          |              +----------+                          |
 *          |                    |                               |
 *          |  an error or the   | such an error while it drains |
 *          |  last HTTP reply   v                               |
 *          |           +-----------------+                      | all replies
 *          +---------> | DRAINING_LINGER |                      | are sent
 *       (BLOCKED too)  +-----------------+                      |
 *                               | all replies are sent          |
 *                               v                               |
 *                         +-----------+                         |
 *                         | LINGERING |                         |
 *                         +-----------+                         |
 *                               | the client closed, sent too   |
 *                               | much, or took too long        |
 *                               v                               |
 *       from each       +---------+                             |
 *       state above --> | CLOSING | <---------------------------+
 *                       +---------+
 *                            | libuv has closed the socket
 *                            v
 *                       +--------+
 *                       | CLOSED |  it is freed as soon as neither a reply group nor a job refers to it
 *                       +--------+
 *
 * A state is never entered again once it was left, except that OPEN and BLOCKED alternate. Whether the
 * connection is being read (`reading`), pauses (`rest`) or has a job is independent of its state,
 * because each of them begins and ends many times while it is OPEN.
 *
 * A connection lingers because closing a socket with unread bytes makes the kernel throw away what was
 * sent last. Where a client may still be sending when we refuse, our side is shut down, and for a short
 * time what arrives is read and dropped.
 *
 * A connection belongs to the thread of its loop, which alone may call these functions.
 */
#ifndef LAUD_NET_CONN_H
#define LAUD_NET_CONN_H

#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

#include "base/buffer.h"
#include "base/limits.h"
#include "guard/ip.h"
#include "guard/limits.h"
#include "net/job.h"
#include "net/loop.h"
#include "net/rest.h"

#define CONN_MAGIC 0x6c61636fU

enum conn_state {
    CONN_OPEN,     /* commands are run */
    CONN_BLOCKED,  /* a command waits for admission; the connection is in a queue of its loop */
    CONN_DRAINING, /* no more commands are run; it is closed when all replies are sent */
    CONN_DRAINING_LINGER, /* likewise, but it lingers before it is closed */
    CONN_LINGERING,       /* all is sent and our side is shut down; what arrives is dropped */
    CONN_CLOSING,         /* uv_close was called */
    CONN_CLOSED,          /* uv_close has called back */
    CONN_STATES
};

struct conn {
    unsigned magic;
    uv_tcp_t tcp;
    uv_write_t write;
    struct loop *loop;
    enum conn_state state; /* only conn_enter changes it */
    struct conn *next, *previous;
    struct conn_queue *queue; /* the queue of the loop in which it waits; NULL: it is not BLOCKED */
    struct conn *queue_next, *queue_previous;
    struct job *job; /* the job that is submitted; NULL: there is none */
    struct rest rest;
    const struct face *face;
    void *exchange; /* belongs to the face */
    uint64_t id;

    struct buffer in; /* bytes of an unfinished command, and bytes that were not run yet */

    struct buffer out;
    uint64_t out_start; /* the stream offset of out.bytes[0] */
    uint64_t released;  /* the stream offset up to which bytes may be sent */
    struct buffer sending;
    size_t
        unfinished;   /* bytes at the end of `out` that are the beginning of one unfinished reply */
    uint32_t replies; /* replies since the last group */
    uint32_t groups;  /* groups of it in the queue of the loop */
    int64_t shift; /* is added to the ends of these groups: errors replaced replies before them */

    uint64_t linger_bytes; /* how many bytes may still arrive and be dropped */
    uint64_t opened_ms;    /* when it was accepted */
    uint64_t active_ms;    /* when the client last sent something */
    uint64_t stuck_ms;     /* since when the client owes us bytes or reads none; 0: it does not */

    struct ip peer;
    struct limit_ask ask;             /* who asks, as far as that is clear */
    uint32_t refusals;                /* refusals by limits since an operation passed, or a pause */
    uint32_t rest_ms;                 /* how long it pauses after this run; 0: it does not */
    const struct access_token *token; /* the token that the client has shown; NULL: none */

    bool many;        /* it comes from a proxy: many clients share it, so it never has to pause */
    bool had_turn;    /* its last run was long, so that the next is in the next turn of the loop */
    bool passed;      /* the operation has passed the limits, but has to be run again */
    bool wrote;       /* a reply since the last group acknowledges a write */
    bool bare;        /* a reply since the last group has no body */
    bool reading;     /* libuv reads from the socket */
    bool owed;        /* the face keeps much of a request that the client has to complete */
    bool awaits_name; /* if it is BLOCKED: it waits for a name, not for admission */
    bool counted;     /* it counts as one of --max-connections; one that is refused does not */
    bool streaming;   /* it is a live stream, which may be silent for as long as it likes */
    char name[LIMIT_CLIENT_NAME + 1];
};

/* Accepts a connection from a listener of the loop. */
void conn_accept(struct listener *listener);

/* Bytes were put into `out` that are no reply: they are sent after the replies before them. */
void conn_release_interim(struct conn *conn);

/* The same, but not before the hot tier has released this point. */
void conn_send(struct conn *conn, uint64_t point);

/* Runs the bytes that were kept, now that there may be room for replies, and then reads again. */
void conn_resume(struct conn *conn);
void conn_unblock(struct conn *conn); /* the same for a connection that is BLOCKED */

/* A worker has finished the job of the connection: takes its replies and frees it. */
void conn_take_back(struct conn *conn, struct job *job);

/* The hot tier has released this group, the oldest of the connection: its replies may be sent. */
void conn_release(struct conn *conn, const struct reply_group *group);

/* Recording failed before the release of this group, the oldest: errors replace all its replies. */
void conn_fail(struct conn *conn, const struct reply_group *group, enum status status);

/*
 * No more commands are run, and the connection ends when all replies are sent; with `linger` it lingers
 * then. It does nothing if the connection is already that far or further.
 */
void conn_drain(struct conn *conn, bool linger);

/* Closes at once. It does nothing if that was done already. */
void conn_close(struct conn *conn);

/* Commands may be run: the connection neither ends nor is closed. */
static inline bool conn_is_open(const struct conn *conn)
{
    return conn->state <= CONN_BLOCKED;
}

/* It is closed, or about to be: nothing can be read or sent any more. */
static inline bool conn_is_closing(const struct conn *conn)
{
    return conn->state >= CONN_CLOSING;
}

/* Closes a connection that took too long, or frees buffers that it does not need; once a second. */
void conn_check(struct conn *conn, uint64_t now_ms);

static inline struct watch_client conn_client(const struct conn *conn)
{
    return (struct watch_client){.tcp = &conn->tcp, .name = conn->name};
}

/* The number of bytes in `out` that may be sent once they are released. */
static inline size_t conn_finished(const struct conn *conn)
{
    return conn->out.length - conn->unfinished;
}

/* The number of bytes that were written for the client and that the socket did not take yet. */
static inline size_t conn_unsent(const struct conn *conn)
{
    return conn->out.length + conn->sending.length;
}

#endif

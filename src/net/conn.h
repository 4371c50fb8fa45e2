/*
 * A connection. Bytes are read into the loop's shared buffer and commands run straight from it;
 * only an unfinished command is kept, in `in`. Replies gather in `out`, which a stream offset maps
 * to the client's byte stream: what lies below `released` may be written, the rest waits for the
 * journal. What the socket did not take at once is handed to libuv in `sending`.
 *
 * While a worker has requests of it, in `job`, the connection neither runs nor reads on: so replies
 * keep their order.
 *
 * Closing with bytes unread makes the kernel throw away what was sent last. Where a client may still be
 * sending when we refuse, the connection *lingers*: our side is shut, and for a moment what comes is
 * read and dropped.
 *
 * A connection is freed when libuv has closed it and neither a reply group nor a job names it any
 * more. Owned by its loop's thread.
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

struct conn {
    unsigned magic;
    uv_tcp_t tcp;
    uv_write_t write;
    struct loop *loop;
    struct conn *next, *previous;
    struct conn *blocked_next, *blocked_previous; /* in the loop's queue, if it is blocked */
    struct job *job;                              /* that is submitted; NULL: none */
    struct rest rest;
    const struct face *face;
    void *exchange; /* the face's own */
    uint64_t id;

    struct buffer in; /* bytes of an unfinished command, or not yet run */

    struct buffer out;
    uint64_t out_start; /* stream offset of out.bytes[0] */
    uint64_t released;  /* stream offset up to which bytes may leave */
    struct buffer sending;
    size_t
        unfinished; /* bytes at the end of out of a reply that leaves as a whole, and is not yet */
    uint32_t replies; /* since the last group */
    uint32_t groups;  /* waiting in the loop's queue */
    int64_t shift;    /* to add to their ends, where errors took the place of replies before them */

    uint64_t linger_bytes; /* that may still come, to be thrown away */
    uint64_t opened_ms;    /* when it came */
    uint64_t active_ms;    /* when it last said something */
    uint64_t stuck_ms;     /* since when it owes us bytes or takes none; 0: it does not */

    struct ip peer;
    struct limit_ask ask;             /* who asks, as far as it is known */
    uint32_t refusals;                /* by limits, since one passed or it had to rest */
    uint32_t rest_ms;                 /* for how long it has to when this run ends; 0: not at all */
    const struct access_token *token; /* that it has shown; NULL: none */

    bool many;            /* a proxy's: clients share it, so none has to rest for another */
    bool had_turn;        /* its last run was long: the next is in the next turn of the loop */
    bool passed;          /* the operation at hand has passed the limits, and is to come again */
    bool wrote;           /* since the last group */
    bool bare;            /* since the last group: a reply without a body is among them */
    bool reading;         /* libuv reads for us */
    bool owed;            /* the face keeps much of something that the client has yet to finish */
    bool blocked;         /* a command waits for the guard's leave */
    bool close_when_sent; /* no more commands are run */
    bool linger;          /* and then what still comes is read and thrown away for a moment */
    bool lingering;       /* that is now */
    bool counted;         /* as one of --max-connections; not so while it is told that it is none */
    bool streaming;       /* a live stream: it is quiet for as long as it likes */
    bool closing;         /* uv_close was called */
    bool closed;          /* and has called back */
    char name[LIMIT_CLIENT_NAME + 1];
};

/* Takes a connection from a listener of the loop. */
void conn_accept(struct listener *listener);

/* What was put into `out` and is no reply may leave, behind the replies before it. */
void conn_release_interim(struct conn *conn);

/* The same, once the hot tier has released a point. */
void conn_send(struct conn *conn, uint64_t point);

/* Runs what was kept, now that there may be room; reads on if that is done. */
void conn_resume(struct conn *conn);
void conn_unblock(struct conn *conn); /* the same for one that is blocked */

/* The job it waited for is done; frees it. */
void conn_take_back(struct conn *conn, struct job *job);

/* The group at hand may leave (or, failed, must be answered with an error instead). */
void conn_release(struct conn *conn, const struct reply_group *group);
void conn_fail(struct conn *conn, const struct reply_group *group, enum status status);

/* Closes at once. */
void conn_close(struct conn *conn);

/* Time-outs, and buffers given back; called about once a second. */
void conn_sweep(struct conn *conn, uint64_t now_ms);

static inline struct watch_client conn_client(const struct conn *conn)
{
    return (struct watch_client){.tcp = &conn->tcp, .name = conn->name};
}

/* Bytes in `out` that may leave once the journal says so. */
static inline size_t conn_finished(const struct conn *conn)
{
    return conn->out.length - conn->unfinished;
}

static inline size_t conn_unsent(const struct conn *conn)
{
    return conn->out.length + conn->sending.length;
}

#endif

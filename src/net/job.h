/*
 * A job: requests of one connection that need the store, on their way from its loop to a worker and
 * back. The loop makes it, with copies of all it needs; the queue of the pool carries it; a worker
 * runs the requests and writes their replies into `out`; the loop's own queue carries it home, where
 * the connection takes the replies and frees it. At any time it belongs to one of them.
 *
 * All of its memory is charged to the budget, as memory of the connection.
 */
#ifndef LAUD_NET_JOB_H
#define LAUD_NET_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "hot/hot.h"

struct conn;
struct face;
struct loop;

struct job {
    struct job *next;        /* in whichever queue it is */
    struct loop *loop;       /* where it goes home to */
    struct conn *conn;       /* only the loop looks at it; NULL: live streams want it */
    size_t bytes;            /* of this allocation */
    const struct face *face; /* of the connection; says how the replies are written */
    const void *exchange;    /* the face's own; the loop leaves it alone meanwhile */
    uint32_t from;           /* place of the first request in its batch */
    bool writes;             /* some of the requests do */
    bool failed;             /* no memory for the replies: `out` is not whole */
    uint32_t errors;         /* among the replies */
    uint64_t since_ns;       /* when the first of them was read; the loop's */
    struct buffer out;       /* the replies, one for each request */
    uint32_t count;
    uint32_t commands;             /* the first of them; those behind are the server's own */
    struct hot_request requests[]; /* answers are the worker's to provide; then come the items */
};

/* Does it change much, and asks for leave as it goes on? */
static inline bool job_request_sweeps(const struct hot_request *request)
{
    return request->action == HOT_FORGET || request->action == HOT_DROP;
}

/* Does it change anything? */
static inline bool job_request_writes(const struct hot_request *request)
{
    return request->action == HOT_SET || request->action == HOT_CLEAR ||
           request->action == HOT_ADD || job_request_sweeps(request);
}

/* Copies the requests and their items; NULL: no memory. */
struct job *job_new(const struct hot_request *requests, uint32_t count,
                    struct memory_budget *budget);
void job_free(struct job *job);

#endif

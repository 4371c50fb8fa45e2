/*
 * A job: a submission of a connection (hot/submission.h), with what its loop needs to know when it
 * comes back. Whoever answers the requests lets the connection's face write the replies into `out`, on
 * that thread; then the connection takes the replies and frees the job, on its loop.
 *
 * All of its memory is charged to the budget, as memory of the connection.
 */
#ifndef LAUD_NET_JOB_H
#define LAUD_NET_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "hot/submission.h"

struct conn;
struct face;
struct loop;

struct job {
    struct hot_submission submission; /* the first member */
    struct conn *conn;                /* only the loop looks at it */
    struct loop *loop;
    const struct face *face; /* of the connection; says how the replies are written */
    const void *exchange;    /* the face's own; the loop does not touch it meanwhile */
    uint32_t from;           /* index of the first request in its batch */
    bool failed;             /* no memory for the replies: `out` is not complete */
    uint32_t errors;         /* among the replies */
    uint64_t since_ns;       /* when the first of them was read; the loop's */
    struct buffer out;       /* the replies, one for each request */
    uint32_t commands;       /* the first of the requests; those after them are the server's own */
};

/* Copies the requests from this index of the loop's batch up to `end`. NULL: no memory. */
struct job *job_new(struct conn *conn, uint32_t from, uint32_t end);
void job_free(struct job *job);

#endif

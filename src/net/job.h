/*
 * A job: a submission of a connection (hot/submission.h), together with what the loop needs when it is
 * done. The thread that answers the requests calls the connection's face, which writes the replies into
 * `out`. Then the connection takes the replies and frees the job, on its loop.
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
    struct conn *conn;                /* only the loop's thread uses it */
    struct loop *loop;
    const struct face *face; /* the connection's face, which writes the replies */
    const void *exchange;    /* conn->exchange; the loop does not change it until the job is done */
    uint32_t from;           /* index of the first request in its batch */
    bool failed;             /* there was no memory for the replies: `out` is not complete */
    uint32_t errors;         /* how many replies are errors */
    uint64_t since_ns;       /* when the first request was read; only the loop's thread uses it */
    struct buffer out;       /* the replies, one for each request */
    uint32_t commands; /* so many requests are the client's; those after them the server added */
};

/* Copies requests [from, end) of the loop's batch. NULL: there is no memory. */
struct job *job_new(struct conn *conn, uint32_t from, uint32_t end);
void job_free(struct job *job);

#endif

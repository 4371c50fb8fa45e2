/*
 * The pool of workers: threads that may wait for the store, so that no I/O thread ever does. Jobs
 * are taken in the order they came; past `limit` waiting ones no more are taken in. A worker runs
 * the requests of a job, writes the replies, and hands it back to its loop.
 *
 * Any loop may submit. Started before the loops, stopped after them.
 */
#ifndef LAUD_NET_WORK_H
#define LAUD_NET_WORK_H

#include <stdbool.h>
#include <stddef.h>

#include <uv.h>

#include "base/names.h"
#include "guard/guard.h"
#include "hot/hot.h"
#include "net/job.h"

struct worker;

struct work {
    struct hot *hot;
    struct names *names;
    struct guard *guard;
    struct worker *workers;
    unsigned count; /* of workers that were started */

    uv_mutex_t lock; /* of all below */
    uv_cond_t come;
    struct job *first, *last; /* those that wait */
    size_t waiting;
    size_t limit;
    bool ending;
};

/* The caller owns the parts. 0, or a libuv error and nothing is left. */
int work_start(struct work *work, struct hot *hot, struct names *names, struct guard *guard,
               unsigned count);

/* No job may be out any more. Does nothing to one that was never started. */
void work_stop(struct work *work);

/* False: too many wait already; the job is still the caller's. */
bool work_submit(struct work *work, struct job *job);

/* How many wait at the moment. */
size_t work_waiting(struct work *work);

#endif

/*
 * A pool of worker threads that run submissions, so that no I/O thread ever waits. Submissions are
 * run in the order in which they came; past `limit` waiting ones no more are taken. The memory tier
 * has a pool behind hot_submit, whose workers may wait for the store.
 *
 * A worker gives each request room for its answers, calls the pool's `run`, then `answered` of the
 * submission, and then submission_finish. Any thread may submit.
 */
#ifndef LAUD_HOT_POOL_H
#define LAUD_HOT_POOL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/limits.h"
#include "hot/hot.h"
#include "hot/submission.h"

struct pool;

/* What belongs to one worker thread; reused from submission to submission. */
struct pool_worker {
    struct pool *pool;
    unsigned number; /* below LIMIT_WORKERS, and its own */
    pthread_t thread;
    struct hot_scratch scratch;
    struct hot_answer answers[LIMIT_BATCH_ITEMS];
};

/* Runs all requests of a submission and sets the status of each; it may block. */
typedef void pool_run_fn(void *context, struct pool_worker *worker,
                         struct hot_submission *submission);

struct pool {
    pool_run_fn *run;
    void *context;
    struct pool_worker *workers; /* NULL: it was not started */
    unsigned count;              /* of workers that were started */

    pthread_mutex_t lock; /* of all below */
    pthread_cond_t come;
    struct hot_submission *first, *last; /* those that wait */
    size_t waiting;
    size_t limit;
    bool ending;
};

/* `timeline` is for the workers' scratch, and may be NULL. 0, or an errno and nothing is left. */
int pool_start(struct pool *pool, unsigned count, struct timeline *timeline, pool_run_fn *run,
               void *context);

/* Ends the threads. No submission may be out any more. Does nothing to one that was not started. */
void pool_stop(struct pool *pool);

/* False: too many wait already, or it was not started; the submission is still the caller's. */
bool pool_submit(struct pool *pool, struct hot_submission *submission);

/* How many wait at the moment; 0 if it was not started. */
size_t pool_waiting(struct pool *pool);

#endif

/*
 * A pool of worker threads that run submissions, so that no I/O thread ever waits. Submissions are begun
 * in the order in which they were submitted. While `limit` submissions wait, further ones are refused.
 * The memory tier runs the submissions of hot_submit in a pool, whose workers may wait for the store.
 *
 * A worker gives each request memory for its answers, calls the pool's `run`, then `answered` of the
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

/* The state of one worker thread, which it reuses from submission to submission. */
struct pool_worker {
    struct pool *pool;
    unsigned number; /* below LIMIT_WORKERS; no other worker has the same */
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
    struct pool_worker *workers; /* NULL: the pool was not started */
    unsigned count;              /* of workers that were started */

    pthread_mutex_t lock;                /* protects all members below */
    pthread_cond_t come;                 /* a submission was added, or the pool ends */
    struct hot_submission *first, *last; /* the queue of waiting submissions */
    size_t waiting;
    size_t limit;
    bool ending;
};

/*
 * Starts `count` threads. `timeline` is for the workers' scratch and may be NULL. Returns 0, or an errno;
 * then no thread runs and no memory is held.
 */
int pool_start(struct pool *pool, unsigned count, struct timeline *timeline, pool_run_fn *run,
               void *context);

/*
 * Ends the threads. Every submission must be finished before. Does nothing if the pool was not started.
 */
void pool_stop(struct pool *pool);

/*
 * Returns false if too many submissions wait already or the pool was not started. Then the submission
 * still belongs to the caller.
 */
bool pool_submit(struct pool *pool, struct hot_submission *submission);

/* How many submissions wait at the moment; 0 if the pool was not started. */
size_t pool_waiting(struct pool *pool);

#endif

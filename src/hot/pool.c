/*
 * A worker has the sender render the replies on the worker's thread (`answered`). So the memory for
 * answers and counters belongs to the worker, which reuses it, and only finished bytes go to the loop.
 */
#include "hot/pool.h"

#include <errno.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/clock.h"

static bool is_late(const struct hot_submission *submission)
{
    return submission->deadline_ns != 0 && clock_monotonic_ns() >= submission->deadline_ns;
}

static void work_on(struct pool_worker *worker, struct hot_submission *submission)
{
    const struct pool *pool = worker->pool;
    uint32_t items = 0;
    for (uint32_t i = 0; i < submission->count; i++) {
        hot_request_set_answers(&submission->requests[i], worker->answers + items);
        items += submission->requests[i].item_count;
    }
    ASSERT(items <= LIMIT_BATCH_ITEMS);
    hot_scratch_clear(&worker->scratch);
    if (is_late(submission))
        submission_refuse(submission);
    else
        pool->run(pool->context, worker, submission);
    submission->answered(submission, &worker->scratch);
    submission_finish(submission);
}

/* Waits for a submission; NULL: the pool ends. */
static struct hot_submission *take(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    while (pool->first == NULL && !pool->ending)
        pthread_cond_wait(&pool->come, &pool->lock);
    struct hot_submission *submission = pool->first;
    if (submission != NULL) {
        pool->first = submission->next;
        pool->waiting--;
    }
    pthread_mutex_unlock(&pool->lock);
    return submission;
}

static void *worker_thread(void *argument)
{
    struct pool_worker *worker = argument;
    for (struct hot_submission *submission; (submission = take(worker->pool)) != NULL;)
        work_on(worker, submission);
    hot_scratch_free(&worker->scratch);
    return NULL;
}

int pool_start(struct pool *pool, unsigned count, struct timeline *timeline, pool_run_fn *run,
               void *context)
{
    ASSERT(count > 0 && count <= LIMIT_WORKERS);
    *pool = (struct pool){.run = run, .context = context, .limit = LIMIT_JOBS};
    pool->workers = calloc(count, sizeof *pool->workers);
    if (pool->workers == NULL)
        return ENOMEM;
    int error = pthread_mutex_init(&pool->lock, NULL);
    if (error != 0)
        goto free_workers;
    error = pthread_cond_init(&pool->come, NULL);
    if (error != 0)
        goto destroy_lock;
    for (; error == 0 && pool->count < count; pool->count += error == 0) {
        struct pool_worker *worker = &pool->workers[pool->count];
        worker->pool = pool;
        worker->number = pool->count;
        worker->scratch.timeline = timeline;
        error = pthread_create(&worker->thread, NULL, worker_thread, worker);
    }
    if (error != 0)
        pool_stop(pool);
    return error;

destroy_lock:
    pthread_mutex_destroy(&pool->lock);
free_workers:
    free(pool->workers);
    pool->workers = NULL;
    return error;
}

void pool_stop(struct pool *pool)
{
    if (pool->workers == NULL)
        return;
    pthread_mutex_lock(&pool->lock);
    ASSERT(pool->first == NULL);
    pool->ending = true;
    pthread_cond_broadcast(&pool->come);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->count; i++)
        pthread_join(pool->workers[i].thread, NULL);
    ASSERT(pool->waiting == 0);
    pthread_cond_destroy(&pool->come);
    pthread_mutex_destroy(&pool->lock);
    free(pool->workers);
    pool->workers = NULL;
}

bool pool_submit(struct pool *pool, struct hot_submission *submission)
{
    if (pool->workers == NULL)
        return false;
    ASSERT(submission->mailbox != NULL && submission->answered != NULL && submission->done != NULL);
    pthread_mutex_lock(&pool->lock);
    bool taken = pool->waiting < pool->limit;
    if (taken) {
        submission->next = NULL;
        if (pool->first == NULL)
            pool->first = submission;
        else
            pool->last->next = submission;
        pool->last = submission;
        pool->waiting++;
        pthread_cond_signal(&pool->come);
    }
    pthread_mutex_unlock(&pool->lock);
    return taken;
}

size_t pool_waiting(struct pool *pool)
{
    if (pool->workers == NULL)
        return 0;
    pthread_mutex_lock(&pool->lock);
    size_t waiting = pool->waiting;
    pthread_mutex_unlock(&pool->lock);
    return waiting;
}

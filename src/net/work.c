/*
 * A worker renders the replies itself, so that answers and counters are its own, reused from job to
 * job, and only finished bytes go home.
 *
 * Writes need the guard's leave here as they do on a loop, but a worker may simply sleep until it
 * gets it: the journal makes room by itself once it is kicked. Stopping ends such a wait, because
 * the guard then refuses.
 *
 * FORGET and DROP write more than one leave is for, so they get it piece by piece, and only for so
 * long: others wait for this worker too, and whoever wants the rest removed asks again.
 */
#include "net/work.h"

#include <stdlib.h>
#include <time.h>

#include "base/assert.h"
#include "base/clock.h"
#include "net/face.h"
#include "net/loop.h"

#define NAP_MIN_NS 100000
#define NAP_MAX_NS 2000000

/* What one FORGET or DROP asks for its leave. */
struct sweep_leave {
    struct hot_leave leave; /* first: it gets a pointer to it */
    struct worker *worker;
    uint64_t until_ns;
    bool begun; /* the first piece goes in any case: the store may have been waited for */
};

struct worker {
    struct work *work;
    unsigned number;
    uv_thread_t thread;
    struct pacer pacer;
    struct sweep_leave sweep;
    struct hot_scratch scratch;
    struct hot_answer answers[LIMIT_BATCH_ITEMS];
};

static void nap(struct worker *worker)
{
    struct guard *guard = worker->work->guard;
    uint64_t wait_ns = guard_wait_ns(guard, &worker->pacer, guard_lag(guard), clock_monotonic_ns());
    wait_ns = wait_ns < NAP_MIN_NS ? NAP_MIN_NS : wait_ns > NAP_MAX_NS ? NAP_MAX_NS : wait_ns;
    nanosleep(&(struct timespec){.tv_nsec = (long)wait_ns}, NULL);
}

static enum status admit(struct worker *worker)
{
    struct guard *guard = worker->work->guard;
    enum status status;
    while ((status = guard_admit_writes(guard, &worker->pacer, clock_monotonic_ns())) ==
           STATUS_BLOCKED) {
        journal_kick(guard->journal);
        nap(worker);
    }
    return status;
}

static enum status sweep_admit(struct hot_leave *leave, uint32_t writes)
{
    struct sweep_leave *sweep = (struct sweep_leave *)leave;
    struct guard *guard = sweep->worker->work->guard;
    journal_kick(guard->journal); /* what the piece before has written */
    if (sweep->begun && clock_monotonic_ns() >= sweep->until_ns)
        return STATUS_BLOCKED;
    sweep->begun = true;
    enum status status = admit(sweep->worker);
    if (status == STATUS_OK)
        guard_spend(guard, &sweep->worker->pacer, writes, clock_monotonic_ns());
    return status;
}

static void run_sweep(struct worker *worker, struct hot_request *request)
{
    worker->sweep =
        (struct sweep_leave){.leave.take = sweep_admit,
                             .worker = worker,
                             .until_ns = clock_monotonic_ns() + LIMIT_SWEEP_MS * 1000000ULL};
    request->leave = &worker->sweep.leave;
    hot_run_blocking(worker->work->hot, worker->number, request, 1, &worker->scratch);
}

/* May it run among others, under the leave that was got for all of them? */
static bool is_plain(const struct hot_request *request, enum status writes)
{
    return writes == STATUS_OK ? !job_request_sweeps(request) : !job_request_writes(request);
}

/* Runs the requests; those that write are refused unless the status is OK. */
static void run(struct worker *worker, struct job *job, enum status writes)
{
    for (uint32_t from = 0, to = 0; from < job->count; from = to) {
        while (to < job->count && is_plain(&job->requests[to], writes))
            to++;
        if (to > from)
            hot_run_blocking(worker->work->hot, worker->number, job->requests + from, to - from,
                             &worker->scratch);
        if (to == job->count)
            break;
        struct hot_request *request = &job->requests[to++];
        if (writes == STATUS_OK) {
            run_sweep(worker, request);
            writes = to < job->count ? admit(worker) : STATUS_OK;
        } else {
            request->status = writes;
        }
    }
}

static void write_replies(struct worker *worker, struct job *job)
{
    bool written = true;
    for (uint32_t i = 0; written && i < job->count; i++) {
        const struct hot_request *request = &job->requests[i];
        written = job->face->write(job, i, &worker->scratch, worker->work->names);
        job->errors += request->status != STATUS_OK && !request->own;
    }
    job->failed = !written;
}

static void work_on(struct worker *worker, struct job *job)
{
    struct guard *guard = worker->work->guard;
    uint32_t items = 0, writes = 0;
    for (uint32_t i = 0; i < job->count; i++) {
        job->requests[i].answers = worker->answers + items;
        items += job->requests[i].item_count;
        writes += job_request_writes(&job->requests[i]) && !job_request_sweeps(&job->requests[i]);
    }
    ASSERT(items <= LIMIT_BATCH_ITEMS);
    worker->scratch.used = 0;
    worker->scratch.listed_used = 0;
    worker->scratch.ranked_used = 0;
    enum status status = job->writes ? admit(worker) : STATUS_OK;
    run(worker, job, status);
    if (job->writes && status == STATUS_OK) {
        journal_kick(guard->journal);
        guard_spend(guard, &worker->pacer, writes, clock_monotonic_ns());
    }
    write_replies(worker, job);
    loop_take_back(job->loop, job);
}

/* Waits for a job; NULL: the pool ends. */
static struct job *take(struct work *work)
{
    uv_mutex_lock(&work->lock);
    while (work->first == NULL && !work->ending)
        uv_cond_wait(&work->come, &work->lock);
    struct job *job = work->first;
    if (job != NULL) {
        work->first = job->next;
        work->waiting--;
    }
    uv_mutex_unlock(&work->lock);
    return job;
}

static void worker_thread(void *argument)
{
    struct worker *worker = argument;
    for (struct job *job; (job = take(worker->work)) != NULL;)
        work_on(worker, job);
    free(worker->scratch.counters);
    free(worker->scratch.listed);
    free(worker->scratch.ranked);
}

int work_start(struct work *work, struct hot *hot, struct names *names, struct guard *guard,
               unsigned count)
{
    ASSERT(count > 0 && count <= LIMIT_WORKERS);
    *work = (struct work){.hot = hot, .names = names, .guard = guard, .limit = LIMIT_JOBS};
    work->workers = calloc(count, sizeof *work->workers);
    if (work->workers == NULL)
        return UV_ENOMEM;
    int error = uv_mutex_init(&work->lock);
    if (error)
        goto free_workers;
    error = uv_cond_init(&work->come);
    if (error)
        goto destroy_lock;
    for (; error == 0 && work->count < count; work->count += error == 0) {
        struct worker *worker = &work->workers[work->count];
        worker->work = work;
        worker->number = work->count;
        worker->scratch.timeline = guard->timeline;
        error = uv_thread_create(&worker->thread, worker_thread, worker);
    }
    if (error)
        work_stop(work);
    return error;

destroy_lock:
    uv_mutex_destroy(&work->lock);
free_workers:
    free(work->workers);
    work->workers = NULL;
    return error;
}

void work_stop(struct work *work)
{
    if (work->workers == NULL)
        return;
    uv_mutex_lock(&work->lock);
    ASSERT(work->first == NULL);
    work->ending = true;
    uv_cond_broadcast(&work->come);
    uv_mutex_unlock(&work->lock);
    for (unsigned i = 0; i < work->count; i++)
        uv_thread_join(&work->workers[i].thread);
    uv_cond_destroy(&work->come);
    uv_mutex_destroy(&work->lock);
    free(work->workers);
    work->workers = NULL;
}

bool work_submit(struct work *work, struct job *job)
{
    uv_mutex_lock(&work->lock);
    bool taken = work->waiting < work->limit;
    if (taken) {
        job->next = NULL;
        if (work->first == NULL)
            work->first = job;
        else
            work->last->next = job;
        work->last = job;
        work->waiting++;
        uv_cond_signal(&work->come);
    }
    uv_mutex_unlock(&work->lock);
    return taken;
}

size_t work_waiting(struct work *work)
{
    uv_mutex_lock(&work->lock);
    size_t waiting = work->waiting;
    uv_mutex_unlock(&work->lock);
    return waiting;
}

#include "net/job.h"

#include "base/assert.h"
#include "net/conn.h"
#include "net/face.h"

/* Runs where the answers are, usually on a worker thread. */
static void write_replies(struct hot_submission *submission, const struct hot_scratch *scratch)
{
    struct job *job = (struct job *)submission;
    const struct names *names = job->loop->server->parts.names;
    bool written = true;
    for (uint32_t i = 0; written && i < submission->count; i++) {
        const struct hot_request *request = &submission->requests[i];
        written = job->face->write(job, i, scratch, names);
        job->errors += request->status != STATUS_OK && !request->own;
    }
    job->failed = !written;
}

static void take_back(struct hot_submission *submission)
{
    struct job *job = (struct job *)submission;
    loop_took_back(job->loop);
    conn_take_back(job->conn, job);
}

struct job *job_new(struct conn *conn, uint32_t from, uint32_t end)
{
    ASSERT(conn->job == NULL && from < end && end <= LIMIT_BATCH);
    struct loop *loop = conn->loop;
    const struct hot_request *requests = loop->requests + from;
    struct memory_budget *budget = loop->server->parts.budget;
    struct job *job = submission_new(sizeof *job, requests, end - from, budget);
    if (job == NULL)
        return NULL;
    job->submission.answered = write_replies;
    job->submission.done = take_back;
    job->conn = conn;
    job->loop = loop;
    job->face = conn->face;
    job->exchange = conn->exchange;
    job->from = from;
    job->out.budget = budget;
    for (uint32_t i = 0; i < end - from; i++)
        job->commands += !requests[i].own;
    return job;
}

void job_free(struct job *job)
{
    buffer_free(&job->out);
    submission_free(&job->submission);
}

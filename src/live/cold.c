/*
 * Watched items that are not in memory. A worker loads them like any other item, and the next rounds
 * find them in memory. If memory is so short that they are evicted at once, they are loaded again and
 * again. Therefore each thread has one submission at a time, followed by a pause.
 *
 * Meanwhile a round may find the item in memory after all, with changes that are newer than the
 * worker's result. A stream must never send an older state after a newer one, so that result is then
 * not used.
 */
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "live/private.h"

void live_want_cold(struct live *live, struct watched *item)
{
    if (!list_has(&item->cold) && !item->away)
        list_add_last(&live->cold, &item->cold);
}

/* One submission. */
struct cold_job {
    struct hot_submission submission; /* the first member */
    struct live *live;
    struct buffer out; /* for each item: the number of its counters, then the counters; for a
                          subject: its news */
    bool failed;       /* there was no memory: `out` is not complete */
};

static bool write_found(struct cold_job *job, const struct hot_request *request,
                        const struct hot_scratch *scratch)
{
    struct buffer *out = &job->out;
    if (request->action == HOT_COMMENT_NEWS)
        return news_collect(out, request, scratch, job->live->loop->server->parts.names,
                            job->live->write_card);
    uint32_t count = request->status == STATUS_OK ? request->read.answers[0].count : UINT32_MAX;
    return buffer_append(out, &count, sizeof count) &&
           (count == UINT32_MAX ||
            buffer_append(out, scratch->counters + request->read.answers[0].first,
                          count * sizeof *scratch->counters));
}

/* Runs on the worker. It copies the counters, because the scratch belongs to the worker. */
static void write_all(struct hot_submission *submission, const struct hot_scratch *scratch)
{
    struct cold_job *job = (struct cold_job *)submission;
    bool written = true;
    for (uint32_t i = 0; written && i < submission->count; i++)
        written = write_found(job, &submission->requests[i], scratch);
    job->failed = !written;
}

static void free_job(struct cold_job *job)
{
    buffer_free(&job->out);
    submission_free(&job->submission);
}

static void take_back(struct hot_submission *submission);

/* Nothing was read of the first `count` items: what streams of comments have missed is still missing. */
static void fail_news(struct live *live, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (live->away_items[i]->news != NULL)
            news_fail(live->away_items[i]->news);
}

static struct cold_job *make_job(struct live *live)
{
    struct memory_budget *budget = live->loop->server->parts.budget;
    struct hot_request requests[LIMIT_BATCH];
    uint32_t count = 0;
    for (struct list *link = live->cold.next; link != &live->cold && count < LIMIT_BATCH;
         link = link->next) {
        struct watched *item = LIST_OF(link, struct watched, cold);
        live->away_items[count] = item;
        requests[count++] = live_ask(live, item, NULL);
    }
    ASSERT(count > 0); /* the caller has looked */
    struct cold_job *job = submission_new(sizeof *job, requests, count, budget);
    if (job == NULL) {
        fail_news(live, count);
        return NULL;
    }
    job->submission.answered = write_all;
    job->submission.done = take_back;
    job->live = live;
    job->out.budget = budget;
    return job;
}

void live_send_cold(struct live *live, uint64_t now_ns)
{
    struct loop *loop = live->loop;
    if (list_is_empty(&live->cold) || live->away > 0 || now_ns < live->cold_ns || loop->stopping)
        return;
    live->cold_ns = now_ns + LIVE_COLD_NS;
    struct cold_job *job = make_job(live);
    if (job == NULL)
        return;
    uint32_t count = job->submission.count;
    if (!loop_submit(loop, &job->submission)) {
        fail_news(live, count);
        free_job(job);
        return;
    }
    live->away = count;
    live->away_seen = live->opened;
    for (uint32_t i = 0; i < count; i++) {
        list_remove(&live->away_items[i]->cold);
        live->away_items[i]->away = true;
        live->away_items[i]->overtaken = false;
    }
}

static void take_found(struct live *live, struct watched *item, const char **at)
{
    struct hot_counter counters[LIMIT_NAMES];
    uint32_t count;
    memcpy(&count, *at, sizeof count);
    *at += sizeof count;
    if (count == UINT32_MAX)
        return;
    ASSERT(count <= LIMIT_NAMES);
    memcpy(counters, *at, count * sizeof *counters);
    *at += count * sizeof *counters;
    if (!item->overtaken)
        live_take(live, item, counters, count, live->away_seen);
}

/* Runs on the loop. */
static void take_back(struct hot_submission *submission)
{
    struct cold_job *job = (struct cold_job *)submission;
    struct live *live = job->live;
    const char *at = job->out.bytes, *end = at + job->out.length;
    loop_took_back(live->loop);
    ASSERT(live->away == submission->count);
    if (job->failed)
        fail_news(live, live->away);
    for (uint32_t i = 0; i < live->away; i++) {
        struct watched *item = live->away_items[i];
        if (!job->failed && item->news != NULL)
            at += live_take_comments(live, item, at, (size_t)(end - at), live->away_seen);
        else if (!job->failed)
            take_found(live, item, &at);
        watched_back(live_table(live, item), item);
    }
    live_count_items(live); /* items without viewers were freed just now */
    live->away = 0;
    live->cold_ns = clock_monotonic_ns() + LIVE_COLD_NS;
    free_job(job);
}

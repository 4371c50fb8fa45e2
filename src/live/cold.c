/*
 * Watched items that memory does not have. They are read like anything else, by a worker, and are then
 * in memory for the next looks; where memory is so short that they go again at once, they come by here
 * again and again. So there is one job of a thread at a time, and a pause behind it.
 *
 * Meanwhile a look may find the item in memory after all, and see what changed after the worker read
 * it. Nobody is told an older state after a newer one: what the worker brings then is not used.
 */
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "live/private.h"
#include "net/face.h"

void live_want_cold(struct live *live, struct watched *item)
{
    if (!list_has(&item->cold) && !item->away)
        list_add_last(&live->cold, &item->cold);
}

/* What the worker found, as numbers for the way home: how many, and the counters. */
static bool write_found(struct job *job, uint32_t index, const struct hot_scratch *scratch,
                        const struct names *names)
{
    const struct hot_request *request = &job->requests[index];
    uint32_t count = request->status == STATUS_OK ? request->answers[0].count : UINT32_MAX;
    (void)names;
    return buffer_append(&job->out, &count, sizeof count) &&
           (count == UINT32_MAX ||
            buffer_append(&job->out, scratch->counters + request->answers[0].first,
                          count * sizeof *scratch->counters));
}

static const struct face cold_face = {.name = "live", .write = write_found};

static struct job *make_job(struct live *live)
{
    struct loop *loop = live->loop;
    struct hot_request requests[LIMIT_BATCH];
    uint32_t count = 0;
    for (struct list *link = live->cold.next; link != &live->cold && count < LIMIT_BATCH;
         link = link->next) {
        struct watched *item = LIST_OF(link, struct watched, cold);
        live->away_items[count] = item;
        live_ask(&requests[count++], item, NULL);
    }
    struct job *job = job_new(requests, count, loop->server->parts.budget);
    if (job != NULL) {
        job->loop = loop;
        job->face = &cold_face;
    }
    return job;
}

void live_send_cold(struct live *live, uint64_t now_ns)
{
    struct loop *loop = live->loop;
    if (list_is_empty(&live->cold) || live->away > 0 || now_ns < live->cold_ns || loop->stopping)
        return;
    live->cold_ns = now_ns + LIVE_COLD_NS;
    struct job *job = make_job(live);
    if (job == NULL)
        return;
    uint32_t count = job->count;
    if (!work_submit(&loop->server->work, job)) {
        job_free(job);
        return;
    }
    loop->jobs++;
    loop_count(&loop->stats.jobs, 1);
    live->away = count;
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
        live_take(live, item, counters, count);
}

void live_take_back(struct live *live, struct job *job)
{
    const char *at = job->out.bytes;
    ASSERT(live->away == job->count);
    for (uint32_t i = 0; i < live->away; i++) {
        if (!job->failed)
            take_found(live, live->away_items[i], &at);
        watched_back(&live->items, live->away_items[i]);
    }
    live_count_items(live); /* those that nobody watched any more went just now */
    live->away = 0;
    live->cold_ns = clock_monotonic_ns() + LIVE_COLD_NS;
    job_free(job);
}

#include "net/batch.h"

#include "base/clock.h"
#include "net/face.h"

struct running batch_begin(struct conn *conn)
{
    struct running r = {.conn = conn,
                        .loop = conn->loop,
                        .time_s = (uint32_t)(clock_wall_ms() / 1000),
                        .now_ns = clock_monotonic_ns()};
    r.since_ns = conn->loop->clock_ns = r.now_ns;
    return r;
}

uint64_t batch_lap(struct running *r)
{
    uint64_t now_ns = clock_monotonic_ns(), took_ns = now_ns - r->since_ns;
    r->since_ns = r->loop->clock_ns = now_ns;
    return took_ns;
}

void batch_watch(struct running *r, uint32_t count)
{
    struct loop *loop = r->loop;
    uint64_t took_ns = batch_lap(r);
    watch_ran(&loop->watch, loop->requests, count, took_ns, loop->clock_ns);
    if (watch_is_slow(&loop->watch, took_ns))
        watch_slow_requests(&loop->watch, loop->requests, count, loop->server->parts.names,
                            conn_client(r->conn), took_ns, r->time_s);
}

bool batch_send_away(struct running *r, uint32_t from)
{
    struct loop *loop = r->loop;
    struct job *job = job_new(loop->requests + from, r->batch - from, loop->server->parts.budget);
    if (job == NULL)
        return false;
    job->loop = loop;
    job->conn = r->conn;
    job->face = r->conn->face;
    job->exchange = r->conn->exchange;
    job->from = from;
    job->resp3 = r->conn->resp3;
    job->since_ns = r->since_ns;
    if (!work_submit(&loop->server->work, job)) {
        job_free(job);
        return false;
    }
    r->conn->job = job;
    loop->jobs++;
    loop_count(&loop->stats.jobs, 1);
    return true;
}

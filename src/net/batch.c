#include "net/batch.h"

#include "base/clock.h"
#include "net/face.h"

struct running batch_begin(struct conn *conn)
{
    return (struct running){.conn = conn,
                            .loop = conn->loop,
                            .time_s = (uint32_t)(clock_wall_ms() / 1000),
                            .now_ns = clock_monotonic_ns()};
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
    if (!work_submit(&loop->server->work, job)) {
        job_free(job);
        return false;
    }
    r->conn->job = job;
    loop->jobs++;
    loop_count(&loop->stats.jobs, 1);
    return true;
}

/*
 * Reading from a connection and running what was read. The bounds on a connection are kept here: it is
 * not read while its replies pile up, or while its commands wait for admission or for a worker.
 */
#include "net/conn_priv.h"

#include "base/assert.h"
#include "base/clock.h"
#include "net/face.h"
#include "net/permit.h"

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer);

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *out)
{
    struct conn *conn = conn_of(handle->data);
    (void)suggested;
    if (conn->in.length == 0) {
        *out = uv_buf_init(conn->loop->read_buffer, sizeof conn->loop->read_buffer);
        return;
    }
    size_t room = LIMIT_READ / 4;
    *out = buffer_reserve(&conn->in, room)
               ? uv_buf_init(conn->in.bytes + conn->in.length, (unsigned)room)
               : uv_buf_init(NULL, 0);
}

void conn_set_reading(struct conn *conn, bool reading)
{
    if (conn_is_closing(conn) || conn->reading == reading)
        return;
    conn->reading = reading;
    if (!reading)
        uv_read_stop((uv_stream_t *)&conn->tcp);
    else if (uv_read_start((uv_stream_t *)&conn->tcp, on_alloc, on_read) < 0)
        conn_close(conn);
}

static void group_within_limit(struct conn *conn)
{
    conn_group(conn);
    if (conn_unsent(conn) > conn_options(conn)->output_buffer)
        conn_close(conn);
}

/*
 * Is there room for more replies? The number of groups is bounded too, because a client that sends one
 * packet for each command makes many small groups. An unfinished reply does not count, because it can only
 * be sent after more commands have run.
 */
static bool has_room(const struct conn *conn)
{
    return conn_unsent(conn) - conn->unfinished < permit_output(conn) &&
           conn->groups < LIMIT_GROUPS;
}

/*
 * There is no memory for the input or for the reply. If no other reply waits, the client gets an error,
 * for which memory outside the budget is used. Then the connection ends.
 */
static void end_without_memory(struct conn *conn)
{
    struct memory_budget own = {.limit = UINT64_MAX};
    struct buffer out = {.budget = &own};
    bool alone = conn->groups == 0 && conn->replies == 0 && conn_unsent(conn) == 0;
    if (alone && conn->face->write_error(conn, &out, STATUS_TOO_BUSY,
                                         status_sentence(STATUS_TOO_BUSY), FACE_LAST)) {
        uv_buf_t part = uv_buf_init(out.bytes, (unsigned)out.length);
        uv_try_write((uv_stream_t *)&conn->tcp, &part, 1);
        conn_drain(conn, true);
        conn->in.length = 0;
        conn_end(conn);
    } else {
        conn_close(conn);
    }
    buffer_free(&out);
}

/* A connection that drains or is closed is never BLOCKED. */
static void note_blocked(struct conn *conn, bool blocked)
{
    if (!conn_is_open(conn))
        return;
    if (conn->state == CONN_BLOCKED && (!blocked || conn->queue != conn_queue_for(conn)))
        conn_enter(conn, CONN_OPEN);
    if (blocked && conn->state != CONN_BLOCKED)
        conn_enter(conn, CONN_BLOCKED);
}

/* Decides by the result of `run` what happens next: read on, wait, or close. */
static void settle(struct conn *conn, enum status status)
{
    note_blocked(conn, status == STATUS_BLOCKED);
    if (status == STATUS_NO_MEMORY) {
        end_without_memory(conn);
        return;
    }
    if (status == STATUS_BAD_PROTOCOL)
        conn_drain(conn, true);
    group_within_limit(conn);
    if (conn_is_closing(conn))
        return;
    if (!conn_is_open(conn)) {
        conn->in.length = 0;
        conn_set_reading(conn, conn->state == CONN_LINGERING);
        conn_flush(conn);
        return;
    }
    bool owes = conn->in.length > 0 || conn->owed;
    if (owes && conn->stuck_ms == 0)
        conn->stuck_ms = uv_now(&conn->loop->uv);
    else if (!owes && conn->sending.length == 0)
        conn->stuck_ms = 0;
    if (conn->rest_ms > 0 || conn->had_turn)
        rest_begin(conn, conn->rest_ms);
    conn->rest_ms = 0;
    conn->had_turn = false;
    conn_set_reading(conn, status == STATUS_MORE && has_room(conn) && !conn->rest.resting);
}

static bool may_run(const struct conn *conn)
{
    return conn_is_open(conn) && conn->job == NULL && !conn->rest.resting && has_room(conn);
}

/* True if `run` stopped at the soft limit and the replies were sent since: no event would resume it. */
static bool can_go_on(const struct conn *conn, enum status status)
{
    return status == STATUS_OK && may_run(conn);
}

static void run_kept(struct conn *conn)
{
    enum status status;
    do {
        size_t used;
        status = conn->face->run(conn, conn->in.bytes, conn->in.length, &used);
        ASSERT(used <= conn->in.length);
        buffer_consume(&conn->in, used);
        if (used > 0 && conn->sending.length == 0 && !conn->owed)
            conn->stuck_ms = 0;
        settle(conn, status);
    } while (can_go_on(conn, status));
}

static void on_bytes(struct conn *conn, const char *bytes, size_t length)
{
    conn->active_ms = uv_now(&conn->loop->uv);
    loop_count(&conn->loop->stats.bytes_in, length);
    if (conn->in.length > 0) {
        conn->in.length += length;
        run_kept(conn);
        return;
    }
    size_t used;
    enum status status = conn->face->run(conn, bytes, length, &used);
    ASSERT(used <= length);
    if (used < length && !buffer_append(&conn->in, bytes + used, length - used))
        status = STATUS_NO_MEMORY;
    settle(conn, status);
    if (can_go_on(conn, status))
        run_kept(conn);
}

static void throw_away(struct conn *conn, ssize_t count)
{
    if (count < 0 || (uint64_t)count > conn->linger_bytes)
        conn_close(conn);
    else
        conn->linger_bytes -= (uint64_t)count;
}

/* The client has sent more than one read takes, and libuv would read on: other clients come first. */
static void take_turns(struct conn *conn)
{
    rest_begin(conn, 0);
    conn_set_reading(conn, false);
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer)
{
    struct conn *conn = conn_of(stream->data);
    if (conn->state == CONN_LINGERING && count != 0) {
        throw_away(conn, count);
    } else if (count > 0) {
        size_t room = buffer->len;
        on_bytes(conn, buffer->base, (size_t)count);
        if ((size_t)count == room && conn->reading && may_run(conn))
            take_turns(conn);
    } else if (count == UV_EOF) {
        /* The client has closed its side only, so what it asked for is still answered. */
        conn_drain(conn, false);
        conn_set_reading(conn, false);
        if (conn->groups == 0)
            conn_flush(conn);
    } else if (count == UV_ENOBUFS) {
        end_without_memory(conn);
    } else if (count < 0) {
        conn_close(conn);
    }
}

void conn_resume(struct conn *conn)
{
    if (may_run(conn) && !conn->reading)
        run_kept(conn);
}

void conn_unblock(struct conn *conn)
{
    ASSERT(conn->state == CONN_BLOCKED);
    note_blocked(conn, false);
    conn_resume(conn);
}

/* Counts and times a job as if the loop had run it, without requests that the server added. */
static void watch_job(struct conn *conn, const struct job *job)
{
    struct loop *loop = conn->loop;
    loop->clock_ns = clock_monotonic_ns();
    uint64_t took_ns = loop->clock_ns - job->since_ns;
    if (job->commands == 0)
        return;
    const struct hot_request *requests = job->submission.requests;
    watch_ran(&loop->watch, requests, job->commands, took_ns, loop->clock_ns);
    buckets_raise(&loop->watch.meter.by_worker, job->commands);
    for (uint32_t i = 0; job->errors > 0 && i < job->commands; i++)
        if (requests[i].status != STATUS_OK)
            meter_failed(&loop->watch.meter, requests[i].op, requests[i].status, true);
    if (watch_is_slow(&loop->watch, took_ns))
        watch_slow_requests(&loop->watch, requests, job->commands, loop->server->parts.names,
                            conn_client(conn), took_ns, clock_wall_ms() / 1000);
}

void conn_take_back(struct conn *conn, struct job *job)
{
    ASSERT(conn->job == job);
    ASSERT(job->submission.count >= job->commands);
    conn->job = NULL;
    if (conn_is_closing(conn)) {
        job_free(job);
        conn_free_if_done(conn);
        return;
    }
    bool written = !job->failed && conn->face->take_back(conn, job);
    loop_count(&conn->loop->stats.commands, job->commands);
    loop_count(&conn->loop->stats.errors, job->errors);
    conn->wrote = conn->wrote || job->submission.writes;
    watch_job(conn, job);
    job_free(job);
    if (!written) {
        conn_close(conn);
        return;
    }
    /* This time was spent by the server, not by the client. */
    conn->active_ms = uv_now(&conn->loop->uv);
    if (conn->sending.length == 0)
        conn->stuck_ms = 0;
    group_within_limit(conn);
    conn_resume(conn);
}

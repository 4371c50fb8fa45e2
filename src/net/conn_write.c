/*
 * Replies on their way to the client: they are gathered into groups, a group is released when the
 * hot tier has released the point that it depends on, and what is released is written to the socket.
 */
#include "net/conn_priv.h"

#include <sys/socket.h>

#include "base/assert.h"
#include "net/face.h"

static void on_written(uv_write_t *write, int status)
{
    struct conn *conn = conn_of(write->data);
    loop_count(&conn->loop->stats.bytes_out, conn->sending.length);
    conn->sending.length = 0;
    conn->stuck_ms = conn->in.length > 0 || conn->owed ? uv_now(&conn->loop->uv) : 0;
    if (conn_is_closing(conn))
        return;
    if (status < 0) {
        conn_close(conn);
        return;
    }
    conn_flush(conn);
    conn_resume(conn);
}

/* The socket is full: libuv gets the releasable bytes, `out` keeps the rest. */
static void hand_over(struct conn *conn, size_t releasable)
{
    ASSERT(conn->sending.length == 0 && releasable <= conn->out.length);
    struct buffer whole = conn->out;
    conn->out = conn->sending;
    conn->out.length = 0;
    if (!buffer_append(&conn->out, whole.bytes + releasable, whole.length - releasable)) {
        conn->sending = whole;
        conn_close(conn);
        return;
    }
    whole.length = releasable;
    conn->sending = whole;
    conn->out_start += releasable;
    conn->stuck_ms = uv_now(&conn->loop->uv);
    uv_buf_t part = uv_buf_init(conn->sending.bytes, (unsigned)conn->sending.length);
    conn->write.data = conn;
    if (uv_write(&conn->write, (uv_stream_t *)&conn->tcp, &part, 1, on_written) < 0)
        conn_close(conn);
}

/* Everything is sent. */
void conn_end(struct conn *conn)
{
    uv_os_fd_t fd;
    if (conn->state != CONN_DRAINING_LINGER || uv_fileno((uv_handle_t *)&conn->tcp, &fd) < 0 ||
        shutdown(fd, SHUT_WR) < 0) {
        conn_close(conn);
        return;
    }
    conn_enter(conn, CONN_LINGERING);
    conn->linger_bytes = LIMIT_LINGER;
    conn->stuck_ms = uv_now(&conn->loop->uv);
    conn_set_reading(conn, true);
}

/* Sends what is released. */
void conn_flush(struct conn *conn)
{
    size_t releasable = (size_t)(conn->released - conn->out_start);
    ASSERT(conn_is_closing(conn) || releasable <= conn->out.length);
    if (conn->state >= CONN_LINGERING || conn->sending.length > 0)
        return;
    if (releasable > 0) {
        uv_buf_t part = uv_buf_init(conn->out.bytes, (unsigned)releasable);
        int sent = uv_try_write((uv_stream_t *)&conn->tcp, &part, 1);
        if (sent < 0 && sent != UV_EAGAIN) {
            conn_close(conn);
            return;
        }
        if (sent > 0) {
            loop_count(&conn->loop->stats.bytes_out, (uint64_t)sent);
            buffer_consume(&conn->out, (size_t)sent);
            conn->out_start += (size_t)sent;
            releasable -= (size_t)sent;
        }
        if (releasable > 0) {
            hand_over(conn, releasable);
            return;
        }
    }
    if (!conn_is_open(conn) && conn->out.length == 0 && conn->job == NULL)
        conn_end(conn);
}

void conn_release(struct conn *conn, const struct reply_group *group)
{
    ASSERT(conn->groups > 0);
    conn->groups--;
    if (conn_is_closing(conn)) {
        conn_free_if_done(conn);
        return;
    }
    conn->released = group->end + (uint64_t)conn->shift;
    conn_flush(conn);
    conn_resume(conn);
}

/* True if no more replies will follow after offset `end` of `out` for requests that were run already. */
static bool is_last(const struct conn *conn, size_t end)
{
    return conn->groups == 0 && conn->replies == 0 && conn->job == NULL &&
           conn->state != CONN_BLOCKED && end == conn->out.length;
}

/* Writes one error for each reply of the group. With `last`, the last one says that we close. */
static bool write_errors(const struct conn *conn, const struct reply_group *group, bool last,
                         enum status status, struct buffer *errors)
{
    bool written = true;
    for (uint32_t i = 0; written && i < group->replies; i++)
        written = conn->face->write_error(conn, errors, status, status_sentence(status),
                                          (group->bare ? FACE_BARE : 0) |
                                              (last && i + 1 == group->replies ? FACE_LAST : 0));
    return written;
}

/* The client was sent an error that says that the connection closes, so its further input is dropped. */
static void end_when_sent(struct conn *conn)
{
    conn_drain(conn, true);
    conn->in.length = 0;
    conn_set_reading(conn, false);
}

/*
 * The replies of this group, the oldest that waits, say that events are recorded, but recording failed.
 * Each reply is replaced by an error.
 */
void conn_fail(struct conn *conn, const struct reply_group *group, enum status status)
{
    ASSERT(conn->groups > 0 && status != STATUS_OK);
    conn->groups--;
    if (conn_is_closing(conn)) {
        conn_free_if_done(conn);
        return;
    }
    loop_count(&conn->loop->stats.errors, group->replies);
    buckets_raise(&conn->loop->watch.meter.statuses[status], group->replies);
    if (group->stream) { /* events without the head of their stream would make no sense */
        conn_close(conn);
        return;
    }
    size_t from = (size_t)(conn->released - conn->out_start);
    size_t to = (size_t)(group->end + (uint64_t)conn->shift - conn->out_start);
    ASSERT(from <= to && to <= conn->out.length);
    struct buffer errors = {.budget = conn->out.budget};
    bool last = conn->face->ends_when_failed && is_last(conn, to);
    bool written = write_errors(conn, group, last, status, &errors);
    size_t length = errors.length;
    written = written && buffer_append(&errors, conn->out.bytes + to, conn->out.length - to);
    conn->out.length = from;
    written = written && buffer_append(&conn->out, errors.bytes, errors.length);
    buffer_free(&errors);
    if (!written) {
        conn_close(conn);
        return;
    }
    conn->shift += (int64_t)length - (int64_t)(to - from);
    conn->released += length;
    if (last)
        end_when_sent(conn);
    conn_flush(conn);
    conn_resume(conn);
}

/* Sends what is in `out` now, if it depends on nothing unreleased and no earlier group waits. */
static bool send_now(struct conn *conn, uint64_t point)
{
    if (conn->groups > 0 || hot_released(conn->loop->server->parts.hot) < point)
        return false;
    conn->shift = 0;
    conn->released = conn->out_start + conn_finished(conn);
    conn_flush(conn);
    return true;
}

/*
 * Queues a group: it is sent at the end of a turn, after its release and after the groups before it. If
 * there is no memory for the queue, a group that depends on nothing is sent at once.
 */
static void hold(struct conn *conn, struct reply_group waiting)
{
    struct loop *loop = conn->loop;
    bool released = hot_released(loop->server->parts.hot) >= waiting.point;
    if (conn->groups == 0)
        conn->shift = 0;
    waiting.conn = conn;
    waiting.end = conn->out_start + conn_finished(conn) - (uint64_t)conn->shift;
    waiting.since_ns = released ? 0 : loop->clock_ns;
    if (loop_queue(loop, waiting))
        conn->groups++;
    else if (!send_now(conn, waiting.point))
        conn_close(conn);
}

/* Makes a group of the replies since the last one. */
void conn_group(struct conn *conn)
{
    if (conn->replies == 0)
        return;
    struct reply_group waiting = {.point = hot_point(conn->loop->server->parts.hot),
                                  .replies = conn->replies,
                                  .wrote = conn->wrote,
                                  .bare = conn->bare,
                                  .stream = conn->streaming};
    conn->replies = 0;
    conn->wrote = conn->bare = false;
    hold(conn, waiting);
}

void conn_send(struct conn *conn, uint64_t point)
{
    if (conn->replies > 0)
        return; /* these bytes will be sent with the group of the replies before them */
    /* Sent at once if possible, because live/ measures how long its sends take. */
    if (!send_now(conn, point))
        hold(conn, (struct reply_group){.point = point});
}

void conn_release_interim(struct conn *conn)
{
    conn_send(conn, 0);
}

/*
 * The life of a connection: read → run → group → (journal) → release → write. All bounds on a
 * connection are kept here: it is not read while its replies pile up or its commands wait for the
 * journal or a worker, and it is closed when it passes a hard limit or stays stuck for too long.
 */
#include "net/conn.h"

#include <stdlib.h>
#include <sys/socket.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/log.h"
#include "net/face.h"
#include "net/permit.h"

static void flush(struct conn *conn);
static void set_reading(struct conn *conn, bool reading);

static struct conn *conn_of(void *handle)
{
    struct conn *conn = handle;
    CHECK_MAGIC(conn, CONN_MAGIC);
    return conn;
}

static const struct options *options_of(const struct conn *conn)
{
    return conn->loop->server->parts.options;
}

static void free_if_done(struct conn *conn)
{
    if (!conn->closed || conn->groups > 0 || conn->job != NULL)
        return;
    struct server *server = conn->loop->server;
    server_gave_back(server, sizeof *conn + conn->in.capacity + conn->out.capacity +
                                 conn->sending.capacity);
    buffer_free(&conn->in);
    buffer_free(&conn->out);
    buffer_free(&conn->sending);
    conn->face->close(conn);
    memory_release_connection(server->parts.budget, sizeof *conn);
    conn->magic = 0;
    free(conn);
}

static void on_close(uv_handle_t *handle)
{
    struct conn *conn = conn_of(handle->data);
    conn->closed = true;
    free_if_done(conn);
}

static void set_blocked(struct conn *conn, bool blocked)
{
    struct loop *loop = conn->loop;
    if (blocked == conn->blocked)
        return;
    conn->blocked = blocked;
    if (blocked) {
        conn->blocked_next = NULL;
        conn->blocked_previous = loop->blocked_last;
        *(loop->blocked_last ? &loop->blocked_last->blocked_next : &loop->blocked_first) = conn;
        loop->blocked_last = conn;
        return;
    }
    struct conn *next = conn->blocked_next, *previous = conn->blocked_previous;
    *(previous ? &previous->blocked_next : &loop->blocked_first) = next;
    *(next ? &next->blocked_previous : &loop->blocked_last) = previous;
}

void conn_close(struct conn *conn)
{
    if (conn->closing)
        return;
    conn->closing = true;
    conn->reading = false;
    set_blocked(conn, false);
    rest_end(conn);
    if (conn->previous)
        conn->previous->next = conn->next;
    else
        conn->loop->conns = conn->next;
    if (conn->next)
        conn->next->previous = conn->previous;
    struct server *server = conn->loop->server;
    if (conn->counted)
        atomic_fetch_sub_explicit(conn->streaming ? &server->streams : &server->connections, 1,
                                  memory_order_relaxed);
    else
        conn->loop->refused--;
    uv_close((uv_handle_t *)&conn->tcp, on_close);
}

/* Writing */

static void on_written(uv_write_t *write, int status)
{
    struct conn *conn = conn_of(write->data);
    loop_count(&conn->loop->stats.bytes_out, conn->sending.length);
    conn->sending.length = 0;
    conn->stuck_ms = conn->in.length > 0 || conn->owed ? uv_now(&conn->loop->uv) : 0;
    if (conn->closing)
        return;
    if (status < 0) {
        conn_close(conn);
        return;
    }
    flush(conn);
    conn_resume(conn);
}

/* The socket is full: libuv gets the releasable bytes, `out` keeps the rest. */
static void hand_over(struct conn *conn, size_t releasable)
{
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

/* All that was to be said is said. */
static void end(struct conn *conn)
{
    uv_os_fd_t fd;
    if (!conn->linger || conn->lingering || uv_fileno((uv_handle_t *)&conn->tcp, &fd) < 0 ||
        shutdown(fd, SHUT_WR) < 0) {
        conn_close(conn);
        return;
    }
    conn->lingering = true;
    conn->linger_bytes = LIMIT_LINGER;
    conn->stuck_ms = uv_now(&conn->loop->uv);
    set_reading(conn, true);
}

/* Sends what may leave. */
static void flush(struct conn *conn)
{
    size_t releasable = (size_t)(conn->released - conn->out_start);
    if (conn->closing || conn->lingering || conn->sending.length > 0)
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
    if (conn->close_when_sent && conn->out.length == 0 && conn->job == NULL)
        end(conn);
}

void conn_release(struct conn *conn, const struct reply_group *group)
{
    conn->groups--;
    if (conn->closing) {
        free_if_done(conn);
        return;
    }
    conn->released = group->end + (uint64_t)conn->shift;
    flush(conn);
    conn_resume(conn);
}

/* Will anything be said behind this place of `out`, for what was taken already? */
static bool is_last(const struct conn *conn, size_t end)
{
    return conn->groups == 0 && conn->replies == 0 && conn->job == NULL && !conn->blocked &&
           end == conn->out.length;
}

/* One error for each reply of the group; behind the last the connection ends, if `last`. */
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

/* What the client sent behind that is not looked at: it was told that the connection closes. */
static void end_when_sent(struct conn *conn)
{
    conn->close_when_sent = conn->linger = true;
    conn->in.length = 0;
    set_reading(conn, false);
}

/*
 * The replies of this group, the oldest that waits, promised what did not come true: an error takes
 * the place of each.
 */
void conn_fail(struct conn *conn, const struct reply_group *group, enum status status)
{
    conn->groups--;
    if (conn->closing) {
        free_if_done(conn);
        return;
    }
    loop_count(&conn->loop->stats.errors, group->replies);
    buckets_raise(&conn->loop->watch.meter.statuses[status], group->replies);
    if (group->stream) { /* what is behind it is no answer to anything without its head */
        conn_close(conn);
        return;
    }
    size_t from = (size_t)(conn->released - conn->out_start);
    size_t to = (size_t)(group->end + (uint64_t)conn->shift - conn->out_start);
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
    flush(conn);
    conn_resume(conn);
}

/* Sends what is in `out`, if it waits neither for its release nor for what is to be sent before it. */
static bool send_now(struct conn *conn, uint64_t point)
{
    if (conn->groups > 0 || hot_released(conn->loop->server->parts.hot) < point)
        return false;
    conn->shift = 0;
    conn->released = conn->out_start + conn_finished(conn);
    flush(conn);
    return true;
}

/*
 * What is in `out` is sent at the end of a turn, when the point that it depends on is released, after
 * what waits already; if there is no memory to wait in, what depends on nothing is sent at once.
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
static void group(struct conn *conn)
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
        return;                 /* it is sent with their group */
    if (!send_now(conn, point)) /* who sends much wants to know how long that takes: at once */
        hold(conn, (struct reply_group){.point = point});
}

void conn_release_interim(struct conn *conn)
{
    conn_send(conn, 0);
}

/* Reading */

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

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer);

static void set_reading(struct conn *conn, bool reading)
{
    if (conn->closing || conn->reading == reading)
        return;
    conn->reading = reading;
    if (!reading)
        uv_read_stop((uv_stream_t *)&conn->tcp);
    else if (uv_read_start((uv_stream_t *)&conn->tcp, on_alloc, on_read) < 0)
        conn_close(conn);
}

static void group_within_limit(struct conn *conn)
{
    group(conn);
    if (conn_unsent(conn) > options_of(conn)->output_buffer)
        conn_close(conn);
}

/*
 * For more replies. Those of a client that sends a packet for each command are many small groups. What
 * cannot leave before it is finished must not keep it from being finished.
 */
static bool has_room(const struct conn *conn)
{
    return conn_unsent(conn) - conn->unfinished < permit_output(conn) &&
           conn->groups < LIMIT_GROUPS;
}

/*
 * There is no memory for what it says, or for the answer. It is told so where nothing else waits to be
 * said, from memory that is nobody's, and ends.
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
        conn->close_when_sent = conn->linger = true;
        conn->in.length = 0;
        end(conn);
    } else {
        conn_close(conn);
    }
    buffer_free(&out);
}

/* What follows from how running ended: keep reading, wait, or close. */
static void settle(struct conn *conn, enum status status)
{
    set_blocked(conn, status == STATUS_BLOCKED);
    if (status == STATUS_NO_MEMORY) {
        end_without_memory(conn);
        return;
    }
    if (status == STATUS_BAD_PROTOCOL)
        conn->close_when_sent = conn->linger = true;
    group_within_limit(conn);
    if (conn->closing)
        return;
    if (conn->close_when_sent) {
        conn->in.length = 0;
        set_reading(conn, conn->lingering);
        flush(conn);
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
    set_reading(conn, status == STATUS_MORE && has_room(conn) && !conn->rest.resting);
}

static bool may_run(const struct conn *conn)
{
    return !conn->closing && !conn->close_when_sent && conn->job == NULL && !conn->rest.resting &&
           has_room(conn);
}

/* Running stopped at the soft limit, and the replies have left since: nothing else will wake us. */
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

/* There is more than one read takes, and libuv would go on with it: others first. */
static void take_turns(struct conn *conn)
{
    rest_begin(conn, 0);
    set_reading(conn, false);
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer)
{
    struct conn *conn = conn_of(stream->data);
    if (conn->lingering && count != 0) {
        throw_away(conn, count);
    } else if (count > 0) {
        size_t room = buffer->len;
        on_bytes(conn, buffer->base, (size_t)count);
        if ((size_t)count == room && conn->reading && may_run(conn))
            take_turns(conn);
    } else if (count == UV_EOF) {
        /* Half-closed: what was asked is still answered. */
        conn->close_when_sent = true;
        set_reading(conn, false);
        if (conn->groups == 0)
            flush(conn);
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
    set_blocked(conn, false);
    conn_resume(conn);
}

/* How it went counts as if the loop had run it; what nobody asked for does not. */
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
    conn->job = NULL;
    if (conn->closing) {
        job_free(job);
        free_if_done(conn);
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
    /* The time it took was ours, not the client's. */
    conn->active_ms = uv_now(&conn->loop->uv);
    if (conn->sending.length == 0)
        conn->stuck_ms = 0;
    group_within_limit(conn);
    conn_resume(conn);
}

/* Coming and going */

/* Not too many are waited for after that, or a flood of them would be as many as it likes. */
static void refuse_connection(struct conn *conn)
{
    loop_count(&conn->loop->stats.refused, 1);
    conn->close_when_sent = true;
    conn->linger = conn->loop->refused <= LIMIT_REFUSED;
    conn->loop->clock_ns = clock_monotonic_ns();
    if (!conn->face->write_error(conn, &conn->out, STATUS_TOO_MANY_CONNECTIONS,
                                 status_sentence(STATUS_TOO_MANY_CONNECTIONS), FACE_LAST)) {
        conn_close(conn); /* nothing would ever be sent, and so nothing end it */
        return;
    }
    conn->replies++;
    group(conn);
}

static struct conn *conn_new(struct loop *loop, const struct face *face)
{
    struct server *server = loop->server;
    if (!memory_charge_connection(server->parts.budget, sizeof(struct conn)))
        return NULL;
    struct conn *conn = calloc(1, sizeof *conn);
    if (conn == NULL)
        goto release;
    conn->magic = CONN_MAGIC;
    conn->loop = loop;
    conn->face = face;
    conn->id = atomic_fetch_add_explicit(&server->next_conn, 1, memory_order_relaxed) + 1;
    conn->in.budget = conn->out.budget = conn->sending.budget = server->parts.budget;
    conn->opened_ms = conn->active_ms = uv_now(&loop->uv);
    if (!face->open(conn))
        goto release;
    uv_tcp_init(&loop->uv, &conn->tcp);
    conn->tcp.data = conn;
    conn->next = loop->conns;
    if (conn->next)
        conn->next->previous = conn;
    loop->conns = conn;
    loop->refused++;
    return conn;

release:
    memory_release_connection(server->parts.budget, sizeof(struct conn));
    free(conn);
    return NULL;
}

/* A place among --max-connections; until it has one it is `refused`. */
static bool take_place(struct conn *conn)
{
    struct server *server = conn->loop->server;
    uint64_t open = atomic_fetch_add_explicit(&server->connections, 1, memory_order_relaxed);
    conn->counted = open < server->parts.options->max_connections;
    if (conn->counted)
        conn->loop->refused--;
    else
        atomic_fetch_sub_explicit(&server->connections, 1, memory_order_relaxed);
    return conn->counted;
}

static void take_peer(struct conn *conn)
{
    struct sockaddr_storage address;
    int length = sizeof address;
    if (uv_tcp_getpeername(&conn->tcp, (struct sockaddr *)&address, &length) < 0)
        return; /* it is gone already */
    conn->peer = ip_of_socket((const struct sockaddr *)&address);
    conn->ask.known = 1U << LIMIT_BY_IP;
    conn->ask.who[LIMIT_BY_IP] = ip_client(&conn->peer);
    conn->many = conn->face->shared && ip_nets_have(&conn->loop->server->proxies, &conn->peer);
}

void conn_accept(struct listener *listener)
{
    struct loop *loop = listener->loop;
    struct conn *conn = conn_new(loop, listener->face);
    if (conn == NULL) {
        log_warn("no memory for a new connection");
        listener_turn_away(listener);
        return;
    }
    if (uv_accept((uv_stream_t *)&listener->tcp, (uv_stream_t *)&conn->tcp) < 0) {
        conn_close(conn);
        return;
    }
    loop_count(&loop->stats.accepted, 1);
    uv_tcp_nodelay(&conn->tcp, 1);
    take_peer(conn);
    if (take_place(conn))
        set_reading(conn, true);
    else
        refuse_connection(conn);
}

static void give_back_buffer(struct conn *conn, struct buffer *buffer)
{
    if (buffer->length > 0 || buffer->capacity == 0)
        return;
    server_gave_back(conn->loop->server, buffer->capacity);
    buffer_free(buffer);
}

/* Buffers that a burst left behind go back once the connection is quiet. */
static void give_back(struct conn *conn, uint64_t now_ms)
{
    if (now_ms - conn->active_ms < 2000 || conn->job != NULL)
        return;
    give_back_buffer(conn, &conn->in);
    give_back_buffer(conn, &conn->out);
    give_back_buffer(conn, &conn->sending);
    conn->face->shrink(conn);
}

/* One that shows no token may not hold its place for ever. 0: there is no bound. */
static uint64_t idle_timeout_ms(const struct conn *conn)
{
    uint64_t idle_ms = options_of(conn)->idle_timeout_ms,
             slow_ms = options_of(conn)->slow_timeout_ms;
    return permit_is_unknown(conn) && (idle_ms == 0 || idle_ms > slow_ms) ? slow_ms : idle_ms;
}

void conn_sweep(struct conn *conn, uint64_t now_ms)
{
    const struct options *options = options_of(conn);
    /* It waits for us, not we for it: that time is not its own. */
    bool ours = conn->groups > 0 || conn->job != NULL || conn->blocked || conn->rest.resting;
    if (ours)
        conn->active_ms = now_ms;
    uint64_t idle_ms = idle_timeout_ms(conn);
    bool idle = idle_ms > 0 && !conn->streaming && now_ms - conn->active_ms > idle_ms;
    bool stuck = conn->stuck_ms > 0 && !ours && now_ms - conn->stuck_ms > options->slow_timeout_ms;
    bool lingered = conn->lingering && now_ms - conn->stuck_ms > LIMIT_LINGER_MS;
    if (idle || stuck || lingered)
        conn_close(conn);
    else
        give_back(conn, now_ms);
}

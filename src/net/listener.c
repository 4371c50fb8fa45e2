/*
 * Accepts connections from a socket, or pauses. The libuv handle has a duplicate of the socket's
 * descriptor, so that the handle can be closed and opened again while the socket goes on listening.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/log.h"
#include "net/conn.h"
#include "net/face.h"
#include "net/loop.h"

#define BACKLOG  1024
#define PAUSE_MS 100 /* how long accepting pauses after it failed */

static void turn_away(struct listener *listener, enum status why);

static void on_turned_away(uv_handle_t *handle)
{
    struct listener *listener = handle->data;
    bool next = listener->next_waits;
    listener->turning_away = listener->next_waits = false;
    if (next && listener->open)
        turn_away(listener, listener->why);
}

static void turn_away(struct listener *listener, enum status why)
{
    uv_stream_t *unwanted = (uv_stream_t *)&listener->unwanted;
    listener->why = why;
    if (listener->turning_away) {
        listener->next_waits = true;
        return;
    }
    ASSERT(listener->open);
    listener->turning_away = true;
    uv_tcp_init(&listener->loop->uv, &listener->unwanted);
    unwanted->data = listener;
    struct memory_budget own = {.limit = UINT64_MAX};
    struct buffer out = {.budget = &own};
    if (uv_accept((uv_stream_t *)&listener->tcp, unwanted) == 0 &&
        listener->face->write_error(NULL, &out, why, status_sentence(why), FACE_LAST)) {
        uv_buf_t part = uv_buf_init(out.bytes, (unsigned)out.length);
        uv_try_write(unwanted, &part, 1);
    }
    buffer_free(&out);
    loop_count(&listener->loop->stats.refused, 1);
    uv_close((uv_handle_t *)unwanted, on_turned_away);
}

void listener_turn_away(struct listener *listener)
{
    turn_away(listener, STATUS_TOO_BUSY);
}

static void pause_accepting(struct listener *listener, int error);

static void on_pause_over(uv_timer_t *timer)
{
    struct listener *listener = timer->data;
    int error = listener_open(listener);
    if (listener->open && error < 0)
        pause_accepting(listener, error);
    else if (error < 0)
        uv_timer_start(timer, on_pause_over, PAUSE_MS, 0);
}

static void on_paused(uv_handle_t *tcp)
{
    struct listener *listener = tcp->data;
    if (!listener->loop->stopping)
        uv_timer_start(&listener->pause, on_pause_over, PAUSE_MS, 0);
}

/*
 * libuv accepts until no client waits, and after an error it tries again at once: as long as no file can
 * be opened, its thread would do nothing else. Only closing the handle ends that. Meanwhile clients wait
 * in the queue of the socket.
 */
static void pause_accepting(struct listener *listener, int error)
{
    if (!listener->failing)
        log_warn("accepting a connection failed: %s; the server tries again every %d ms",
                 uv_strerror(error), PAUSE_MS);
    listener->failing = true;
    listener->open = false;
    uv_close((uv_handle_t *)&listener->tcp, on_paused);
}

/*
 * Must a connection be turned away at once? Connections above --max-connections are accepted and refused
 * with a reply (conn_accept), as long as there are few of them. A live stream begins as a connection, so
 * both are counted here.
 */
static bool is_crowded(const struct loop *loop)
{
    struct server *server = loop->server;
    const struct server_parts *parts = &server->parts;
    uint64_t open = atomic_load_explicit(&server->connections, memory_order_relaxed);
    uint64_t streams = atomic_load_explicit(&server->streams, memory_order_relaxed);
    if (open >= parts->options->max_connections)
        return loop->refused >= parts->refused_max;
    return parts->places_max > 0 && open + streams >= parts->places_max;
}

static void on_connection(uv_stream_t *stream, int status)
{
    struct listener *listener = stream->data;
    if (status < 0) {
        pause_accepting(listener, status);
        return;
    }
    listener->failing = false;
    if (is_crowded(listener->loop))
        turn_away(listener, STATUS_TOO_MANY_CONNECTIONS);
    else
        conn_accept(listener);
}

int listener_open(struct listener *listener)
{
    ASSERT(!listener->open && listener->socket >= 0);
    int fd = fcntl(listener->socket, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    uv_tcp_init(&listener->loop->uv, &listener->tcp);
    listener->tcp.data = listener;
    listener->open = true;
    int error = uv_tcp_open(&listener->tcp, fd);
    if (error == 0)
        return uv_listen((uv_stream_t *)&listener->tcp, BACKLOG, on_connection);
    close(fd);
    return error;
}

void listener_end(struct listener *listener)
{
    if (listener->open)
        uv_close((uv_handle_t *)&listener->tcp, NULL);
    listener->open = false;
    uv_timer_stop(&listener->pause);
    if (listener->socket >= 0)
        close(listener->socket);
    listener->socket = -1;
}

/*
 * The life of a connection: its state, how it is closed, freed, and timed out. Reading and running are in
 * conn_read.c, replies on their way to the client in conn_write.c, new connections in conn_accept.c.
 */
#include "net/conn_priv.h"

#include <stdlib.h>

#include "base/assert.h"
#include "net/face.h"
#include "net/permit.h"

static void queue_blocked(struct conn *conn)
{
    struct conn_queue *queue = conn_queue_for(conn);
    conn->queue = queue;
    conn->queue_next = NULL;
    conn->queue_previous = queue->last;
    *(queue->last ? &queue->last->queue_next : &queue->first) = conn;
    queue->last = conn;
}

static void unqueue_blocked(struct conn *conn)
{
    struct conn *next = conn->queue_next, *previous = conn->queue_previous;
    *(previous ? &previous->queue_next : &conn->queue->first) = next;
    *(next ? &next->queue_previous : &conn->queue->last) = previous;
    conn->queue = NULL;
}

#define TO(state) (1U << CONN_##state)

/* The states that may follow each state; the diagram in conn.h says why. */
static const unsigned followers[CONN_STATES] = {
    [CONN_OPEN] = TO(BLOCKED) | TO(DRAINING) | TO(DRAINING_LINGER) | TO(CLOSING),
    [CONN_BLOCKED] = TO(OPEN) | TO(DRAINING) | TO(DRAINING_LINGER) | TO(CLOSING),
    [CONN_DRAINING] = TO(DRAINING_LINGER) | TO(CLOSING),
    [CONN_DRAINING_LINGER] = TO(LINGERING) | TO(CLOSING),
    [CONN_LINGERING] = TO(CLOSING),
    [CONN_CLOSING] = TO(CLOSED),
};

void conn_enter(struct conn *conn, enum conn_state state)
{
    ASSERT(followers[conn->state] & (1U << state));
    ASSERT((conn->queue != NULL) == (conn->state == CONN_BLOCKED));
    if (conn->state == CONN_BLOCKED)
        unqueue_blocked(conn);
    conn->state = state;
    if (state == CONN_BLOCKED)
        queue_blocked(conn);
}

void conn_drain(struct conn *conn, bool linger)
{
    enum conn_state state = linger ? CONN_DRAINING_LINGER : CONN_DRAINING;
    if (conn->state < state)
        conn_enter(conn, state);
}

struct conn *conn_of(void *handle)
{
    struct conn *conn = handle;
    CHECK_MAGIC(conn, CONN_MAGIC);
    return conn;
}

const struct options *conn_options(const struct conn *conn)
{
    return conn->loop->server->parts.options;
}

void conn_free_if_done(struct conn *conn)
{
    if (conn->state != CONN_CLOSED || conn->groups > 0 || conn->job != NULL)
        return;
    struct server *server = conn->loop->server;
    server_gave_back(server, sizeof *conn + conn->in.capacity + conn->out.capacity +
                                 conn->sending.capacity);
    ASSERT(conn->queue == NULL && !conn->rest.resting);
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
    conn_enter(conn, CONN_CLOSED);
    conn_free_if_done(conn);
}

void conn_close(struct conn *conn)
{
    if (conn_is_closing(conn))
        return;
    conn_enter(conn, CONN_CLOSING);
    conn->reading = false;
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

static void give_back_buffer(struct conn *conn, struct buffer *buffer)
{
    if (buffer->length > 0 || buffer->capacity == 0)
        return;
    server_gave_back(conn->loop->server, buffer->capacity);
    buffer_free(buffer);
}

/* Frees the buffers that a burst has enlarged, once the connection is idle. */
static void give_back(struct conn *conn, uint64_t now_ms)
{
    if (now_ms - conn->active_ms < 2000 || conn->job != NULL)
        return;
    give_back_buffer(conn, &conn->in);
    give_back_buffer(conn, &conn->out);
    give_back_buffer(conn, &conn->sending);
    conn->face->shrink(conn);
}

/* A client that shows no token may not keep a connection for ever. 0: there is no bound. */
static uint64_t idle_timeout_ms(const struct conn *conn)
{
    uint64_t idle_ms = conn_options(conn)->idle_timeout_ms,
             slow_ms = conn_options(conn)->slow_timeout_ms;
    return permit_is_unknown(conn) && (idle_ms == 0 || idle_ms > slow_ms) ? slow_ms : idle_ms;
}

void conn_check(struct conn *conn, uint64_t now_ms)
{
    const struct options *options = conn_options(conn);
    /* While the client waits for the server, its idle time does not count. */
    bool ours =
        conn->groups > 0 || conn->job != NULL || conn->state == CONN_BLOCKED || conn->rest.resting;
    if (ours)
        conn->active_ms = now_ms;
    uint64_t idle_ms = idle_timeout_ms(conn);
    bool idle = idle_ms > 0 && !conn->streaming && now_ms - conn->active_ms > idle_ms;
    bool stuck = conn->stuck_ms > 0 && !ours && now_ms - conn->stuck_ms > options->slow_timeout_ms;
    bool lingered = conn->state == CONN_LINGERING && now_ms - conn->stuck_ms > LIMIT_LINGER_MS;
    if (idle || stuck || lingered)
        conn_close(conn);
    else
        give_back(conn, now_ms);
}

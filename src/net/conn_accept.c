/* How a connection is accepted, and counted as one of --max-connections or refused. */
#include "net/conn_priv.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "net/face.h"

/* Only a bounded number of refused connections linger; a flood would make them as many as it likes. */
static void refuse_connection(struct conn *conn)
{
    loop_count(&conn->loop->stats.refused, 1);
    conn_drain(conn, conn->loop->refused <= LIMIT_REFUSED);
    conn->loop->clock_ns = clock_monotonic_ns();
    if (!conn->face->write_error(conn, &conn->out, STATUS_TOO_MANY_CONNECTIONS,
                                 status_sentence(STATUS_TOO_MANY_CONNECTIONS), FACE_LAST)) {
        conn_close(conn); /* nothing will be sent, so nothing else would close it */
        return;
    }
    conn->replies++;
    conn_group(conn);
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

/* Counts the connection as one of --max-connections, if there is room; else it stays `refused`. */
static bool count_connection(struct conn *conn)
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
        return; /* the client has closed it already */
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
        log_warn("there is no memory for a new connection");
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
    if (count_connection(conn))
        conn_set_reading(conn, true);
    else
        refuse_connection(conn);
}

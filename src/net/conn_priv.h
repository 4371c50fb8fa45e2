/*
 * What the files of a connection (conn*.c) share, and nobody else uses. Everything here is called by
 * the thread of the connection's loop.
 */
#ifndef LAUD_NET_CONN_PRIV_H
#define LAUD_NET_CONN_PRIV_H

#include "net/conn.h"

/* conn.c */

/* The connection that the `data` of a libuv handle points to. */
struct conn *conn_of(void *handle);
const struct options *conn_options(const struct conn *conn);

/* Frees a connection that is closed, unless a reply group or a job still refers to it. */
void conn_free_if_done(struct conn *conn);

/* Changes the state. It asserts that the diagram in conn.h has this transition. */
void conn_enter(struct conn *conn, enum conn_state state);

/* conn_write.c */

/* Sends what is released, as far as the socket takes it; ends the connection if that was the last. */
void conn_flush(struct conn *conn);

/* Makes a reply group of the replies since the last group. */
void conn_group(struct conn *conn);

/* Everything is sent: the connection is closed, or lingers first. */
void conn_end(struct conn *conn);

/* conn_read.c */

/* Starts or stops reading. */
void conn_set_reading(struct conn *conn, bool reading);

/* The queue in which a BLOCKED connection waits: for a name, or for admission. */
static inline struct conn_queue *conn_queue_for(const struct conn *conn)
{
    return conn->awaits_name ? &conn->loop->unnamed : &conn->loop->blocked;
}

#endif

/* Requests whose answer is a live stream (live/live.h). Only the connection's own thread may call them. */
#ifndef LAUD_HTTP_STREAM_H
#define LAUD_HTTP_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include "http/exchange.h"
#include "net/conn.h"

/* Must the exchange be answered with a stream, or for HEAD with the head of one? */
static inline bool stream_is_due(const struct exchange *exchange)
{
    return exchange->status == STATUS_OK && exchange->route != NULL &&
           route_is_stream(exchange->route);
}

/* Opens the stream, after its items were loaded. False: it is refused, and the exchange says why. */
bool stream_begin(struct conn *conn, struct exchange *exchange);

/* Drops input that arrives while a stream is open. Too much of it ends the connection. */
enum status stream_pass_over(struct conn *conn, size_t length);

#endif

/* A request that is answered by a live stream (live/live.h). By the connection's thread. */
#ifndef LAUD_HTTP_STREAM_H
#define LAUD_HTTP_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include "http/exchange.h"
#include "net/conn.h"

/* Is the answer a stream, or for HEAD the head of one? */
static inline bool stream_is_due(const struct exchange *exchange)
{
    return exchange->status == STATUS_OK && exchange->route != NULL &&
           route_is_stream(exchange->route);
}

/* Begins it, now that its items were read. False: it is refused, and the exchange says why. */
bool stream_begin(struct conn *conn, struct exchange *exchange);

/* A stream is open: what else the client says is not for us, and not much of it is taken. */
enum status stream_pass_over(struct conn *conn, size_t length);

#endif

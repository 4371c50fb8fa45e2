/*
 * Who a request comes from, as its head says: the token it shows, the client behind a proxy, and the
 * device. All of it is noted in the connection, for this request alone. By the connection's thread.
 */
#ifndef LAUD_HTTP_ASKER_H
#define LAUD_HTTP_ASKER_H

#include "http/request.h"
#include "net/conn.h"

/* Authorization: Bearer and a token; one that is none is logged. */
void asker_take_token(struct conn *conn, const struct request *request, const char *bytes);

/* Client and device, for the limits. False: no device can have such an id. */
bool asker_take_client(struct conn *conn, const struct request *request, const char *bytes);

/* Why one without a token that is known is refused. */
const char *asker_refusal(const struct request *request);

#endif

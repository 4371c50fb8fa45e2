/*
 * Who sent a request, by its head: the token, the address of the client (behind a proxy, the address
 * that the proxy reports), and the device. They are stored in the connection, for this request only.
 * Only the connection's own thread may call these functions.
 */
#ifndef LAUD_HTTP_ASKER_H
#define LAUD_HTTP_ASKER_H

#include "http/request.h"
#include "net/conn.h"

/* Reads the token of "Authorization: Bearer". A token that the server does not have is logged. */
void asker_take_token(struct conn *conn, const struct request *request, const char *bytes);

/* Reads client and device, for the limits. False: the device's id is not valid. */
bool asker_take_client(struct conn *conn, const struct request *request, const char *bytes);

/* The sentence that refuses a request without a valid token. */
const char *asker_refusal(const struct request *request);

#endif

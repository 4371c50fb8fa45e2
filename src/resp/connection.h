/*
 * What the RESP face keeps for a connection (conn->exchange): how far an unfinished command was
 * parsed, the protocol version, and the transaction, if there is one. It is made when the connection
 * opens, is charged to the budget as the connection's memory, and belongs to the connection's thread.
 * While a worker writes replies, the thread does not change it, so the worker may read it.
 */
#ifndef LAUD_RESP_CONNECTION_H
#define LAUD_RESP_CONNECTION_H

#include <stdbool.h>

#include "net/conn.h"
#include "resp/parse.h"

struct multi;

struct resp_connection {
    struct resp_parser parser;
    struct multi *multi; /* made by the first MULTI; NULL: there is none */
    bool resp3;
};

static inline struct resp_connection *resp_of(const struct conn *conn)
{
    return conn->exchange;
}

/* Does the client want replies in the form of RESP3? */
static inline bool resp_is_3(const struct conn *conn)
{
    return resp_of(conn)->resp3;
}

#endif

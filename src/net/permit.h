/*
 * What a connection may do, by the token that its client has shown (guard/access.h). If the server has no
 * tokens, a connection may do everything. Only the connection's own thread may call these functions.
 */
#ifndef LAUD_NET_PERMIT_H
#define LAUD_NET_PERMIT_H

#include "base/limits.h"
#include "net/conn.h"

/* True if the server requires a token and the client has not shown one yet. */
static inline bool permit_is_unknown(const struct conn *conn)
{
    return conn->token == NULL && access_is_on(&conn->loop->server->access);
}

/* The number of unsent bytes above which the connection is not read. */
static inline size_t permit_output(const struct conn *conn)
{
    return permit_is_unknown(conn) ? LIMIT_UNKNOWN_OUTPUT : LIMIT_OUTPUT_SOFT;
}

/*
 * The token with this text. NULL: there is none, and the log has a line with the client's address, but
 * never with the text that was shown. Only to be called if the server has tokens.
 */
const struct access_token *permit_find_token(const struct conn *conn, struct text text,
                                             const struct ip *client);

/* May the client see any user and item? True if its token is for admins and for all types. */
bool permit_shows_all(const struct conn *conn);

/* OK, NO_AUTH or NO_PERMISSION. Only to be called if the server has tokens. */
enum status permit_op_by_token(const struct conn *conn, const struct op_spec *spec,
                               const struct text *args, uint32_t count);
enum status permit_command_by_token(const struct conn *conn, const struct command *command,
                                    const struct text *args, uint32_t count);

/* The same, but OK if the server has no tokens. `args` are the words after the name of the operation. */
static inline enum status permit_op(const struct conn *conn, const struct op_spec *spec,
                                    const struct text *args, uint32_t count)
{
    return access_is_on(&conn->loop->server->access) ? permit_op_by_token(conn, spec, args, count)
                                                     : STATUS_OK;
}

/* The same for any command. NULL: the command does not exist. */
static inline enum status permit_command(const struct conn *conn, const struct command *command,
                                         const struct text *args, uint32_t count)
{
    return access_is_on(&conn->loop->server->access)
               ? permit_command_by_token(conn, command, args, count)
               : STATUS_OK;
}

#endif

/*
 * What a connection may ask for, by the token it has shown (guard/access.h). Where the server has no
 * tokens, everything. By the connection's own thread.
 */
#ifndef LAUD_NET_PERMIT_H
#define LAUD_NET_PERMIT_H

#include "base/limits.h"
#include "net/conn.h"

/* Has it yet to show a token? */
static inline bool permit_is_unknown(const struct conn *conn)
{
    return conn->token == NULL && access_is_on(&conn->loop->server->access);
}

/* Unsent bytes past which it is not read. */
static inline size_t permit_output(const struct conn *conn)
{
    return permit_is_unknown(conn) ? LIMIT_UNKNOWN_OUTPUT : LIMIT_OUTPUT_SOFT;
}

/*
 * The token that reads so, where there are tokens; NULL: there is none, which the log says with the
 * client's address, and never what was shown.
 */
const struct access_token *permit_find_token(const struct conn *conn, struct text text,
                                             const struct ip *client);

/* May it be told of any user and item: by an admin's token that is for all types? */
bool permit_shows_all(const struct conn *conn);

/* OK, NO_AUTH or NO_PERMISSION; where there are tokens. */
enum status permit_op_by_token(const struct conn *conn, const struct op_spec *spec,
                               const struct text *args, uint32_t count);
enum status permit_command_by_token(const struct conn *conn, const struct command *command,
                                    const struct text *args, uint32_t count);

/* The same where there may be none. Words are those behind the name; an item's type is in them. */
static inline enum status permit_op(const struct conn *conn, const struct op_spec *spec,
                                    const struct text *args, uint32_t count)
{
    return access_is_on(&conn->loop->server->access) ? permit_op_by_token(conn, spec, args, count)
                                                     : STATUS_OK;
}

/* For any command; NULL: one that does not exist. */
static inline enum status permit_command(const struct conn *conn, const struct command *command,
                                         const struct text *args, uint32_t count)
{
    return access_is_on(&conn->loop->server->access)
               ? permit_command_by_token(conn, command, args, count)
               : STATUS_OK;
}

#endif

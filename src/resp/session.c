/*
 * The commands that Redis clients send to any server when they connect and between their operations.
 * The replies have the form that those clients expect, with values of our own tables.
 */
#include "resp/session.h"

#include <fnmatch.h>
#include <stdio.h>

#include "net/conn.h"
#include "net/info.h"
#include "net/permit.h"
#include "resp/multi.h"
#include "resp/write.h"

bool session_ping(struct conn *conn, const struct text *args, uint32_t count,
                  struct refusal *refusal)
{
    (void)refusal;
    return count ? resp_bulk(&conn->out, args[0].bytes, args[0].length)
                 : resp_simple(&conn->out, "PONG");
}

bool session_echo(struct conn *conn, const struct text *args, uint32_t count,
                  struct refusal *refusal)
{
    (void)count;
    (void)refusal;
    return resp_bulk(&conn->out, args[0].bytes, args[0].length);
}

/* Checks a token: OK, or why it is refused. After a refusal the connection keeps its earlier token. */
static enum status show_token(struct conn *conn, struct text text)
{
    if (!access_is_on(&conn->loop->server->access))
        return STATUS_NO_TOKENS;
    const struct access_token *token = permit_find_token(conn, text, &conn->peer);
    if (token == NULL)
        return STATUS_WRONG_TOKEN;
    conn->token = token;
    return STATUS_OK;
}

/* Redis has a form with a user. That user is ignored, because a token is enough. */
bool session_auth(struct conn *conn, const struct text *args, uint32_t count,
                  struct refusal *refusal)
{
    enum status status = show_token(conn, args[count - 1]);
    return status == STATUS_OK ? resp_simple(&conn->out, "OK") : session_refuse(refusal, status);
}

bool session_device(struct conn *conn, const struct text *args, uint32_t count,
                    struct refusal *refusal)
{
    (void)count;
    if (!limits_device(&conn->loop->server->limits, args[0], &conn->ask.who[LIMIT_BY_DEVICE]))
        return session_refuse_saying(
            refusal, STATUS_BAD_ARGUMENT,
            "a device's id must be 1 to 128 printable characters without spaces");
    conn->ask.known |= 1U << LIMIT_BY_DEVICE;
    return resp_simple(&conn->out, "OK");
}

bool session_select(struct conn *conn, const struct text *args, uint32_t count,
                    struct refusal *refusal)
{
    (void)count;
    return text_is(args[0], "0") ? resp_simple(&conn->out, "OK")
                                 : session_refuse_saying(refusal, STATUS_BAD_ARGUMENT,
                                                         "there is only one database, number 0");
}

/* A name has only printable characters and no spaces, because it is shown in a line with others. */
static bool set_name(struct conn *conn, struct text name)
{
    if (name.length > LIMIT_CLIENT_NAME)
        return false;
    for (size_t i = 0; i < name.length; i++) {
        if (name.bytes[i] <= ' ' || name.bytes[i] > '~')
            return false;
    }
    memcpy(conn->name, name.bytes, name.length);
    conn->name[name.length] = '\0';
    return true;
}

#define BAD_NAME "a connection's name must be up to 64 printable characters without spaces"

static bool hello_reply(struct conn *conn)
{
    struct buffer *out = &conn->out;
    return resp_map(out, 7, resp_is_3(conn)) && resp_text(out, "server") &&
           resp_text(out, "laud") && resp_text(out, "version") && resp_text(out, LAUD_VERSION) &&
           resp_text(out, "proto") && resp_integer(out, resp_is_3(conn) ? 3 : 2) &&
           resp_text(out, "id") && resp_integer(out, (int64_t)conn->id) && resp_text(out, "mode") &&
           resp_text(out, "standalone") && resp_text(out, "role") && resp_text(out, "master") &&
           resp_text(out, "modules") && resp_array(out, 0);
}

bool session_hello(struct conn *conn, const struct text *args, uint32_t count,
                   struct refusal *refusal)
{
    bool resp3 = count > 0 ? text_is(args[0], "3") : resp_is_3(conn);
    if (count > 0 && !resp3 && !text_is(args[0], "2"))
        return session_refuse(refusal, STATUS_NO_PROTOCOL);
    const struct text *name = NULL;
    for (uint32_t i = 1; i < count; i++) {
        if (text_is(args[i], "AUTH") && i + 2 < count) {
            i += 2;
            enum status status = show_token(conn, args[i]);
            if (status != STATUS_OK)
                return session_refuse(refusal, status);
            continue;
        }
        if (!text_is(args[i], "SETNAME") || i + 1 >= count)
            return session_refuse_saying(refusal, STATUS_BAD_ARGUMENT,
                                         "HELLO takes AUTH user password, SETNAME name");
        name = &args[++i];
    }
    if (name && !set_name(conn, *name))
        return session_refuse_saying(refusal, STATUS_BAD_ARGUMENT, BAD_NAME);
    if (permit_is_unknown(conn))
        return session_refuse_saying(refusal, STATUS_NO_AUTH,
                                     "authentication required, send HELLO 3 AUTH user token");
    resp_of(conn)->resp3 = resp3;
    return hello_reply(conn);
}

static void put_addresses(const struct conn *conn, char peer[WATCH_ADDRESS],
                          char own[WATCH_ADDRESS])
{
    struct sockaddr_storage address;
    int length = sizeof address;
    watch_peer(&conn->tcp, peer);
    if (uv_tcp_getsockname(&conn->tcp, (struct sockaddr *)&address, &length) != 0)
        address.ss_family = AF_UNSPEC;
    watch_address(&address, own);
}

/*
 * Describes this connection in one line, with all names that Redis 7 has there, because clients look
 * for them. What Laud does not have is 0; `multi` is -1 outside of a transaction.
 */
static bool client_line(struct conn *conn)
{
    char line[768], peer[WATCH_ADDRESS], own[WATCH_ADDRESS];
    bool open = multi_is_open(conn);
    size_t queued = multi_of(conn) != NULL ? multi_of(conn)->queue.capacity : 0;
    uint64_t now_ms = uv_now(&conn->loop->uv);
    uv_os_fd_t fd = -1;
    uv_fileno((const uv_handle_t *)&conn->tcp, &fd);
    put_addresses(conn, peer, own);
    int length = snprintf(
        line, sizeof line,
        "id=%llu addr=%s laddr=%s fd=%d name=%s age=%llu idle=%llu flags=%s db=0 sub=0 psub=0 "
        "ssub=0 multi=%ld qbuf=%zu qbuf-free=%zu argv-mem=0 multi-mem=%zu rbs=0 rbp=0 obl=%zu "
        "oll=0 "
        "omem=%zu tot-mem=%zu events=r cmd=client user=default redir=-1 resp=%d\n",
        (unsigned long long)conn->id, peer, own, fd, conn->name,
        (unsigned long long)((now_ms - conn->opened_ms) / 1000),
        (unsigned long long)((now_ms - conn->active_ms) / 1000), open ? "x" : "N",
        open ? (long)multi_of(conn)->count : -1L, conn->in.length,
        conn->in.capacity - conn->in.length, queued, conn_unsent(conn), conn->sending.capacity,
        sizeof *conn + conn->in.capacity + conn->out.capacity + conn->sending.capacity + queued,
        resp_is_3(conn) ? 3 : 2);
    return resp_bulk(&conn->out, line, (size_t)length);
}

/* LIST has one line, because no thread can see the connections of another. INFO has their number. */
bool session_client(struct conn *conn, const struct text *args, uint32_t count,
                    struct refusal *refusal)
{
    if (text_is(args[0], "ID") && count == 1)
        return resp_integer(&conn->out, (int64_t)conn->id);
    if (text_is(args[0], "GETNAME") && count == 1)
        return conn->name[0] ? resp_text(&conn->out, conn->name)
                             : resp_null(&conn->out, resp_is_3(conn));
    if (text_is(args[0], "SETNAME") && count == 2)
        return set_name(conn, args[1])
                   ? resp_simple(&conn->out, "OK")
                   : session_refuse_saying(refusal, STATUS_BAD_ARGUMENT, BAD_NAME);
    if (text_is(args[0], "SETINFO") && count == 3)
        return resp_simple(&conn->out, "OK");
    if ((text_is(args[0], "INFO") || text_is(args[0], "LIST")) && count == 1)
        return client_line(conn);
    return session_refuse_saying(
        refusal, STATUS_BAD_ARGUMENT,
        "CLIENT takes ID, GETNAME, SETNAME name, SETINFO what value, INFO or LIST");
}

bool session_info(struct conn *conn, const struct text *args, uint32_t count,
                  struct refusal *refusal)
{
    (void)refusal;
    struct buffer text = {.budget = conn->out.budget};
    bool hotkeys = permit_shows_all(conn);
    bool written = info_write(conn->loop->server, args, count, hotkeys, &text) &&
                   resp_bulk(&conn->out, text.bytes, text.length);
    buffer_free(&text);
    return written;
}

bool session_reset(struct conn *conn, const struct text *args, uint32_t count,
                   struct refusal *refusal)
{
    (void)args;
    (void)count;
    (void)refusal;
    multi_discard(conn);
    resp_of(conn)->resp3 = false;
    conn->name[0] = '\0';
    conn->ask.known &= ~(1U << LIMIT_BY_DEVICE);
    conn->token = NULL;
    return resp_simple(&conn->out, "RESET");
}

bool session_quit(struct conn *conn, const struct text *args, uint32_t count,
                  struct refusal *refusal)
{
    (void)args;
    (void)count;
    (void)refusal;
    conn_drain(conn, false);
    return resp_simple(&conn->out, "OK");
}

/* CONFIG GET, which redis-benchmark sends to any server. It shows the same as `laud config`. */

static bool matches(const struct text *patterns, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        char pattern[64];
        if (patterns[i].length >= sizeof pattern)
            continue;
        memcpy(pattern, patterns[i].bytes, patterns[i].length);
        pattern[patterns[i].length] = '\0';
        if (fnmatch(pattern, name, FNM_CASEFOLD) == 0)
            return true;
    }
    return false;
}

/* First our options, then the names that tools for Redis ask for: no snapshots, everything journaled. */
static bool config_get(const struct options *options, size_t index, const char **name,
                       char value[OPTION_TEXT_MAX])
{
    static const char *const redis[][2] = {{"save", ""}, {"appendonly", "yes"}};
    if (options_get(options, index, name, value))
        return true;
    size_t beyond = index - OPTIONS_TOTAL;
    if (beyond >= sizeof redis / sizeof redis[0])
        return false;
    *name = redis[beyond][0];
    snprintf(value, OPTION_TEXT_MAX, "%s", redis[beyond][1]);
    return true;
}

bool session_config(struct conn *conn, const struct text *args, uint32_t count,
                    struct refusal *refusal)
{
    const struct options *options = conn->loop->server->parts.options;
    if (!text_is(args[0], "GET"))
        return session_refuse_saying(refusal, STATUS_BAD_ARGUMENT,
                                     "CONFIG takes GET pattern; options are set at start");
    const char *name;
    char value[OPTION_TEXT_MAX];
    size_t found = 0;
    for (size_t i = 0; config_get(options, i, &name, value); i++)
        found += matches(args + 1, count - 1, name);
    bool written = resp_map(&conn->out, found, resp_is_3(conn));
    for (size_t i = 0; written && config_get(options, i, &name, value); i++) {
        if (matches(args + 1, count - 1, name))
            written = resp_text(&conn->out, name) && resp_text(&conn->out, value);
    }
    return written;
}

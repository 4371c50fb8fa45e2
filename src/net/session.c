/*
 * What Redis clients say to any server before and beside their real work. Replies have the shape
 * those clients expect, filled from our own tables.
 */
#include "net/session.h"

#include <fnmatch.h>
#include <stdio.h>

#include "net/conn.h"
#include "net/info.h"
#include "net/multi.h"
#include "net/permit.h"
#include "net/resp_write.h"

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

/* Takes a token as shown; OK, or why not. The one it has shown before stays if this is none. */
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

/* The user of Redis' form is not looked at: a token says it all. */
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
                                                         "there is one database only, number 0");
}

/* Printable, without spaces: it is shown in one line with others. */
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
    return resp_map(out, 7, conn->resp3) && resp_text(out, "server") && resp_text(out, "laud") &&
           resp_text(out, "version") && resp_text(out, LAUD_VERSION) && resp_text(out, "proto") &&
           resp_integer(out, conn->resp3 ? 3 : 2) && resp_text(out, "id") &&
           resp_integer(out, (int64_t)conn->id) && resp_text(out, "mode") &&
           resp_text(out, "standalone") && resp_text(out, "role") && resp_text(out, "master") &&
           resp_text(out, "modules") && resp_array(out, 0);
}

bool session_hello(struct conn *conn, const struct text *args, uint32_t count,
                   struct refusal *refusal)
{
    bool resp3 = count > 0 ? text_is(args[0], "3") : conn->resp3;
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
        return session_refuse_saying(refusal, STATUS_NO_AUTH, "say HELLO 3 AUTH user token");
    conn->resp3 = resp3;
    return hello_reply(conn);
}

static bool client_line(struct conn *conn)
{
    char line[256];
    int length = snprintf(line, sizeof line, "id=%llu name=%s resp=%d db=0\n",
                          (unsigned long long)conn->id, conn->name, conn->resp3 ? 3 : 2);
    return resp_bulk(&conn->out, line, (size_t)length);
}

bool session_client(struct conn *conn, const struct text *args, uint32_t count,
                    struct refusal *refusal)
{
    if (text_is(args[0], "ID") && count == 1)
        return resp_integer(&conn->out, (int64_t)conn->id);
    if (text_is(args[0], "GETNAME") && count == 1)
        return conn->name[0] ? resp_text(&conn->out, conn->name)
                             : resp_null(&conn->out, conn->resp3);
    if (text_is(args[0], "SETNAME") && count == 2)
        return set_name(conn, args[1])
                   ? resp_simple(&conn->out, "OK")
                   : session_refuse_saying(refusal, STATUS_BAD_ARGUMENT, BAD_NAME);
    if (text_is(args[0], "SETINFO") && count == 3)
        return resp_simple(&conn->out, "OK");
    if (text_is(args[0], "INFO") && count == 1)
        return client_line(conn);
    return session_refuse_saying(
        refusal, STATUS_BAD_ARGUMENT,
        "CLIENT takes ID, GETNAME, SETNAME name, SETINFO what value or INFO");
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
    conn->resp3 = false;
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
    conn->close_when_sent = true;
    return resp_simple(&conn->out, "OK");
}

/* CONFIG GET: what redis-benchmark asks of any server, and `laud config` over the wire. */

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

/* Our options, then what tools for Redis ask for by name: no snapshots, everything journaled. */
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
    bool written = resp_map(&conn->out, found, conn->resp3);
    for (size_t i = 0; written && config_get(options, i, &name, value); i++) {
        if (matches(args + 1, count - 1, name))
            written = resp_text(&conn->out, name) && resp_text(&conn->out, value);
    }
    return written;
}

/* COMMAND */

static bool describe(struct conn *conn, const struct command *command)
{
    struct buffer *out = &conn->out;
    bool fixed = command->args_min == command->args_max;
    int arity = command->args_min + 1;
    const char *flag = command->op == NULL ? "fast" : op_writes(command->op) ? "write" : "readonly";
    return resp_array(out, 6) && resp_text(out, command->name) &&
           resp_integer(out, fixed ? arity : -arity) && resp_array(out, 1) &&
           resp_simple(out, flag) && resp_integer(out, 0) && resp_integer(out, 0) &&
           resp_integer(out, 0);
}

static bool document(struct conn *conn, const struct command *command)
{
    struct buffer *out = &conn->out;
    char usage[160];
    snprintf(usage, sizeof usage, "%s Arguments: %s", command->summary,
             command->arguments[0] ? command->arguments : "none");
    return resp_text(out, command->name) && resp_map(out, 3, conn->resp3) &&
           resp_text(out, "summary") && resp_text(out, usage) && resp_text(out, "since") &&
           resp_text(out, "0.1.0") && resp_text(out, "group") &&
           resp_text(out, command->op ? "generic" : "connection");
}

/* COMMAND INFO and DOCS: of the commands named, or of all. */
static bool command_each(struct conn *conn, const struct text *names, uint32_t count, bool docs)
{
    const struct commands *commands = &conn->loop->server->commands;
    const struct command *chosen[COMMANDS_MAX];
    size_t found = 0;
    for (size_t i = 0; i < (count ? count : commands->count); i++) {
        const struct command *command =
            count ? commands_find(commands, names[i]) : &commands->list[i];
        if (command != NULL || !docs)
            chosen[found++] = command;
    }
    bool written = docs ? resp_map(&conn->out, found, conn->resp3) : resp_array(&conn->out, found);
    for (size_t i = 0; written && i < found; i++) {
        if (chosen[i] == NULL)
            written =
                conn->resp3 ? resp_null(&conn->out, true) : buffer_append(&conn->out, "*-1\r\n", 5);
        else
            written = docs ? document(conn, chosen[i]) : describe(conn, chosen[i]);
    }
    return written;
}

static bool command_list(struct conn *conn)
{
    const struct commands *commands = &conn->loop->server->commands;
    bool written = resp_array(&conn->out, commands->count);
    for (size_t i = 0; written && i < commands->count; i++)
        written = resp_text(&conn->out, commands->list[i].name);
    return written;
}

bool session_command(struct conn *conn, const struct text *args, uint32_t count,
                     struct refusal *refusal)
{
    if (count == 0)
        return command_each(conn, NULL, 0, false);
    if (text_is(args[0], "COUNT"))
        return resp_integer(&conn->out, (int64_t)conn->loop->server->commands.count);
    if (text_is(args[0], "LIST"))
        return command_list(conn);
    if (text_is(args[0], "INFO"))
        return command_each(conn, args + 1, count - 1, false);
    if (text_is(args[0], "DOCS"))
        return command_each(conn, args + 1, count - 1, true);
    return session_refuse_saying(refusal, STATUS_BAD_ARGUMENT,
                                 "COMMAND takes COUNT, LIST, INFO or DOCS");
}

/* COMMAND: describes the commands in the form that Redis clients expect. */
#include "net/conn.h"
#include "resp/session.h"
#include "resp/write.h"

/* The form of Redis. Keys, categories, tips, key specifications and subcommands are empty here. */
static bool describe(struct conn *conn, const struct command *command)
{
    struct buffer *out = &conn->out;
    bool fixed = command->args_min == command->args_max;
    int arity = command->args_min + 1;
    const char *flag = command->op == NULL ? "fast" : op_writes(command->op) ? "write" : "readonly";
    return resp_array(out, 10) && resp_text(out, command->name) &&
           resp_integer(out, fixed ? arity : -arity) && resp_array(out, 1) &&
           resp_simple(out, flag) && resp_integer(out, 0) && resp_integer(out, 0) &&
           resp_integer(out, 0) && resp_array(out, 0) && resp_array(out, 0) && resp_array(out, 0) &&
           resp_array(out, 0);
}

/* The summary includes the arguments, because redis-cli shows nothing else of our commands. */
static bool summarize(struct conn *conn, const struct command *command)
{
    static const char between[] = " Arguments: ";
    const char *arguments = command->arguments[0] ? command->arguments : "none";
    struct buffer text = {.budget = conn->out.budget};
    bool written = buffer_append(&text, command->summary, strlen(command->summary)) &&
                   buffer_append(&text, between, sizeof between - 1) &&
                   buffer_append(&text, arguments, strlen(arguments)) &&
                   resp_bulk(&conn->out, text.bytes, text.length);
    buffer_free(&text);
    return written;
}

static bool document(struct conn *conn, const struct command *command)
{
    struct buffer *out = &conn->out;
    return resp_text(out, command->name) && resp_map(out, 3, resp_is_3(conn)) &&
           resp_text(out, "summary") && summarize(conn, command) && resp_text(out, "since") &&
           resp_text(out, "0.1.0") && resp_text(out, "group") &&
           resp_text(out, command->op ? "generic" : "connection");
}

/* COMMAND INFO and COMMAND DOCS: describes the named commands, or all. */
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
    bool written =
        docs ? resp_map(&conn->out, found, resp_is_3(conn)) : resp_array(&conn->out, found);
    for (size_t i = 0; written && i < found; i++) {
        if (chosen[i] == NULL)
            written = resp_is_3(conn) ? resp_null(&conn->out, true)
                                      : buffer_append(&conn->out, "*-1\r\n", 5);
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

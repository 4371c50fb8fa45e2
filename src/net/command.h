/*
 * Commands by name: the operations (op.def) and the commands of a session (session.def) in one
 * table, made once and read by all threads.
 */
#ifndef LAUD_NET_COMMAND_H
#define LAUD_NET_COMMAND_H

#include "base/status.h"
#include "base/text.h"
#include "op/op.h"

struct conn;

/* Why a command of a session is refused: the reply to it. OK: it is not. */
struct refusal {
    enum status status;
    const char *sentence;
};

typedef bool session_fn(struct conn *conn, const struct text *args, uint32_t count,
                        struct refusal *refusal);

struct command {
    const char *name; /* upper case */
    const char *arguments;
    const char *summary;
    uint16_t args_min; /* words after the name */
    uint16_t args_max;
    const struct op_spec *op; /* NULL: a session command */
    session_fn *session;
};

#define COMMANDS_MAX 64

/* A name in any case, see command.c. */
struct command_key {
    uint64_t first, last;
    uint64_t length;
};

struct commands {
    size_t count;
    struct command list[COMMANDS_MAX];
    struct {
        struct command_key key;
        const struct command *command;
    } slots[4 * COMMANDS_MAX];
};

void commands_init(struct commands *commands);

/* Upper or lower case; NULL: there is none. */
const struct command *commands_find(const struct commands *commands, struct text name);

#endif

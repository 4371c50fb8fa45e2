/*
 * Commands by name: the operations (op.def), and the commands that a face adds to them, in one table. The
 * table is filled before the threads start and is read by all threads.
 */
#ifndef LAUD_OP_COMMAND_H
#define LAUD_OP_COMMAND_H

#include "base/status.h"
#include "base/text.h"
#include "op/op.h"

struct conn;

/* Why a command of a session is refused; the refusal is the reply. OK: it is not refused. */
struct refusal {
    enum status status;
    const char *sentence;
};

typedef bool session_fn(struct conn *conn, const struct text *args, uint32_t count,
                        struct refusal *refusal);

/* Who may use a command of a session, where the server has tokens. */
enum command_access {
    COMMAND_FOR_READERS, /* every client with a token */
    COMMAND_FOR_ALL, /* also a client that has not shown a token yet: it needs the command to do so */
    COMMAND_FOR_ADMINS, /* the command shows the server's state, or any user and item */
};

struct command {
    const char *name; /* upper case */
    const char *arguments;
    const char *summary;
    uint16_t args_min; /* words after the name */
    uint16_t args_max;
    const struct op_spec *op; /* NULL: a session command */
    session_fn *session;
    enum command_access access; /* of a session command */
};

#define COMMANDS_MAX 128

/* The name of a command in a form that ignores case; see command.c. */
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

/* Makes a table with all operations; an operation has the same index here as in op.def. */
void commands_init(struct commands *commands);

/* Adds a command of a face. Its name must be new and at most 16 bytes long. */
void commands_add(struct commands *commands, struct command command);

/* The command with this name, in upper or lower case. NULL: there is none. */
const struct command *commands_find(const struct commands *commands, struct text name);

#endif

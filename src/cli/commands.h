/*
 * The subcommands of the program, by the table in commands.def. Each function is like
 * a main of its own: argv[0] is the subcommand's name, and it returns the exit status, 0 for done,
 * 1 for failed, 2 for not understood.
 */
#ifndef LAUD_CLI_COMMANDS_H
#define LAUD_CLI_COMMANDS_H

#include <stdio.h>

#include "base/status.h"

typedef int command_fn(int argc, char **argv);

#define COMMAND(name, function, summary) command_fn function;
#include "cli/commands.def"
#undef COMMAND

enum {
    EXIT_DONE = 0,
    EXIT_FAILED = 1,
    EXIT_NOT_UNDERSTOOD = 2,
};

int exit_of(enum status status);

/* The subcommand of this name; NULL if there is none. */
command_fn *command_find(const char *name);

/* What the program is, its subcommands, and where to find more. */
void command_help(FILE *out);

#endif

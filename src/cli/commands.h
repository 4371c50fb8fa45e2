/*
 * The subcommands of the program, which are listed in commands.def. Each function works like a main of
 * its own: argv[0] is the name of the subcommand, and it returns the exit status: 0 done, 1 failed, 2
 * bad arguments.
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

/* The exit status for the result of a function. */
int exit_of(enum status status);

/* The subcommand with this name, or NULL. */
command_fn *command_find(const char *name);

/* Prints what the program is, its subcommands, and where to find more. */
void command_help(FILE *out);

#endif

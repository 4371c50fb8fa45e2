/*
 * The first thing that somebody who has just started a server can type to see it work, as it is printed:
 * it runs in a shell as it stands. Where tokens are asked for, it takes one out of their file by itself;
 * the token is never part of it, because a log is read by more people than that file.
 */
#ifndef LAUD_CLI_FIRST_COMMAND_H
#define LAUD_CLI_FIRST_COMMAND_H

#include <stddef.h>
#include <stdint.h>

#include "guard/access.h"

#define FIRST_COMMAND_MAX 4096

/*
 * As in "a first like: redis-cli …". `tokens` is the file of them; not looked at if there are none.
 * `types` are those that writes may use, as in --types.
 */
void first_command(const struct access *access, const char *tokens, const char *types,
                   const char *host, uint16_t port, char out[FIRST_COMMAND_MAX]);

#endif

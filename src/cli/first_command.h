/*
 * The command that is printed when a server has started, with which a new user can try it. It can be
 * copied into a shell as it is. If the server requires tokens, the command reads one from their file
 * when it runs; it never contains a token, because more people can read a log than that file.
 */
#ifndef LAUD_CLI_FIRST_COMMAND_H
#define LAUD_CLI_FIRST_COMMAND_H

#include <stddef.h>
#include <stdint.h>

#include "guard/access.h"

#define FIRST_COMMAND_MAX 4096

/*
 * Writes a text like "a first like: redis-cli …". `tokens` is the path of the file of tokens; it is
 * not used if there are no tokens. `types` is the list of types that writes may use, as in --types.
 */
void first_command(const struct access *access, const char *tokens, const char *types,
                   const char *host, uint16_t port, char out[FIRST_COMMAND_MAX]);

#endif

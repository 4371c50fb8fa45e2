#include "cli/commands.h"

#include <string.h>

static const struct {
    const char *name;
    command_fn *run;
    const char *summary;
} commands[] = {
#define COMMAND(name, function, summary) {#name, function, summary},
#include "cli/commands.def"
#undef COMMAND
};

command_fn *command_find(const char *name)
{
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(commands[i].name, name) == 0)
            return commands[i].run;
    }
    return NULL;
}

int exit_of(enum status status)
{
    return status == STATUS_OK             ? EXIT_DONE
           : status == STATUS_BAD_ARGUMENT ? EXIT_NOT_UNDERSTOOD
                                           : EXIT_FAILED;
}

void command_help(FILE *out)
{
    fputs("Laud is an engagement server: who liked what, how many, and a feed page in one call.\n"
          "Any Redis client can talk to it (RESP), and anything that speaks HTTP and JSON. By\n"
          "default a write is on disk before it is answered.\n"
          "\n"
          "Usage: laud COMMAND [--option VALUE] ...\n"
          "\n",
          out);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        fprintf(out, "  %-10s%s\n", commands[i].name, commands[i].summary);
    fputs("\n"
          "More: laud COMMAND --help. To start: laud serve. The manual: docs/ and README.md.\n",
          out);
}

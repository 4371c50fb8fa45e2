#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"

static bool is_one_of(const char *text, const char *a, const char *b, const char *c)
{
    return strcmp(text, a) == 0 || strcmp(text, b) == 0 || strcmp(text, c) == 0;
}

int main(int argc, char **argv)
{
    signal(SIGXFSZ, SIG_IGN); /* past ulimit -f a write fails, like any other, and is told */
    if (argc < 2 || is_one_of(argv[1], "help", "--help", "-h")) {
        command_help(stdout);
        return EXIT_DONE;
    }
    const char *name = is_one_of(argv[1], "version", "--version", "-V") ? "version" : argv[1];
    command_fn *run = command_find(name);
    if (run == NULL) {
        fprintf(stderr, "laud: there is no command '%s'; laud --help lists them\n", argv[1]);
        return EXIT_NOT_UNDERSTOOD;
    }
    return run(argc - 1, argv + 1);
}

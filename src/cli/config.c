#include <stdio.h>

#include "base/options.h"
#include "cli/commands.h"

int config_main(int argc, char **argv)
{
    struct options options;
    char problem[1024];
    bool help;
    if (!options_read(&options, argc - 1, argv + 1, &help, problem, sizeof problem)) {
        fprintf(stderr, "laud config: %s\n", problem);
        return EXIT_NOT_UNDERSTOOD;
    }
    if (help)
        fputs("Usage: laud config [--option VALUE] ...\n\n"
              "Prints the options that laud serve would run with, given the same flags,\n"
              "environment and file. The options: laud serve --help.\n",
              stdout);
    else
        options_print(&options, stdout);
    return fflush(stdout) == 0 ? EXIT_DONE : EXIT_FAILED;
}

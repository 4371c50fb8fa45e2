#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/options.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/prepare.h"

static void config_help(void)
{
    fputs(
        "Usage: laud config [--check] [--option VALUE] ...\n"
        "\n"
        "Prints the options that laud serve would run with, given the same flags, environment and\n"
        "file, as an INI file. laud serve --help lists the options.\n"
        "\n"
        "  --check  do what laud serve does before it opens its data: check all options, the\n"
        "           tokens, the ports, the limit of open files and the data directory. Refuse\n"
        "           what it would refuse, and print the effective values, including those\n"
        "           that the server chooses itself. It changes nothing\n"
        "\n"
        "Exit status: 0 done; 1 the options are good, but the server cannot start at the moment,\n"
        "for example because a port or the data directory is in use; 2 a bad option.\n",
        stdout);
}

/*
 * Does another process use it? A lock cannot be inspected, only taken: a shared lock is taken for a
 * moment.
 */
static int check_lock(const char *data, char *problem, size_t size)
{
    if (access(data, F_OK) < 0)
        return EXIT_DONE;
    int lock = lock_take(data, true, problem, size);
    if (lock < 0)
        return EXIT_FAILED;
    close(lock);
    return EXIT_DONE;
}

/* Returns the exit status. The options are replaced by the effective ones. */
static int config_check(struct options *options, char *problem, size_t size)
{
    struct files files;
    struct server *server = calloc(1, sizeof *server);
    if (server == NULL) {
        snprintf(problem, size, "there is no memory for the check");
        return EXIT_FAILED;
    }
    int code = prepare(server, options, &files, problem, size);
    if (code == EXIT_DONE)
        code = check_lock(options->data, problem, size);
    if (code == EXIT_DONE)
        prepare_effective(options);
    server_free(server);
    free(server);
    return code;
}

int config_main(int argc, char **argv)
{
    struct options options;
    char problem[1024];
    bool help = false, check = false;
    const struct flag_row rows[] = {{"check", NULL, "", NULL, &check}};
    int left = argc - 1, code = EXIT_DONE;
    if (!flags_take(rows, 1, &left, argv + 1, NULL, 0, problem, sizeof problem) ||
        !options_read(&options, left, argv + 1, &help, problem, sizeof problem))
        code = EXIT_NOT_UNDERSTOOD;
    else if (!help && check)
        code = config_check(&options, problem, sizeof problem);
    if (code != EXIT_DONE) {
        fprintf(stderr, "laud config: %s\n", problem);
        return code;
    }
    if (help)
        config_help();
    else
        options_print(&options, stdout);
    return fflush(stdout) == 0 ? EXIT_DONE : EXIT_FAILED;
}

/*
 * `laud forget` and `laud drop`: the command of the same name, sent to a running server until that
 * says all is gone. Everything that counts happens there; whoever ends this in between loses
 * nothing and only has to call it again.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench/connect.h"
#include "cli/commands.h"

#define LIMIT_WORD  "10000" /* the most one call may be asked for */
#define TIMEOUT_S   60
#define BUSY_NAP_NS 250000000
#define TELL_NS     1000000000ULL /* between two lines of progress */

struct sweep {
    const char *name;    /* forget */
    const char *command; /* FORGET */
    const char *what;    /* user */
    const char *word;    /* USER, for --help; and what is done to it */
    const char *does;
    const char *subject; /* 42 */
    const char *address;
    int fd;
    bool drawn;
    uint64_t removed;
    uint64_t began_ns;
    uint64_t told_ns;
    char problem[512];
    char reply[CONNECT_REPLY_MAX];
};

static void help(const struct sweep *sweep)
{
    printf("Usage: laud %s %s [--address HOST:PORT]\n\n%s", sweep->name, sweep->word, sweep->does);
    puts("The server removes them in batches, between its other work; this command shows progress "
         "on\n"
         "standard error. It can be interrupted at any time; the same command then continues.\n"
         "\n"
         "  --address HOST:PORT  the server [127.0.0.1:5283]\n"
         "  --help               print this text\n"
         "\n"
         "If the server requires tokens, give one in the environment, as LAUD_TOKEN.\n"
         "\n"
         "Exit status: 0 everything is removed, 1 failed before that, 2 bad arguments.");
}

static void tell(struct sweep *sweep, const char *remark)
{
    uint64_t now = clock_monotonic_ns();
    if (now - sweep->told_ns < TELL_NS)
        return;
    sweep->told_ns = now;
    bool line = isatty(STDERR_FILENO) == 1;
    double seconds = (double)(now - sweep->began_ns) / 1e9;
    fprintf(stderr, "%slaud %s: %" PRIu64 " removed, %.0f a second%s%s", line ? "\r\033[K" : "",
            sweep->name, sweep->removed, (double)sweep->removed / seconds, remark,
            line ? "" : "\n");
    sweep->drawn = line;
}

static void tell_end(struct sweep *sweep)
{
    if (sweep->drawn)
        fputs("\r\033[K", stderr);
    sweep->drawn = false;
}

static bool take(const char **at, const char *text)
{
    size_t length = strlen(text);
    bool there = strncmp(*at, text, length) == 0;
    *at += there ? length : 0;
    return there;
}

static bool take_number(const char **at, uint64_t *out)
{
    if (!take(at, ":") || **at < '0' || **at > '9')
        return false;
    char *end;
    *out = strtoull(*at, &end, 10);
    *at = end;
    return take(at, "\r\n");
}

/* One call; false: sweep->problem says why not. */
static bool call(struct sweep *sweep, bool *more)
{
    const char *words[] = {sweep->command, sweep->subject, "LIMIT", LIMIT_WORD};
    const size_t lengths[] = {strlen(words[0]), strlen(words[1]), strlen(words[2]),
                              strlen(words[3])};
    uint64_t removed, again;
    sweep->reply[0] = '\0';
    if (!connect_call(sweep->fd, words, lengths, 4, sweep->reply, sweep->problem,
                      sizeof sweep->problem))
        return false;
    const char *at = sweep->reply;
    if (!take(&at, "*2\r\n") || !take_number(&at, &removed) || !take_number(&at, &again)) {
        snprintf(sweep->problem, sizeof sweep->problem, "the answer to %s is not two numbers",
                 sweep->command);
        return false;
    }
    sweep->removed += removed;
    *more = again != 0;
    return true;
}

/* Until all is gone. While the server has too much to do, it is asked again and again. */
static bool run(struct sweep *sweep)
{
    for (bool more = true; more;) {
        bool answered = call(sweep, &more);
        bool busy = !answered && (strncmp(sweep->reply, "-BUSY ", 6) == 0 ||
                                  strncmp(sweep->reply, "-LIMIT ", 7) == 0);
        if (!answered && !busy)
            return false;
        tell(sweep, busy ? ", waiting: the server is busy" : "");
        if (busy)
            nanosleep(&(struct timespec){.tv_nsec = BUSY_NAP_NS}, NULL);
    }
    return true;
}

/* A token is a secret, and arguments are seen by everybody on the machine: so it is no option. */
static bool show_token(struct sweep *sweep)
{
    const char *token = getenv("LAUD_TOKEN");
    if (token == NULL)
        return true;
    const char *words[] = {"AUTH", token};
    const size_t lengths[] = {strlen(words[0]), strlen(words[1])};
    return connect_call(sweep->fd, words, lengths, 2, sweep->reply, sweep->problem,
                        sizeof sweep->problem);
}

static int sweep_run(struct sweep *sweep)
{
    char host[CONNECT_HOST_MAX], port[CONNECT_PORT_MAX];
    if (!connect_split(sweep->address, host, port)) {
        fprintf(stderr, "laud %s: --address expects HOST:PORT, not '%s'\n", sweep->name,
                sweep->address);
        return EXIT_NOT_UNDERSTOOD;
    }
    sweep->fd = connect_open(host, port, TIMEOUT_S, sweep->problem, sizeof sweep->problem);
    bool done = sweep->fd >= 0 && show_token(sweep) && run(sweep);
    tell_end(sweep);
    if (sweep->fd >= 0)
        close(sweep->fd);
    if (!done) {
        fprintf(stderr, "laud %s: %s\n", sweep->name, sweep->problem);
        if (sweep->removed > 0)
            fprintf(stderr, "laud %s: %" PRIu64 " were removed; run it again to continue\n",
                    sweep->name, sweep->removed);
        return EXIT_FAILED;
    }
    printf("%s %s: %" PRIu64 " removed, nothing is left\n", sweep->what, sweep->subject,
           sweep->removed);
    return fflush(stdout) == 0 ? EXIT_DONE : EXIT_FAILED;
}

static int sweep_main(struct sweep *sweep, int argc, char **argv)
{
    sweep->address = "127.0.0.1:5283";
    sweep->began_ns = sweep->told_ns = clock_monotonic_ns();
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            help(sweep);
            return EXIT_DONE;
        }
        if (strcmp(argv[i], "--address") == 0 && i + 1 < argc) {
            sweep->address = argv[++i];
        } else if (argv[i][0] == '-' || sweep->subject != NULL) {
            fprintf(stderr, "laud %s: unexpected argument '%s'; see laud %s --help\n", sweep->name,
                    argv[i], sweep->name);
            return EXIT_NOT_UNDERSTOOD;
        } else {
            sweep->subject = argv[i];
        }
    }
    if (sweep->subject == NULL) {
        fprintf(stderr, "laud %s: name the %s; see laud %s --help\n", sweep->name, sweep->what,
                sweep->name);
        return EXIT_NOT_UNDERSTOOD;
    }
    return sweep_run(sweep);
}

int forget_main(int argc, char **argv)
{
    static struct sweep sweep = {
        .name = "forget",
        .command = "FORGET",
        .what = "user",
        .word = "USER",
        .does =
            "Removes all reactions of a user from a running server, and lowers the counters.\n"};
    return sweep_main(&sweep, argc, argv);
}

int drop_main(int argc, char **argv)
{
    static struct sweep sweep = {
        .name = "drop",
        .command = "DROP",
        .what = "item",
        .word = "ITEM",
        .does = "Removes all reactions of all users on an item, as in video:42, from a running\n"
                "server, and sets its other counters to 0.\n"};
    return sweep_main(&sweep, argc, argv);
}

/*
 * `laud forget` and `laud drop`: sends the command of the same name to a running server, until the
 * server says that nothing is left. The server does all the work, so this command can be interrupted
 * at any time and started again.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/decimal.h"
#include "bench/connect.h"
#include "cli/commands.h"

#define LIMIT_WORD  "10000" /* the highest LIMIT of one call */
#define TIMEOUT_S   60
#define BUSY_NAP_NS 250000000
#define SHOW_NS     1000000000ULL /* between two lines of progress */

struct removal {
    const char *name;    /* forget */
    const char *command; /* FORGET */
    const char *what;    /* user */
    const char *word;    /* USER, for --help; and what the command does */
    const char *does;
    const char *subject; /* 42 */
    const char *address;
    int fd;
    bool drawn;
    uint64_t removed;
    uint64_t began_ns;
    uint64_t shown_ns;
    char problem[512];
    char reply[CONNECT_REPLY_MAX];
};

static void help(const struct removal *removal)
{
    printf("Usage: laud %s %s [--address HOST:PORT]\n\n%s", removal->name, removal->word,
           removal->does);
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

static void show_progress(struct removal *removal, const char *remark)
{
    uint64_t now = clock_monotonic_ns();
    if (now - removal->shown_ns < SHOW_NS)
        return;
    removal->shown_ns = now;
    bool line = isatty(STDERR_FILENO) == 1;
    double seconds = (double)(now - removal->began_ns) / 1e9;
    fprintf(stderr, "%slaud %s: %" PRIu64 " removed, %.0f a second%s%s", line ? "\r\033[K" : "",
            removal->name, removal->removed, (double)removal->removed / seconds, remark,
            line ? "" : "\n");
    removal->drawn = line;
}

static void progress_end(struct removal *removal)
{
    if (removal->drawn)
        fputs("\r\033[K", stderr);
    removal->drawn = false;
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
    if (!take(at, ":"))
        return false;
    struct text digits = {*at, decimal_digits(text_from(*at))};
    *at += digits.length;
    return decimal_read(digits, UINT64_MAX, out) && take(at, "\r\n");
}

/* Sends the command once. False: removal->problem says why it failed. */
static bool call(struct removal *removal, bool *more)
{
    const char *words[] = {removal->command, removal->subject, "LIMIT", LIMIT_WORD};
    const size_t lengths[] = {strlen(words[0]), strlen(words[1]), strlen(words[2]),
                              strlen(words[3])};
    uint64_t removed, again;
    removal->reply[0] = '\0';
    if (!connect_call(removal->fd, words, lengths, 4, removal->reply, removal->problem,
                      sizeof removal->problem))
        return false;
    const char *at = removal->reply;
    if (!take(&at, "*2\r\n") || !take_number(&at, &removed) || !take_number(&at, &again)) {
        snprintf(removal->problem, sizeof removal->problem, "the answer to %s is not two numbers",
                 removal->command);
        return false;
    }
    removal->removed += removed;
    *more = again != 0;
    return true;
}

/* Sends the command until nothing is left. While the server is busy, it is sent again after a pause. */
static bool run(struct removal *removal)
{
    for (bool more = true; more;) {
        bool answered = call(removal, &more);
        bool busy = !answered && (strncmp(removal->reply, "-BUSY ", 6) == 0 ||
                                  strncmp(removal->reply, "-LIMIT ", 7) == 0);
        if (!answered && !busy)
            return false;
        show_progress(removal, busy ? ", waiting: the server is busy" : "");
        if (busy)
            nanosleep(&(struct timespec){.tv_nsec = BUSY_NAP_NS}, NULL);
    }
    return true;
}

static bool show_token(struct removal *removal)
{
    return connect_authenticate(removal->fd, removal->reply, removal->problem,
                                sizeof removal->problem);
}

static int removal_run(struct removal *removal)
{
    char host[CONNECT_HOST_MAX], port[CONNECT_PORT_MAX];
    if (!connect_split(removal->address, host, port)) {
        fprintf(stderr, "laud %s: --address expects HOST:PORT, not '%s'\n", removal->name,
                removal->address);
        return EXIT_NOT_UNDERSTOOD;
    }
    removal->fd = connect_open(host, port, TIMEOUT_S, removal->problem, sizeof removal->problem);
    bool done = removal->fd >= 0 && show_token(removal) && run(removal);
    progress_end(removal);
    if (removal->fd >= 0)
        close(removal->fd);
    if (!done) {
        fprintf(stderr, "laud %s: %s\n", removal->name, removal->problem);
        if (removal->removed > 0)
            fprintf(stderr, "laud %s: %" PRIu64 " were removed; run it again to continue\n",
                    removal->name, removal->removed);
        return EXIT_FAILED;
    }
    printf("%s %s: %" PRIu64 " removed, nothing is left\n", removal->what, removal->subject,
           removal->removed);
    return fflush(stdout) == 0 ? EXIT_DONE : EXIT_FAILED;
}

static int removal_main(struct removal *removal, int argc, char **argv)
{
    removal->address = "127.0.0.1:5283";
    removal->began_ns = removal->shown_ns = clock_monotonic_ns();
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            help(removal);
            return EXIT_DONE;
        }
        if (strcmp(argv[i], "--address") == 0 && i + 1 < argc) {
            removal->address = argv[++i];
        } else if (argv[i][0] == '-' || removal->subject != NULL) {
            fprintf(stderr, "laud %s: unexpected argument '%s'; see laud %s --help\n",
                    removal->name, argv[i], removal->name);
            return EXIT_NOT_UNDERSTOOD;
        } else {
            removal->subject = argv[i];
        }
    }
    if (removal->subject == NULL) {
        fprintf(stderr, "laud %s: name the %s; see laud %s --help\n", removal->name, removal->what,
                removal->name);
        return EXIT_NOT_UNDERSTOOD;
    }
    return removal_run(removal);
}

int forget_main(int argc, char **argv)
{
    static struct removal removal = {
        .name = "forget",
        .command = "FORGET",
        .what = "user",
        .word = "USER",
        .does =
            "Removes all reactions of a user from a running server, and lowers the counters.\n"};
    return removal_main(&removal, argc, argv);
}

int drop_main(int argc, char **argv)
{
    static struct removal removal = {
        .name = "drop",
        .command = "DROP",
        .what = "item",
        .word = "ITEM",
        .does = "Removes all reactions of all users on an item, as in video:42, from a running\n"
                "server, and sets its other counters to 0.\n"};
    return removal_main(&removal, argc, argv);
}

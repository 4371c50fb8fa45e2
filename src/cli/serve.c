/* The server from its options to its end; what is behind it has a file of its own (embedded.h). */
#include "cli/serve.h"

#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/options.h"
#include "cli/commands.h"
#include "cli/embedded.h"
#include "cli/first_command.h"
#include "cli/prepare.h"
#include "cli/reload.h"
#include "http/face.h"
#include "live/live.h"
#include "net/info.h"
#include "net/server.h"
#include "resp/face.h"

#define TRIM_SECONDS 1        /* between two looks at what malloc could give back */
#define ARENAS       2        /* of malloc; what each keeps for itself nobody counts */
#define LARGE_BYTES  KIB(128) /* and from which on it keeps nothing; see bound_malloc */
#define TRIM_PART    8        /* of what is left for the uncounted: then it gives all */

/* What `serve` holds while it runs. */
struct serving {
    struct options options; /* as they hold */
    struct options given;   /* as they were read */
    struct files files;
    int argc; /* where they came from */
    char **argv;
    struct embedded shape;
    struct server server; /* all zero is one that never started */
    sigset_t signals;
};

static void say_durability(const struct options *options)
{
    switch ((enum durability)options->durability) {
    case DURABILITY_COMMIT:
        log_info("durability commit: a write is answered when it is on disk");
        return;
    case DURABILITY_INTERVAL:
        log_info("durability interval: a write is on disk at most %" PRIu64 " ms after its answer",
                 options->interval_ms);
        return;
    case DURABILITY_NONE:
        log_info("durability none: the operating system decides when a write goes to disk");
        return;
    }
}

static void say_hello(const struct serving *s)
{
    char http[320] = "", first[FIRST_COMMAND_MAX];
    const struct options *options = &s->options, *given = &s->given;
    if (s->server.http_port != 0)
        snprintf(http, sizeof http, "HTTP on %s:%u, ", options->http.host, s->server.http_port);
    log_info("laud %s is ready: RESP on %s:%u, %s%u I/O threads, data in %s", LAUD_VERSION,
             options->resp.host, s->server.resp_port, http, s->server.loop_count, options->data);
    say_durability(options);
    if (s->files.places < given->max_connections + given->live_streams)
        log_info("%" PRIu64 " connections and live streams can be open at a time, because the "
                 "limit of open files (ulimit -n) is %" PRIu64,
                 s->files.places, files_allowed());
    first_command(&s->server.access, options->tokens, options->types, options->resp.host,
                  s->server.resp_port, first);
    log_info("%s", first);
}

/*
 * What malloc keeps of what was freed is nobody's, and RocksDB makes much of it: each merge takes and
 * frees buffers among blocks that stay in its cache. Left alone, malloc learns from the first large
 * block that is freed to keep those, up to 32 MiB.
 */
static void bound_malloc(void)
{
    mallopt(M_ARENA_MAX, ARENAS);
    mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
}

/* Is nearly all used that was left for what nobody counts? */
static bool is_beside_full(struct serving *s)
{
    uint64_t beside = s->shape.sizes.memory - s->shape.sizes.budget;
    return beside > 0 &&
           info_resident_bytes() > memory_used(&s->shape.budget) + beside - beside / TRIM_PART;
}

/* Sleeps until asked to stop, and tidies up now and then. */
static void wait_for_signal(struct serving *s)
{
    const struct timespec pause = {.tv_sec = TRIM_SECONDS};
    int number;
    while ((number = sigtimedwait(&s->signals, NULL, &pause)) < 0 || number == SIGHUP) {
        if (number == SIGHUP)
            reload(&s->server, &s->given, s->argc, s->argv);
        server_trim(&s->server, is_beside_full(s));
        embedded_turn(&s->shape);
    }
    log_info("%s: stopping; connections are drained first", strsignal(number));
}

/* The sources of metrics that net/ does not have itself. */
static bool start_server(struct serving *s)
{
    char problem[512];
    struct server_parts parts = {.options = &s->options,
                                 .resp = &resp_face,
                                 .http = &http_face,
                                 .streams = &live_streams,
                                 .places_max = s->files.places,
                                 .refused_max = s->files.refused};
    embedded_parts(&s->shape, &parts);
    live_metrics_add(&s->server, &parts.sources);
    if (getrandom(parts.limits_seed, sizeof parts.limits_seed, 0) != sizeof parts.limits_seed)
        parts.limits_seed[0] = parts.seed;
    if (!server_start(&s->server, &parts, prepare_threads(&s->options), problem, sizeof problem)) {
        log_error("%s", problem);
        return false;
    }
    return true;
}

/* The signal that asks to stop, as long as nobody took it; 0: none did. */
static int pending_stop(void)
{
    sigset_t pending;
    sigpending(&pending);
    return sigismember(&pending, SIGTERM) ? SIGTERM : sigismember(&pending, SIGINT) ? SIGINT : 0;
}

static bool is_stopping(void)
{
    return pending_stop() != 0;
}

static int serve(struct serving *s)
{
    int code = 1;
    if (embedded_open(&s->shape, &s->options, is_stopping) && start_server(s)) {
        say_hello(s);
        wait_for_signal(s);
        server_stop(&s->server);
        code = 0;
    } else if (s->shape.stopped) {
        log_info("%s: stopping before the start was complete; nothing is lost",
                 strsignal(pending_stop()));
        code = 0;
    }
    code = embedded_stop(&s->shape, code);
    server_free(&s->server); /* its connections hold memory of the parts */
    embedded_close(&s->shape);
    return code;
}

/* Signals are taken by sigwait alone: every thread made from here on has them blocked. */
static void block_signals(struct serving *s)
{
    sigemptyset(&s->signals);
    sigaddset(&s->signals, SIGTERM);
    sigaddset(&s->signals, SIGINT);
    sigaddset(&s->signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &s->signals, NULL);
    signal(SIGPIPE, SIG_IGN);
}

/* Nothing is made before everything that can be refused was looked at. */
static int prepare_and_serve(struct serving *s)
{
    char problem[1024];
    bound_malloc();
    int code = prepare(&s->server, &s->options, &s->files, problem, sizeof problem);
    if (code == EXIT_DONE)
        return serve(s);
    if (code == EXIT_NOT_UNDERSTOOD)
        fprintf(stderr, "laud serve: %s\n", problem);
    else
        log_error("%s", problem);
    server_free(&s->server);
    return code;
}

int serve_main(int argc, char **argv)
{
    char problem[1024];
    bool help = false;
    struct serving *s = calloc(1, sizeof *s);
    if (s == NULL)
        return 1;
    int code = EXIT_NOT_UNDERSTOOD;
    s->argc = argc - 1;
    s->argv = argv + 1;
    if (!options_read(&s->options, s->argc, s->argv, &help, problem, sizeof problem)) {
        fprintf(stderr, "laud serve: %s\n", problem);
    } else if (help) {
        options_help(stdout);
        code = EXIT_DONE;
    } else {
        log_set_format((enum log_format)s->options.log_format);
        s->given = s->options;
        block_signals(s);
        code = prepare_and_serve(s);
    }
    free(s);
    return code;
}

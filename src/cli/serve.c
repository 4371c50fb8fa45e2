/* Runs the server from its options to its end. Everything below net/ is in embedded.h. */
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

#define TRIM_SECONDS 1 /* so often freed memory is returned to the system */
#define ARENAS       2 /* arenas of malloc; the memory that each of them keeps is not counted */
#define LARGE_BYTES  KIB(128) /* from this size on malloc keeps no freed block; see bound_malloc */
#define TRIM_PART    8 /* if less than 1/8 of the uncounted memory is left, all is returned */

/* What `serve` holds while it runs. */
struct serving {
    struct options options; /* the effective options */
    struct options given;   /* the options as they were read */
    struct files files;
    int argc; /* the arguments that the options were read from */
    char **argv;
    struct embedded shape;
    struct server server; /* all zero: it never started */
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
 * No budget counts the freed memory that malloc keeps, and RocksDB causes much of it: each compaction
 * allocates and frees buffers between blocks that stay in its cache. By default malloc begins to keep
 * large blocks after the first one was freed, up to 32 MiB.
 */
static void bound_malloc(void)
{
    mallopt(M_ARENA_MAX, ARENAS);
    mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
}

/* Is nearly all of the memory in use that is reserved for what is not counted? */
static bool is_beside_full(struct serving *s)
{
    uint64_t beside = s->shape.sizes.memory - s->shape.sizes.budget;
    return beside > 0 &&
           info_resident_bytes() > memory_used(&s->shape.budget) + beside - beside / TRIM_PART;
}

/* Waits for the signal to stop, and does periodic work. */
static void wait_for_signal(struct serving *s)
{
    const struct timespec pause = {.tv_sec = TRIM_SECONDS};
    int number;
    while ((number = sigtimedwait(&s->signals, NULL, &pause)) < 0 || number == SIGHUP) {
        if (number == SIGHUP)
            reload(&s->server, s->shape.parts.comments, &s->given, s->argc, s->argv);
        server_trim(&s->server, is_beside_full(s));
        embedded_turn(&s->shape);
    }
    log_info("%s: stopping; connections are drained first", strsignal(number));
}

/* Adds the sources of metrics that net/ does not have itself, and starts the server. */
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

/* A pending signal that asks to stop; 0: there is none. */
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
    server_free(&s->server); /* its connections use the budget, so it comes first */
    embedded_close(&s->shape);
    return code;
}

/* Only sigwait takes signals: they are blocked in every thread that is created from now on. */
static void block_signals(struct serving *s)
{
    sigemptyset(&s->signals);
    sigaddset(&s->signals, SIGTERM);
    sigaddset(&s->signals, SIGINT);
    sigaddset(&s->signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &s->signals, NULL);
    signal(SIGPIPE, SIG_IGN);
}

/* Nothing is created before all checks have passed. */
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

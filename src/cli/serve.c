/*
 * Starting and stopping: each step has its undoing, in the opposite order, at the labels below.
 */
#include "cli/serve.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/options.h"
#include "cli/commands.h"
#include "cli/data_directory.h"
#include "cli/embedded_metrics.h"
#include "cli/first_command.h"
#include "cli/name_options.h"
#include "cli/prepare.h"
#include "cli/reload.h"
#include "hot/memory/hot_memory.h"
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
    struct sizes sizes;
    struct memory_budget budget;
    struct exclusive exclusive;
    struct recovered parts;
    struct projector *projector;
    struct embedded_metrics metrics;
    struct server server; /* all zero is one that never started */
    sigset_t signals;
    int lock;
    bool stopped; /* before it served */
};

/* A name's definition goes into the journal before the name can be used. */
static enum status record_name(void *context, enum name_role role, uint16_t index, const char *text,
                               size_t length)
{
    struct recovered *parts = context;
    uint32_t time_s = (uint32_t)(timeline_now_ms(parts->timeline) / 1000);
    struct event event = event_define((uint8_t)role, index, text, length, time_s);
    hot_memory_raise_time(parts->hot, time_s); /* nothing after it is earlier */
    journal_append(parts->journal, &event);
    return STATUS_OK;
}

/* The same where no operation has passed journal_admit: at start the disk may be full already. */
static enum status record_first_name(void *context, enum name_role role, uint16_t index,
                                     const char *text, size_t length)
{
    const struct recovered *parts = context;
    enum status status = journal_admit(parts->journal, LIMIT_EVENT_BYTES);
    return status == STATUS_OK ? record_name(context, role, index, text, length) : status;
}

/* From here on decisions are recorded. */
static bool start_recording(struct serving *s)
{
    char problem[256];
    struct recovered *parts = &s->parts;
    names_set_recorder(parts->names, record_first_name, parts);
    hot_memory_set_journal(parts->hot, parts->journal);
    if (!name_options_apply(&s->options, parts->names, problem, sizeof problem)) {
        log_error("%s", problem);
        return false;
    }
    enum status status =
        exclusive_parse(&s->exclusive, s->options.exclusive, parts->names, problem, sizeof problem);
    names_set_recorder(parts->names, record_name, parts);
    if (status != STATUS_OK)
        log_error("exclusive = %s: %s", s->options.exclusive, problem);
    journal_kick(parts->journal); /* the kinds that made */
    return status == STATUS_OK;
}

static void projected(void *context, uint64_t position)
{
    struct serving *s = context;
    hot_memory_projected(s->parts.hot, position);
    server_projected(&s->server, position);
}

/* Boards that are being counted at the moment are saved the next time. */
static void save_boards(void *context, uint64_t position)
{
    struct serving *s = context;
    int result = hot_memory_save_boards(s->parts.hot, s->parts.boards_path, position);
    if (result != 0 && result != -EAGAIN)
        log_warn("%s was not written: %s; the next start may have to count the boards again",
                 s->parts.boards_path, strerror(-result));
}

static void store_failed(void *context, const char *why)
{
    struct serving *s = context;
    server_store_failed(&s->server, why);
}

static enum status reach(void *context, uint64_t position, unsigned timeout_ms)
{
    struct serving *s = context;
    if (projector_reach(s->projector, position, timeout_ms))
        return STATUS_OK;
    return atomic_load(&s->server.guard.store_failed) ? STATUS_STORE_FAILED : STATUS_LAGGING;
}

static bool start_projector(struct serving *s)
{
    char problem[512] = "no memory for the hot tier's keeper";
    const struct recovered *parts = &s->parts;
    if (parts->store == NULL)
        return true;
    struct projector_options options = recover_projector(parts);
    options.moved = projected;
    options.failed = store_failed;
    if (s->options.boards)
        options.save = save_boards;
    options.context = s;
    server_projected(&s->server, store_position(&parts->store->applier));
    if (hot_memory_start(parts->hot))
        s->projector = projector_start(&options, problem, sizeof problem);
    if (s->projector != NULL)
        hot_memory_set_reach(parts->hot, reach, s);
    else
        log_error("cannot start the projector: %s", problem);
    return s->projector != NULL;
}

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
    uint64_t beside = s->sizes.memory - s->sizes.budget;
    return beside > 0 &&
           info_resident_bytes() > memory_used(&s->budget) + beside - beside / TRIM_PART;
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
        timeline_turn(s->parts.timeline);
    }
    log_info("%s: stopping; connections are drained first", strsignal(number));
}

/* The sources of metrics that net/ does not have itself. */
static void add_metrics(struct serving *s, struct server_parts *parts)
{
    s->metrics =
        (struct embedded_metrics){.options = &s->options,
                                  .names = s->parts.names,
                                  .hot = s->parts.hot,
                                  .journal = s->parts.journal,
                                  .timeline = s->parts.timeline,
                                  .projector = s->projector,
                                  .store = s->parts.store != NULL ? &s->parts.store->admin : NULL,
                                  .filters = s->parts.filters,
                                  .trends = s->parts.trends,
                                  .lag_slow_bytes = parts->lag_slow_bytes,
                                  .lag_max_bytes = parts->lag_max_bytes};
    embedded_metrics_add(&s->metrics, &parts->sources);
    live_metrics_add(&s->server, &parts->sources);
}

static bool start_server(struct serving *s)
{
    char problem[512];
    struct server_parts parts = {.options = &s->options,
                                 .resp = &resp_face,
                                 .http = &http_face,
                                 .streams = &live_streams,
                                 .names = s->parts.names,
                                 .hot = s->parts.hot,
                                 .journal = s->parts.journal,
                                 .timeline = s->parts.timeline,
                                 .budget = &s->budget,
                                 .places_max = s->files.places,
                                 .refused_max = s->files.refused,
                                 .seed = s->parts.seed};
    if (s->parts.store != NULL) {
        parts.lag_slow_bytes = s->sizes.lag_slow_bytes;
        parts.lag_max_bytes = s->sizes.lag_max_bytes;
    }
    add_metrics(s, &parts);
    if (getrandom(parts.limits_seed, sizeof parts.limits_seed, 0) != sizeof parts.limits_seed)
        parts.limits_seed[0] = s->parts.seed;
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

static bool recover_parts(struct serving *s)
{
    s->parts.exclusive = &s->exclusive;
    s->parts.is_stopping = is_stopping;
    if (data_directory_recover(&s->parts, &s->options, &s->sizes, &s->budget))
        return true;
    s->stopped = s->parts.stopped;
    if (s->stopped)
        log_info("%s: stopping before the start was complete; nothing is lost",
                 strsignal(pending_stop()));
    return false;
}

static int serve(struct serving *s)
{
    int code = 1;
    s->lock = data_directory_lock(s->options.data, true);
    if (s->lock < 0)
        goto free_server;
    if (!recover_parts(s) || !start_recording(s) || !start_projector(s) || !start_server(s)) {
        code = s->stopped ? 0 : 1;
        goto close_parts;
    }
    say_hello(s);
    wait_for_signal(s);
    server_stop(&s->server);
    code = 0;

close_parts:
    if (s->projector != NULL)
        projector_stop(s->projector);
    if (s->parts.hot != NULL)
        hot_memory_stop(s->parts.hot);
    if (s->parts.journal != NULL) {
        journal_close(s->parts.journal);
        if (code == 0 && s->server.journal_state == STATUS_READONLY) {
            log_error("stopped after the journal had failed");
            code = 1;
        } else if (code == 0) {
            log_info("stopped; everything acknowledged is on disk");
        }
    }
free_server:
    server_free(&s->server); /* its connections hold memory of the parts */
    if (s->lock >= 0) {
        recover_close(&s->parts);
        close(s->lock);
    }
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

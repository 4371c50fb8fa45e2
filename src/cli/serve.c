/*
 * Starting and stopping: each step has its undoing, in the opposite order, at the labels below.
 */
#include "cli/serve.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/log.h"
#include "base/options.h"
#include "cli/data_directory.h"
#include "cli/name_options.h"
#include "cli/reload.h"
#include "hot/memory/hot_memory.h"
#include "net/info.h"
#include "net/server.h"

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
    struct server server; /* all zero is one that never started */
    sigset_t signals;
    int lock;
    bool stopped; /* before it served */
};

static unsigned usable_cores(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return (unsigned)(count < 1 ? 1 : count > LIMIT_THREADS ? LIMIT_THREADS : count);
}

static unsigned threads_of(const struct options *options)
{
    return options->threads ? (unsigned)options->threads : usable_cores();
}

/* A name's definition goes into the journal before the name can be used. */
static enum status record_name(void *context, enum name_role role, uint16_t index, const char *text,
                               size_t length)
{
    struct journal *journal = context;
    struct event event =
        event_define((uint8_t)role, index, text, length, (uint32_t)(clock_wall_ms() / 1000));
    journal_append(journal, &event);
    return STATUS_OK;
}

/* The same where no operation has passed journal_admit: at start the disk may be full already. */
static enum status record_first_name(void *context, enum name_role role, uint16_t index,
                                     const char *text, size_t length)
{
    enum status status = journal_admit(context);
    return status == STATUS_OK ? record_name(context, role, index, text, length) : status;
}

/* From here on decisions are recorded. */
static bool start_recording(struct serving *s)
{
    char problem[256];
    struct recovered *parts = &s->parts;
    names_set_recorder(parts->names, record_first_name, parts->journal);
    hot_memory_set_journal(parts->hot, parts->journal);
    if (!name_options_apply(&s->options, parts->names, problem, sizeof problem)) {
        log_error("%s", problem);
        return false;
    }
    enum status status =
        exclusive_parse(&s->exclusive, s->options.exclusive, parts->names, problem, sizeof problem);
    names_set_recorder(parts->names, record_name, parts->journal);
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
        log_warn("%s was not written: %s; the next start may have to count the boards anew",
                 s->parts.boards_path, strerror(-result));
}

static bool reach(void *context, uint64_t position, unsigned timeout_ms)
{
    return projector_reach(context, position, timeout_ms);
}

static bool start_projector(struct serving *s)
{
    char problem[512] = "no memory for the hot tier's keeper";
    const struct recovered *parts = &s->parts;
    if (parts->store == NULL)
        return true;
    struct projector_options options = recover_projector(parts);
    options.moved = projected;
    if (s->options.boards)
        options.save = save_boards;
    options.context = s;
    server_projected(&s->server, store_position(parts->store));
    if (hot_memory_start(parts->hot))
        s->projector = projector_start(&options, problem, sizeof problem);
    if (s->projector != NULL)
        hot_memory_set_reach(parts->hot, reach, s->projector);
    else
        log_error("cannot start the projector: %s", problem);
    return s->projector != NULL;
}

/* A host that can be typed after -h: a wildcard address is reached on loopback. */
static const char *reachable(const char *host)
{
    return strcmp(host, "0.0.0.0") == 0 || strcmp(host, "*") == 0 ? "127.0.0.1"
           : strcmp(host, "::") == 0                              ? "::1"
                                                                  : host;
}

static void say_hello(const struct serving *s)
{
    static const char *const promise[] = {
        "an OK is on disk", "an OK is on disk within the interval", "an OK is with the kernel"};
    const char *host = reachable(s->options.resp.host);
    unsigned port = s->server.resp_port;
    char http[320] = "";
    if (s->server.http_port != 0)
        snprintf(http, sizeof http, "HTTP on %s:%u, ", s->options.http.host, s->server.http_port);
    log_info("laud %s is ready: RESP on %s:%u, %s%u I/O threads, data in %s", LAUD_VERSION,
             s->options.resp.host, port, http, s->server.loop_count, s->options.data);
    log_info("durability: %s", promise[s->options.durability]);
    log_info("a first like: redis-cli -h %s -p %u LIKE 1 video:42", host, port);
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
    }
    log_info("%s: draining and stopping", strsignal(number));
}

static bool start_server(struct serving *s)
{
    char problem[512];
    struct server_parts parts = {.options = &s->options,
                                 .names = s->parts.names,
                                 .hot = s->parts.hot,
                                 .journal = s->parts.journal,
                                 .store = s->parts.store,
                                 .projector = s->projector,
                                 .filters = s->parts.filters,
                                 .trends = s->parts.trends,
                                 .budget = &s->budget,
                                 .places_max = s->files.places,
                                 .refused_max = s->files.refused,
                                 .seed = s->parts.seed};
    if (s->parts.store != NULL) {
        parts.lag_slow_bytes = s->sizes.lag_slow_bytes;
        parts.lag_max_bytes = s->sizes.lag_max_bytes;
    }
    if (getrandom(parts.limits_seed, sizeof parts.limits_seed, 0) != sizeof parts.limits_seed)
        parts.limits_seed[0] = s->parts.seed;
    if (!server_start(&s->server, &parts, threads_of(&s->options), problem, sizeof problem)) {
        log_error("%s", problem);
        return false;
    }
    return true;
}

/*
 * A connection is an open file, and the usual limit of those is far below --max-connections. What does
 * not fit is refused by us, in words: at the system's limit nothing else could open a file either.
 */
static bool share_files(struct serving *s)
{
    struct options *options = &s->options;
    unsigned threads = threads_of(options);
    uint64_t connections = options->max_connections, streams = options->live_streams;
    uint64_t allowed = files_raise(files_wanted(threads, connections, streams));
    bool enough = files_share(&s->files, allowed, threads);
    uint64_t places = s->files.places;
    if (!enough)
        log_error("only %" PRIu64 " open files are allowed (ulimit -n), and %" PRIu64
                  " are needed beside connections",
                  allowed, s->files.own);
    else if (places < connections + streams)
        log_warn("only %" PRIu64 " open files are allowed (ulimit -n): enough for %" PRIu64
                 " connections and live streams, fewer than --max-connections %" PRIu64
                 " and --live-streams %" PRIu64,
                 allowed, places, connections, streams);
    options->max_connections = connections < places ? connections : places;
    options->live_streams = streams < places ? streams : places;
    return enough;
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
        log_info("%s: stopping before the start was done; nothing is lost",
                 strsignal(pending_stop()));
    return false;
}

static int serve(struct serving *s)
{
    int code = 1;
    bound_malloc();
    if (!share_files(s))
        return code;
    s->lock = data_directory_lock(s->options.data, true);
    if (s->lock < 0)
        return code;
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
    server_free(&s->server);
    recover_close(&s->parts);
    close(s->lock);
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

/* What is wrong with the options whatever the data is: said before it is touched, and at once. */
static bool check_options(const struct options *options, char *problem, size_t size)
{
    return sizes_suffice(options, true, problem, size) &&
           name_options_check(options, problem, size);
}

int serve_main(int argc, char **argv)
{
    char problem[1024];
    bool help = false;
    struct serving *s = calloc(1, sizeof *s);
    if (s == NULL)
        return 1;
    int code = 2;
    s->argc = argc - 1;
    s->argv = argv + 1;
    if (!options_read(&s->options, s->argc, s->argv, &help, problem, sizeof problem) ||
        (!help && !check_options(&s->options, problem, sizeof problem))) {
        fprintf(stderr, "laud serve: %s\n", problem);
    } else if (help) {
        options_help(stdout);
        code = 0;
    } else {
        log_set_format((enum log_format)s->options.log_format);
        s->given = s->options;
        block_signals(s);
        code = serve(s);
    }
    free(s);
    return code;
}

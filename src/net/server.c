#include "net/server.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "net/face.h"
#include "net/info.h"
#include "net/loop.h"

#define TRIM_BYTES MIB(1)

static int make_loops(struct server *server, unsigned count)
{
    int error = 0;
    while (error == 0 && server->loop_count < count) {
        struct loop *loop = &server->loops[server->loop_count];
        watch_init(&loop->watch, server->hotkeys, &server->slowlog, server->loop_count,
                   server->parts.options->slowlog_us);
        error = loop_init(loop, server);
        server->loop_count += error == 0;
    }
    return error;
}

/* Each loop takes its socket of the address and listens. 0, or a libuv error, which is an errno. */
static int listen_loops(struct server *server, const struct face *face, struct sockets *sockets)
{
    int error = sockets_probe(sockets);
    for (unsigned i = 0; error == 0 && i < server->loop_count; i++)
        error = loop_listen(&server->loops[i], face, sockets_take(sockets, i));
    return error;
}

static void on_news(void *context)
{
    struct server *server = context;
    for (unsigned i = 0; i < server->loop_count; i++)
        loop_notify(&server->loops[i]);
}

/* Any thread may call it: a name that a connection waits for may be there. */
static void on_name(void *context)
{
    struct server *server = context;
    for (unsigned i = 0; i < server->loop_count; i++)
        loop_notify(&server->loops[i]);
}

static bool listen_on(struct server *server, const struct face *face, struct sockets *sockets,
                      const char *host, char *problem, size_t size)
{
    int error = listen_loops(server, face, sockets);
    if (error)
        snprintf(problem, size, "cannot listen on %s:%u: %s", host, sockets->port,
                 uv_strerror(error));
    return error == 0;
}

/* If HTTP is not served, it has no sockets. */
static bool listen_all(struct server *server, unsigned threads, char *problem, size_t size)
{
    const struct options *options = server->parts.options;
    server->loops = calloc(threads, sizeof *server->loops);
    int error = server->loops != NULL ? make_loops(server, threads) : UV_ENOMEM;
    if (error) {
        snprintf(problem, size, "cannot make %u I/O threads: %s", threads, uv_strerror(error));
        return false;
    }
    const struct server_parts *parts = &server->parts;
    return listen_on(server, parts->resp, &server->resp_sockets, options->resp.host, problem,
                     size) &&
           (server->http_sockets.count == 0 || listen_on(server, parts->http, &server->http_sockets,
                                                         options->http.host, problem, size));
}

static bool set_limits(struct server *server, unsigned threads, char *problem, size_t size)
{
    const struct options *options = server->parts.options;
    struct limit_rates rates;
    limits_rates_of(options, &rates);
    limits_init(&server->limits, server->parts.limits_seed, threads > 1, server->parts.budget);
    if (limits_set(&server->limits, &rates, options->limit_memory))
        return true;
    snprintf(problem, size, "there is no memory for the table of limits, see --limit-memory");
    return false;
}

/* Reads the options that say who may do what. */
static bool prepare_guard(struct server *server, const struct options *options, char *problem,
                          size_t size)
{
    char reason[320];
    if (!ip_nets_parse(&server->proxies, options->proxies, reason, sizeof reason)) {
        snprintf(problem, size, "proxies = %.64s: %s", options->proxies, reason);
        return false;
    }
    return options->tokens[0] == '\0' ||
           access_load(&server->access, options->tokens, problem, size);
}

/* Without tokens, only processes of this machine are let in, unless --insecure says otherwise. */
static enum status prepare_sockets(struct server *server, struct sockets *sockets,
                                   const struct address *address, bool insecure, unsigned threads,
                                   char *problem, size_t size)
{
    bool has_tokens = access_is_on(&server->access);
    enum status status =
        sockets_bind(sockets, address, threads, has_tokens || insecure, problem, size);
    if (status == STATUS_OK && !has_tokens && sockets_are_open(sockets))
        log_warn("no tokens are required on %s: everybody who can reach it may read and write",
                 address->host);
    return status;
}

enum status server_prepare(struct server *server, const struct options *options, unsigned threads,
                           char *problem, size_t size)
{
    if (!prepare_guard(server, options, problem, size))
        return STATUS_BAD_ARGUMENT;
    enum status status = prepare_sockets(server, &server->resp_sockets, &options->resp,
                                         options->insecure, threads, problem, size);
    if (status == STATUS_OK && options->http.host[0] != '\0')
        status = prepare_sockets(server, &server->http_sockets, &options->http, options->insecure,
                                 threads, problem, size);
    if (status == STATUS_OK && sockets_overlap(&server->resp_sockets, &server->http_sockets)) {
        snprintf(problem, size, "--resp and --http need different ports, but both have port %u",
                 server->resp_sockets.port);
        status = STATUS_BAD_ARGUMENT;
    }
    server->resp_port = server->resp_sockets.port;
    server->http_port = server->http_sockets.port;
    return status;
}

/* It must run before the loops exist. */
static void start_watching(struct server *server, unsigned threads)
{
    slowlog_init(&server->slowlog);
    if (!server->parts.options->hotkeys)
        return;
    server->hotkeys =
        hotkeys_new(threads, server->parts.seed, clock_monotonic_ns(), server->parts.budget);
    if (server->hotkeys == NULL)
        log_warn(
            "there is no memory to keep track of hot keys, so HOTKEYS will answer with an error");
}

bool server_start(struct server *server, const struct server_parts *parts, unsigned threads,
                  char *problem, size_t size)
{
    server->parts = *parts;
    if (server->parts.refused_max == 0)
        server->parts.refused_max = LIMIT_REFUSED;
    if (server->parts.submission_ns == 0)
        server->parts.submission_ns = LIMIT_JOB_MS * 1000000ULL;
    server->started_ns = clock_monotonic_ns();
    commands_init(&server->commands);
    if (parts->resp->add_commands != NULL)
        parts->resp->add_commands(&server->commands);
    if (server->resp_sockets.count == 0 &&
        server_prepare(server, parts->options, threads, problem, size) != STATUS_OK)
        return false;
    if (!set_limits(server, threads, problem, size))
        return false;
    start_watching(server, threads);
    info_add_sources(server);
    if (!listen_all(server, threads, problem, size))
        return false;
    hot_listen(parts->hot, on_news, server);
    names_listen(parts->names, on_name, server);
    for (unsigned i = 0; i < threads; i++) {
        int error = loop_run(&server->loops[i]);
        if (error) {
            snprintf(problem, size, "cannot start an I/O thread: %s", uv_strerror(error));
            server_stop(server);
            return false;
        }
    }
    return true;
}

void server_stop(struct server *server)
{
    hot_refuse_writes(server->parts.hot);
    for (unsigned i = 0; i < server->loop_count; i++)
        loop_stop(&server->loops[i]);
    for (unsigned i = 0; i < server->loop_count; i++)
        loop_join(&server->loops[i]);
}

void server_trim(struct server *server, bool anyway)
{
    if (!anyway && atomic_load_explicit(&server->given_back, memory_order_relaxed) < TRIM_BYTES)
        return;
    atomic_store_explicit(&server->given_back, 0, memory_order_relaxed);
    malloc_trim(0);
}

void server_free(struct server *server)
{
    if (server->parts.names != NULL)
        names_listen(server->parts.names, NULL, NULL);
    for (unsigned i = 0; i < server->loop_count; i++)
        loop_free(&server->loops[i]);
    free(server->loops);
    sockets_close(&server->resp_sockets);
    sockets_close(&server->http_sockets);
    hotkeys_free(server->hotkeys);
    slowlog_destroy(&server->slowlog);
    limits_free(&server->limits);
    access_free(&server->access);
}

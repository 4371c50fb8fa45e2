#include "net/server.h"

#include <errno.h>
#include <malloc.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "http/face.h"
#include "net/face.h"
#include "net/loop.h"

#define TRIM_BYTES MIB(1)

union any_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_storage room;
};

/* Each loop has a socket of its own on the same port; the kernel spreads connections over them. */
static int bind_socket(const struct addrinfo *where, uint16_t port)
{
    union any_address address;
    memcpy(&address, where->ai_addr, where->ai_addrlen);
    if (where->ai_family == AF_INET6)
        address.v6.sin6_port = htons(port);
    else
        address.v4.sin_port = htons(port);
    int on = 1;
    int fd = socket(where->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) < 0 ||
        bind(fd, &address.any, where->ai_addrlen) < 0) {
        int error = errno;
        close(fd);
        return -error;
    }
    return fd;
}

static uint16_t bound_port(int fd)
{
    union any_address address;
    socklen_t length = sizeof address;
    memset(&address, 0, sizeof address);
    if (getsockname(fd, &address.any, &length) < 0)
        return 0;
    return ntohs(address.any.sa_family == AF_INET6 ? address.v6.sin6_port : address.v4.sin_port);
}

/*
 * SO_REUSEPORT would let a second server share our port without a word. So before the sockets that
 * share, one that does not is bound to see that the port is free.
 */
static int probe_port(const struct addrinfo *where)
{
    int fd = socket(where->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    int on = 1;
    int error = setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0 ||
                        bind(fd, where->ai_addr, where->ai_addrlen) < 0
                    ? -errno
                    : 0;
    close(fd);
    return error;
}

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

/* A socket for each loop, all on the port that the first of them got. */
static int bind_loops(struct server *server, const struct face *face, const struct addrinfo *where,
                      uint16_t *port)
{
    int error = probe_port(where);
    for (unsigned i = 0; error == 0 && i < server->loop_count; i++) {
        int fd = bind_socket(where, *port);
        if (fd < 0)
            return fd;
        *port = bound_port(fd);
        error = loop_listen(&server->loops[i], face, fd);
    }
    return error;
}

/* Read-only or not is news for whoever runs the server: it is logged once each time. */
static void tell_journal_state(struct server *server)
{
    struct journal_stats stats;
    enum status state = journal_state(server->parts.journal), was = server->journal_state;
    if (state == was)
        return;
    server->journal_state = state;
    journal_stats(server->parts.journal, &stats);
    if (state == STATUS_OK)
        log_info("%s, writes go on",
                 was == STATUS_NO_FILES ? "files can be opened again" : "the disk has room again");
    else
        log_error("read-only: %s", stats.reason);
}

static void on_journal(void *context)
{
    struct server *server = context;
    tell_journal_state(server);
    for (unsigned i = 0; i < server->loop_count; i++)
        loop_moved(&server->loops[i]);
}

/* Without tokens, only this machine's own processes are let in, unless somebody says so. */
static bool may_listen(const struct server *server, const struct addrinfo *where, const char *host,
                       char *problem, size_t size)
{
    struct ip ip = ip_of_socket(where->ai_addr);
    if (ip_is_loopback(&ip) || access_is_on(&server->access))
        return true;
    if (server->parts.options->insecure) {
        log_warn("no tokens are asked for on %s: whoever reaches it may read and write", host);
        return true;
    }
    snprintf(problem, size,
             "%s can be reached from other machines, and there are no tokens: give --tokens FILE, "
             "or --insecure yes",
             host);
    return false;
}

/* Finds the address and binds a socket to it for each loop; *bound is the port it got. */
static bool listen_on(struct server *server, const struct face *face, const struct address *address,
                      uint16_t *bound, char *problem, size_t size)
{
    char port[8];
    snprintf(port, sizeof port, "%u", address->port);
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *where = NULL;
    int unknown = getaddrinfo(address->host, port, &hints, &where);
    if (unknown) {
        snprintf(problem, size, "cannot listen on %s: %s", address->host, gai_strerror(unknown));
        return false;
    }
    if (!may_listen(server, where, address->host, problem, size)) {
        freeaddrinfo(where);
        return false;
    }
    *bound = address->port;
    int error = bind_loops(server, face, where, bound);
    freeaddrinfo(where);
    if (error)
        snprintf(problem, size, "cannot listen on %s:%u: %s", address->host, address->port,
                 uv_strerror(error));
    return error == 0;
}

/* HTTP has no host where it is not to be served. */
static bool listen_all(struct server *server, unsigned threads, char *problem, size_t size)
{
    const struct options *options = server->parts.options;
    server->loops = calloc(threads, sizeof *server->loops);
    int error = server->loops != NULL ? make_loops(server, threads) : UV_ENOMEM;
    if (error) {
        snprintf(problem, size, "cannot make %u I/O threads: %s", threads, uv_strerror(error));
        return false;
    }
    return listen_on(server, &resp_face, &options->resp, &server->resp_port, problem, size) &&
           (options->http.host[0] == '\0' ||
            listen_on(server, &http_face, &options->http, &server->http_port, problem, size));
}

static bool set_guard(struct server *server, unsigned threads, char *problem, size_t size)
{
    const struct options *options = server->parts.options;
    struct limit_rates rates;
    char reason[256];
    if (!ip_nets_parse(&server->proxies, options->proxies, reason, sizeof reason)) {
        snprintf(problem, size, "proxies = %.64s: %s", options->proxies, reason);
        return false;
    }
    if (options->tokens[0] != '\0' && !access_load(&server->access, options->tokens, problem, size))
        return false;
    limits_rates_of(options, &rates);
    limits_init(&server->limits, server->parts.limits_seed, threads > 1, server->parts.budget);
    if (limits_set(&server->limits, &rates, options->limit_memory))
        return true;
    snprintf(problem, size, "no memory for the table of limits, see --limit-memory");
    return false;
}

/* Before there are loops. */
static void start_watching(struct server *server, unsigned threads)
{
    slowlog_init(&server->slowlog);
    if (!server->parts.options->hotkeys)
        return;
    server->hotkeys =
        hotkeys_new(threads, server->parts.seed, clock_monotonic_ns(), server->parts.budget);
    if (server->hotkeys == NULL)
        log_warn("no memory to look for hot keys, HOTKEYS will have no answer");
}

bool server_start(struct server *server, const struct server_parts *parts, unsigned threads,
                  char *problem, size_t size)
{
    server->parts = *parts;
    if (server->parts.refused_max == 0)
        server->parts.refused_max = LIMIT_REFUSED;
    server->guard.journal = parts->journal;
    server->guard.timeline = parts->timeline;
    server->guard.lag_slow = parts->lag_slow_bytes;
    server->guard.lag_max = parts->lag_max_bytes;
    server->started_ns = clock_monotonic_ns();
    commands_init(&server->commands);
    if (!set_guard(server, threads, problem, size))
        return false;
    start_watching(server, threads);
    if (!listen_all(server, threads, problem, size))
        return false;
    tell_journal_state(server);
    journal_listen(parts->journal, on_journal, server);
    int error = work_start(&server->work, parts->hot, parts->names, &server->guard,
                           (unsigned)parts->options->workers);
    if (error) {
        snprintf(problem, size, "cannot start the workers: %s", uv_strerror(error));
        return false;
    }
    for (unsigned i = 0; i < threads; i++) {
        error = loop_run(&server->loops[i]);
        if (error) {
            snprintf(problem, size, "cannot start an I/O thread: %s", uv_strerror(error));
            server_stop(server);
            return false;
        }
    }
    atomic_store(&server->running, true);
    return true;
}

void server_stop(struct server *server)
{
    atomic_store(&server->guard.stopping, true);
    for (unsigned i = 0; i < server->loop_count; i++)
        loop_stop(&server->loops[i]);
    for (unsigned i = 0; i < server->loop_count; i++)
        loop_join(&server->loops[i]);
    work_stop(&server->work);
}

void server_store_failed(struct server *server, const char *why)
{
    snprintf(server->store_failure, sizeof server->store_failure, "%s: %s",
             status_sentence(STATUS_STORE_FAILED), why);
    atomic_store(&server->guard.store_failed, true);
}

const char *server_sentence(const struct server *server, enum status status)
{
    bool known = status == STATUS_STORE_FAILED && atomic_load(&server->guard.store_failed);
    return known ? server->store_failure : status_sentence(status);
}

void server_projected(struct server *server, uint64_t position)
{
    guard_projected(&server->guard, position);
    if (!atomic_load(&server->running))
        return;
    for (unsigned i = 0; i < server->loop_count; i++)
        loop_moved(&server->loops[i]);
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
    atomic_store(&server->running, false);
    for (unsigned i = 0; i < server->loop_count; i++)
        loop_free(&server->loops[i]);
    free(server->loops);
    hotkeys_free(server->hotkeys);
    slowlog_destroy(&server->slowlog);
    limits_free(&server->limits);
    access_free(&server->access);
}

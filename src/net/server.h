/*
 * The server as clients see it: listeners, I/O threads with one event loop each, and what they
 * share. Everything shared is either read-only after start or says how it is shared.
 */
#ifndef LAUD_NET_SERVER_H
#define LAUD_NET_SERVER_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/names.h"
#include "base/options.h"
#include "guard/access.h"
#include "guard/ip.h"
#include "guard/limits.h"
#include "hot/hot.h"
#include "metrics/hotkeys.h"
#include "metrics/slowlog.h"
#include "metrics/source.h"
#include "net/sockets.h"
#include "op/command.h"

struct face;
struct loop;
struct streams_ops;

/* What the server is made of; the caller owns all of it and outlives the server. */
struct server_parts {
    const struct options *options;
    const struct face *resp;           /* what is spoken on the address of --resp */
    const struct face *http;           /* and on that of --http */
    const struct streams_ops *streams; /* live streams; NULL: there are none */
    struct names *names;
    struct hot *hot;
    struct memory_budget *budget;
    struct timeline *timeline; /* NULL: what is recorded is what the clock says */
    /* Sources of metrics that net/ does not have itself; server_start adds those of net/. */
    struct metrics_sources sources;
    uint64_t places_max;     /* connections and streams that files can be open for; 0: no bound */
    uint32_t refused_max;    /* connections of a thread that are being refused; 0: the usual */
    uint64_t submission_ns;  /* until the deadline of a submission; 0: LIMIT_JOB_MS */
    uint64_t seed;           /* any number that nobody can guess */
    uint64_t limits_seed[2]; /* two more */
};

struct server {
    struct server_parts parts;
    struct limits limits; /* says itself how it is shared */
    struct ip_nets proxies;
    struct access access;
    struct commands commands;
    struct slowlog slowlog;
    struct hotkeys *hotkeys; /* NULL: there was no memory for it */
    struct loop *loops;      /* loop_count of them */
    unsigned loop_count;
    struct sockets resp_sockets; /* bound by server_prepare, until the loops have them */
    struct sockets http_sockets; /* none: HTTP is not served */
    uint16_t resp_port;          /* the one really bound */
    uint16_t http_port;          /* likewise; 0: HTTP is not served */
    uint64_t started_ns;         /* by the clock that nobody sets */
    _Atomic uint64_t next_conn;  /* ids of connections */
    _Atomic uint64_t connections;
    _Atomic uint64_t given_back; /* bytes that connections had, since server_trim */
    _Atomic uint64_t streams;    /* live ones, not among the connections */
};

/*
 * Everything that can be refused without looking at any data: reads the lists and the file of tokens
 * that the options name, and binds the ports. OK; BAD_ARGUMENT: an option has to be changed; IO_FAILED:
 * a port cannot be had. Then `problem` is one sentence. server_free is due in any case.
 */
enum status server_prepare(struct server *server, const struct options *options, unsigned threads,
                           char *problem, size_t size);

/*
 * Listens and starts the threads. Before it, only server_prepare may have been called; what was not
 * prepared is prepared now, with the same number of threads.
 * False: `problem` is one sentence, and server_free is still due.
 */
bool server_start(struct server *server, const struct server_parts *parts, unsigned threads,
                  char *problem, size_t size);

/*
 * Stops: no new connections or commands; replies on their way leave (for LIMIT_DRAIN_MS at most),
 * then all connections close and the threads end. Requests that a worker has are waited for, however
 * long the store takes.
 */
void server_stop(struct server *server);

/* The sentence for a client about this status; hot_sentence. */
static inline const char *server_sentence(const struct server *server, enum status status)
{
    return hot_sentence(server->parts.hot, status);
}

/* So many bytes of a connection were freed. */
static inline void server_gave_back(struct server *server, size_t bytes)
{
    atomic_fetch_add_explicit(&server->given_back, bytes, memory_order_relaxed);
}

/*
 * Gives to the system what connections left behind, if it is much, or whatever there is `anyway`:
 * malloc keeps it otherwise, and nobody counts it. About once a second, by a thread that may wait.
 */
void server_trim(struct server *server, bool anyway);

/* After server_stop, and after the hot tier is stopped and cannot call its listener any more. */
void server_free(struct server *server);

#endif

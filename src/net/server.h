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
#include "guard/guard.h"
#include "guard/ip.h"
#include "guard/limits.h"
#include "hot/hot.h"
#include "journal/log.h"
#include "metrics/hotkeys.h"
#include "metrics/slowlog.h"
#include "metrics/source.h"
#include "net/sockets.h"
#include "net/work.h"
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
    struct journal *journal;
    struct memory_budget *budget;
    struct timeline *timeline; /* NULL: what is recorded is what the clock says */
    /* Sources of metrics that net/ does not have itself; server_start adds those of net/. */
    struct metrics_sources sources;
    uint64_t lag_slow_bytes; /* of journal that the store is behind: writes slow down from here */
    uint64_t lag_max_bytes;  /* and are refused from here; 0: no bound */
    uint64_t places_max;     /* connections and streams that files can be open for; 0: no bound */
    uint32_t refused_max;    /* connections of a thread that are being refused; 0: the usual */
    uint64_t seed;           /* any number that nobody can guess */
    uint64_t limits_seed[2]; /* two more */
};

struct server {
    struct server_parts parts;
    struct guard guard;
    struct limits limits; /* says itself how it is shared */
    struct ip_nets proxies;
    struct access access;
    struct commands commands;
    struct work work;
    struct slowlog slowlog;
    struct hotkeys *hotkeys; /* NULL: there was no memory for it */
    struct loop *loops;      /* loop_count of them */
    unsigned loop_count;
    atomic_bool running;         /* the loops can be woken */
    struct sockets resp_sockets; /* bound by server_prepare, until the loops have them */
    struct sockets http_sockets; /* none: HTTP is not served */
    uint16_t resp_port;          /* the one really bound */
    uint16_t http_port;          /* likewise; 0: HTTP is not served */
    uint64_t started_ns;         /* by the clock that nobody sets */
    char store_failure[384];     /* written once, before guard.store_failed is true */
    enum status journal_state;   /* as last logged; the journal's thread's, until it is closed */
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
 * Listens and starts the threads. Before it, only server_prepare, server_projected and
 * server_store_failed may have been called; what was not prepared is prepared now, with the same number
 * of threads.
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

/*
 * The store has reached this position of the journal. By the projector's thread, at any time from
 * before server_start until server_free; where it stands at the start has to be told as well.
 */
void server_projected(struct server *server, uint64_t position);

/*
 * The projector failed for good; likewise by its thread, and once. What needs the store to catch up is
 * refused from now on, with `why`.
 */
void server_store_failed(struct server *server, const char *why);

/* What a client is told of this status: the plain sentence, or with the cause where it is known. */
const char *server_sentence(const struct server *server, enum status status);

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

/* After server_stop, and after the journal is closed: until then it may call our listener. */
void server_free(struct server *server);

#endif

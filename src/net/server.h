/*
 * The network side of the server: listeners, I/O threads with one event loop each, and what the threads
 * share. What is shared is either read-only after the start, or its own header says how it is shared.
 * One thread, the main thread, calls the functions of this file unless they say otherwise.
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

struct backup_ops;
struct face;
struct loop;
struct streams_ops;

/* What the server works with. The caller owns all of it, and it must outlive the server. */
struct server_parts {
    const struct options *options;
    const struct face *resp;           /* the protocol on the address of --resp */
    const struct face *http;           /* the protocol on the address of --http */
    const struct streams_ops *streams; /* live streams; NULL: there are none */
    struct names *names;
    struct hot *hot;
    struct memory_budget *budget;
    const struct backup_ops *backup; /* net/backup.h; NULL: no backups can be made */
    void *backup_context;
    struct timeline *timeline; /* NULL: the recorded time is the time of the clock */
    /* Sources of metrics that net/ does not have itself; server_start adds those of net/. */
    struct metrics_sources sources;
    uint64_t places_max;     /* how many connections and live streams may be open; 0: no bound */
    uint32_t refused_max;    /* connections of a thread that wait for a refusal; 0: LIMIT_REFUSED */
    uint64_t submission_ns;  /* how long after submitting the deadline is; 0: LIMIT_JOB_MS */
    uint64_t seed;           /* a random number that nobody can guess */
    uint64_t limits_seed[2]; /* two more of them */
};

struct server {
    struct server_parts parts;
    struct limits limits; /* guard/limits.h says how it is shared */
    struct ip_nets proxies;
    struct access access;
    struct commands commands;
    struct slowlog slowlog;
    struct hotkeys *hotkeys; /* NULL: they are switched off, or there was no memory */
    struct loop *loops;      /* loop_count of them */
    unsigned loop_count;
    struct sockets resp_sockets; /* bound by server_prepare; the loops take them */
    struct sockets http_sockets; /* the same for HTTP; none if HTTP is not served */
    uint16_t resp_port;          /* the port that is really bound */
    uint16_t http_port;          /* the same for HTTP; 0: HTTP is not served */
    uint64_t started_ns;         /* by the monotonic clock */
    _Atomic uint64_t next_conn;  /* the id of the newest connection */
    _Atomic uint64_t connections;
    _Atomic uint64_t given_back; /* bytes that connections have freed since the last server_trim */
    _Atomic uint64_t streams;    /* live streams; they do not count as connections */
};

/*
 * Does everything that can fail without looking at the data directory: it reads the lists and the file of
 * tokens that the options name, and binds the ports. OK; BAD_ARGUMENT: an option has to be changed;
 * IO_FAILED: a port cannot be bound. After a failure `problem` is one sentence. server_free must be called
 * in any case.
 */
enum status server_prepare(struct server *server, const struct options *options, unsigned threads,
                           char *problem, size_t size);

/*
 * Listens and starts the threads. If server_prepare was called before, the number of threads must be the
 * same; if not, server_start calls it. False: `problem` is one sentence, and server_free must still be
 * called.
 */
bool server_start(struct server *server, const struct server_parts *parts, unsigned threads,
                  char *problem, size_t size);

/*
 * Stops the server. No new connections or commands are accepted; replies that wait are still sent, for at
 * most LIMIT_DRAIN_MS; then all connections are closed and the threads end. Submitted requests are waited
 * for, however long the store takes.
 */
void server_stop(struct server *server);

/* The sentence about this status for a client; see hot_sentence. */
static inline const char *server_sentence(const struct server *server, enum status status)
{
    return hot_sentence(server->parts.hot, status);
}

/* Counts bytes that a connection has freed. Any thread may call it. */
static inline void server_gave_back(struct server *server, size_t bytes)
{
    atomic_fetch_add_explicit(&server->given_back, bytes, memory_order_relaxed);
}

/*
 * Returns memory that connections have freed to the operating system, if it is much, or in any case if
 * `anyway` is true. Otherwise malloc keeps it, and no budget counts it. To be called about once a second,
 * by a thread that may block.
 */
void server_trim(struct server *server, bool anyway);

/* Frees the server. Before it, server_stop was called and the hot tier is stopped, so that the hot tier
 * cannot call its listener any more. */
void server_free(struct server *server);

#endif

/*
 * A driver is one thread's share of the load: its connections, its part of the request numbers,
 * its histogram. Flat out, a connection sends a full pipeline in one write and again when all of
 * it is answered. With a rate, requests are due on a schedule fixed beforehand, one by one or a
 * batch at a time, and go to the next connection with a free place; latency counts from the due
 * time, so a server that stalls is charged for the requests it kept waiting.
 *
 * driver_open and driver_close are for the thread that owns the run; driver_run is the body of the
 * driver's own thread. Others may read `done` while it runs, everything else only after.
 */
#ifndef LAUD_BENCH_DRIVER_H
#define LAUD_BENCH_DRIVER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/bench_options.h"
#include "bench/histogram.h"
#include "bench/random.h"
#include "bench/reply_reader.h"
#include "bench/response_reader.h"
#include "bench/template.h"

/* The compiled mix: shared, constant. */
struct driver_mix {
    struct template *templates[BENCH_MIX_MAX];
    uint64_t until[BENCH_MIX_MAX]; /* running sum of weights */
    size_t count;
    uint64_t weight;
    size_t max_bytes;         /* of one request of any template */
    struct template *prelude; /* of each connection; NULL: none */
};

/* A stretch of load: the warm-up, or the measured run. */
struct driver_phase {
    uint64_t start_ns;
    uint64_t stop_ns; /* no request leaves after; UINT64_MAX: by number only */
    uint64_t first;   /* request numbers first … end-1 */
    uint64_t end;
    double gap_ns;    /* between two due requests of this driver; 0: flat out */
    double offset_ns; /* of its first one */
};

struct flight {
    uint64_t due_ns;
    uint64_t replies; /* still to come */
};

struct connection {
    int fd;
    bool blocked; /* the socket took no more; EPOLLOUT is awaited */
    bool dirty;   /* has requests that were not written yet */
    char *out;
    size_t out_start;
    size_t out_end;
    struct flight *flights; /* a ring of `pipeline` */
    uint32_t flight_first;
    uint32_t flight_count;
    union {
        struct reply_reader resp;
        struct response_reader http;
    } reader;
};

struct driver {
    /* Set before the thread starts. */
    const struct driver_mix *mix;
    struct connection *connections;
    size_t connection_count;
    size_t pipeline;
    uint64_t batch; /* requests due together, on a schedule */
    uint64_t timeout_ns;
    bool http;
    uint64_t first_connection; /* number of its first one, in the whole run */
    struct driver_phase phase;
    atomic_bool *stop; /* shared: a driver that fails ends them all, so does Ctrl-C */

    /* The thread's own. */
    int epoll;
    struct random random;
    struct template_scratch scratch;
    struct connection **dirty;
    size_t dirty_count;
    size_t next_connection;
    struct connection *batch_connection; /* takes the batch that has begun; NULL: none has */
    uint64_t next_request;
    uint64_t in_flight;
    uint64_t last_reply_ns;
    char *in;

    /* Results. */
    _Atomic uint64_t done;
    uint64_t ended_ns;
    uint64_t unsent; /* due before the end, but no connection had a free place */
    uint64_t errors;
    uint64_t bytes_sent;
    uint64_t bytes_received;
    struct histogram histogram;
    char first_error[READER_LINE_MAX];
    char problem[256]; /* "" unless the run broke */
};

bool driver_open(struct driver *driver, const struct bench_options *options,
                 const struct driver_mix *mix, size_t connections, uint64_t seed, char *problem,
                 size_t size);
void driver_close(struct driver *driver);

/* Forgets all results and takes a new phase. */
void driver_prepare(struct driver *driver, const struct driver_phase *phase);

void *driver_run(void *driver);

#endif

/*
 * A driver is one thread's share of the load: its connections, its range of request numbers and its
 * histogram. Without a rate, a connection sends a full pipeline in one write, and the next one when all
 * requests are answered. With a rate, requests are due on a fixed schedule, one by one or in batches, and
 * are sent on the next connection that has a free slot in its pipeline. Latency is measured from the due
 * time, so if the server stalls, the waiting time of later requests counts as well.
 *
 * The main thread calls driver_open and driver_close; driver_run is the function of the driver's own
 * thread. While it runs, other threads may read only `done`; after that, everything.
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

/* The compiled mix, which is constant and shared by all drivers. */
struct driver_mix {
    struct template *templates[BENCH_MIX_MAX];
    uint64_t until[BENCH_MIX_MAX]; /* running sum of weights */
    size_t count;
    uint64_t weight;
    size_t max_bytes;         /* of one request of any template */
    struct template *prelude; /* the first command of each connection; NULL: there is none */
};

/* One phase of the load: the warm-up or the measured run. */
struct driver_phase {
    uint64_t start_ns;
    uint64_t stop_ns; /* no request is sent after this; UINT64_MAX: only `end` ends the phase */
    uint64_t first;   /* request numbers first … end-1 */
    uint64_t end;
    double gap_ns;    /* between two due requests of this driver; 0: there is no rate */
    double offset_ns; /* from the start to its first request */
};

struct flight {
    uint64_t due_ns;
    uint64_t replies; /* that are still expected */
};

struct connection {
    int fd;
    bool blocked; /* the socket buffer is full, and EPOLLOUT is awaited */
    bool dirty;   /* there are requests that were not written to the socket yet */
    char *out;
    size_t out_start;
    size_t out_end;
    struct flight *flights; /* a ring of `pipeline` slots */
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
    uint64_t first_connection; /* the number of its first connection in the whole run */
    struct driver_phase phase;
    atomic_bool *stop; /* shared by all drivers: set if one of them fails, and by Ctrl-C */

    /* Used only by the driver's thread. */
    int epoll;
    struct random random;
    struct template_scratch scratch;
    struct connection **dirty;
    size_t dirty_count;
    size_t next_connection;
    struct connection
        *batch_connection; /* gets the rest of the current batch; NULL: there is none */
    uint64_t next_request;
    uint64_t in_flight;
    uint64_t last_reply_ns;
    char *in;

    /* Results. */
    _Atomic uint64_t done;
    uint64_t ended_ns;
    uint64_t unsent; /* requests that were due before the end, but no connection had a free slot */
    uint64_t errors;
    uint64_t bytes_sent;
    uint64_t bytes_received;
    struct histogram histogram;
    char first_error[READER_LINE_MAX];
    char problem[256]; /* "" unless the run failed */
};

bool driver_open(struct driver *driver, const struct bench_options *options,
                 const struct driver_mix *mix, size_t connections, uint64_t seed, char *problem,
                 size_t size);
void driver_close(struct driver *driver);

/* Resets all results and sets the next phase. */
void driver_prepare(struct driver *driver, const struct driver_phase *phase);

void *driver_run(void *driver);

#endif

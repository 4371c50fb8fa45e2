/*
 * Measures the work of one I/O thread: how long its batches took, which keys they used, and which batches
 * were slow. The time of a batch counts for each of its commands, so that the clock is read only once for
 * each batch.
 *
 * It belongs to the thread; any thread may read the meter in it.
 */
#ifndef LAUD_NET_WATCH_H
#define LAUD_NET_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

#include "base/names.h"
#include "hot/hot.h"
#include "metrics/hotkeys.h"
#include "metrics/meter.h"
#include "metrics/slowlog.h"
#include "op/command.h"

_Static_assert(COMMANDS_MAX <= METER_OPERATIONS, "every command has its place in a meter");

struct watch {
    struct meter meter;
    struct hotkeys *hotkeys; /* shared by all threads; NULL: hot keys are off */
    struct slowlog *slowlog; /* shared by all threads */
    unsigned thread;
    uint64_t with_user; /* bit i: operation i has a user */
    uint64_t slow_ns;   /* a batch that takes at least this long is slow */
};

/* The client of a slow command. */
struct watch_client {
    const uv_tcp_t *tcp;
    const char *name; /* the name of the connection, "" if it has none */
};

/* Writes an address as host:port, or as "?" if it is neither IPv4 nor IPv6. */
#define WATCH_ADDRESS SLOWLOG_CLIENT
void watch_address(const struct sockaddr_storage *address, char out[WATCH_ADDRESS]);
void watch_peer(const uv_tcp_t *tcp, char out[WATCH_ADDRESS]);

void watch_init(struct watch *watch, struct hotkeys *hotkeys, struct slowlog *slowlog,
                unsigned thread, uint64_t slow_us);

/* Counts requests that ran together and took `took_ns`. Of each request only the head is used. */
void watch_ran(struct watch *watch, const struct hot_request *requests, uint32_t count,
               uint64_t took_ns, uint64_t now_ns);

static inline bool watch_is_slow(const struct watch *watch, uint64_t took_ns)
{
    return took_ns >= watch->slow_ns;
}

/* Adds one entry to the slow log for all these requests, with the words of the first. */
void watch_slow_requests(struct watch *watch, const struct hot_request *requests, uint32_t count,
                         const struct names *names, struct watch_client client, uint64_t took_ns,
                         uint64_t time_s);

/* The same for a command of which the words are there, its name first. */
void watch_slow_words(struct watch *watch, const struct text *words, uint32_t count,
                      struct watch_client client, uint64_t took_ns, uint64_t time_s);

#endif

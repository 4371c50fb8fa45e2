/*
 * Watching the work of one I/O thread: how long its batches took, what they asked for, which were
 * slow. The time of a batch counts for each of its commands, so the clock is read once a batch.
 *
 * Owned by the thread; the meter in it may be read by any.
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
    struct hotkeys *hotkeys; /* shared by all; NULL: nobody looks for any */
    struct slowlog *slowlog; /* likewise shared */
    unsigned thread;
    uint64_t with_user; /* bit i: operation i has a user */
    uint64_t slow_ns;   /* from here on a batch is slow */
};

/* Who asked. */
struct watch_client {
    const uv_tcp_t *tcp;
    const char *name; /* the connection's, "" if it has none */
};

/* How an address is shown: host:port, or "?" if it is of no family that is known here. */
#define WATCH_ADDRESS SLOWLOG_CLIENT
void watch_address(const struct sockaddr_storage *address, char out[WATCH_ADDRESS]);
void watch_peer(const uv_tcp_t *tcp, char out[WATCH_ADDRESS]);

void watch_init(struct watch *watch, struct hotkeys *hotkeys, struct slowlog *slowlog,
                unsigned thread, uint64_t slow_us);

/* Operations that ran together and took so long; of each, `op`, user, items and status count. */
void watch_ran(struct watch *watch, const struct hot_request *requests, uint32_t count,
               uint64_t took_ns, uint64_t now_ns);

static inline bool watch_is_slow(const struct watch *watch, uint64_t took_ns)
{
    return took_ns >= watch->slow_ns;
}

/* Into the slow log: one entry for all, with the words of the first. */
void watch_slow_requests(struct watch *watch, const struct hot_request *requests, uint32_t count,
                         const struct names *names, struct watch_client client, uint64_t took_ns,
                         uint64_t time_s);

/* The same for a command as it came, its name first. */
void watch_slow_words(struct watch *watch, const struct text *words, uint32_t count,
                      struct watch_client client, uint64_t took_ns, uint64_t time_s);

#endif

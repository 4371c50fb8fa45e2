/*
 * Live streams of one I/O thread: clients that are told when the counters of some items change. Nothing
 * is done for them on the way of a like. A timer, which runs while there are streams, looks at the
 * items that are watched, each once for all who watch it, and tells the streams whose items differ from
 * what they were told last. So a stream never gets more than a few events a second, whatever happens,
 * and the last one it gets is true.
 *
 * Looking and telling have a share of the thread's time (pace.h) and take turns; where that is too
 * little for all streams, each gets fewer events. An event says what is the case, not what happened,
 * so one that was left out is not missed. Like a reply it leaves once the journal has released the
 * position it depends on.
 *
 * What is not in memory is read by a worker, some items at a time. A client that does not take what it
 * was sent is told nothing more until it does.
 *
 * All of it belongs to the loop's thread. A stream belongs to its connection, and ends with it.
 */
#ifndef LAUD_LIVE_LIVE_H
#define LAUD_LIVE_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/status.h"
#include "base/text.h"

struct conn;
struct live_stream;
struct metrics_sources;
struct server;
struct streams_ops;

/* For server_parts: how a loop makes, ends and frees its live streams. */
extern const struct streams_ops live_streams;

/* Adds the metrics of the live streams of this server, before it starts. It must outlive the list. */
void live_metrics_add(struct server *server, struct metrics_sources *sources);

struct live_ask {
    const struct text *items; /* as they were asked for; known to be good */
    uint32_t count;
    bool chunked; /* the body goes in chunks */
    bool resumes; /* the client has what the digest `last` is of */
    uint64_t last;
};

/*
 * Makes the connection a stream and appends the beginning of the body to `out`, for a reply. OK, or
 * STOPPING, TOO_MANY_STREAMS, NO_MEMORY: nothing was changed.
 */
enum status live_open(struct conn *conn, const struct live_ask *ask, struct buffer *out,
                      struct live_stream **stream);
void live_close(struct live_stream *stream); /* the connection is closed */

#endif

/*
 * Live streams of one I/O thread: clients that get an event when the counters of certain items change, or
 * the comments of one subject.
 * A like does no work for them. While there are streams, a timer reads the watched items, each item
 * once for all streams that watch it, and sends an event to each stream whose last event had other
 * values. So a stream gets at most a few events a second, and its last event has the current values.
 *
 * Reading and sending get a share of the thread's time (pace.h) and alternate. If the share is too
 * small for all streams, each stream gets fewer events. An event has the current values, not a single
 * change, so a client misses nothing if some events are skipped. Like a reply, an event is sent once
 * the hot tier has released the point that it depends on.
 *
 * A worker loads items that are not in memory, some at a time. A client that does not read what it was
 * sent gets nothing more until it does.
 *
 * A stream of comments gets an event for each comment of one subject that was posted, changed or removed
 * (news.h). It is read and sent in the same way, at the same pace and within the same limits.
 *
 * Everything here belongs to the loop's thread. A stream belongs to its connection and ends with it.
 */
#ifndef LAUD_LIVE_LIVE_H
#define LAUD_LIVE_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/status.h"
#include "base/text.h"
#include "live/news.h"

struct conn;
struct live_stream;
struct metrics_sources;
struct server;
struct streams_ops;

/* For server_parts: the functions with which a loop makes, ends and frees its live streams. */
extern const struct streams_ops live_streams;

/* Adds the metrics of the live streams of this server, before it starts. It must outlive the list. */
void live_metrics_add(struct server *server, struct metrics_sources *sources);

struct live_ask {
    const struct text
        *items; /* their words in the request; they were decoded before, so they are valid */
    uint32_t count;
    live_card_fn *write_card; /* the comments of the one item are watched; NULL: counters are */
    bool chunked;             /* the body is sent in chunks */
    bool resumes;             /* the client already has the event with the digest `last` */
    uint64_t last;
};

/*
 * Makes the connection a stream and appends the beginning of the body to `out`. OK; STOPPING,
 * TOO_MANY_STREAMS, NO_MEMORY: nothing was changed, except that bytes may have been appended to `out`.
 */
enum status live_open(struct conn *conn, const struct live_ask *ask, struct buffer *out,
                      struct live_stream **stream);

/* Frees the stream of a connection that is closed. */
void live_close(struct live_stream *stream);

#endif

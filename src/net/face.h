/*
 * A face: the implementation of one protocol, RESP or HTTP. The listening socket that accepted a
 * connection decides which face it has. A face parses the bytes of requests and writes the bytes of
 * replies; buffers, releases, workers and time-outs are the same for all faces (conn.h).
 *
 * All of it runs on the connection's loop, except `write`.
 */
#ifndef LAUD_NET_FACE_H
#define LAUD_NET_FACE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/names.h"
#include "base/status.h"
#include "hot/hot.h"

struct commands;
struct conn;
struct job;

enum face_error {
    FACE_LAST = 1, /* the connection is closed after this reply */
    FACE_BARE = 2, /* one of the replies that it replaces has no body */
};

struct face {
    const char *name;
    bool ends_when_failed; /* close the connection if the event of a reply could not be recorded */
    bool shared;           /* a proxy may send the requests of many clients over one connection */

    /* Adds the commands that only this face has, besides the operations. NULL: it has none. */
    void (*add_commands)(struct commands *commands);

    /* `open` makes what the face keeps for a connection (conn->exchange), `close` frees it.
     * False: there is no memory. */
    bool (*open)(struct conn *conn);
    void (*close)(struct conn *conn);
    void (*shrink)(struct conn *conn); /* frees what an idle connection does not need */

    /*
     * Runs the requests in `bytes` and appends their replies to conn->out. *used is set to the number
     * of bytes that were consumed.
     * MORE: all complete requests were run. OK: it stopped earlier, because too many replies are unsent,
     * because requests were submitted (conn->job), or because the connection is to be closed. BLOCKED:
     * a request waits for admission or for a name; run again when the loop is woken. BAD_PROTOCOL: the
     * error is answered; close the connection when it is sent. NO_MEMORY: close the connection.
     */
    enum status (*run)(struct conn *conn, const char *bytes, size_t length, size_t *used);

    /*
     * Appends one whole reply with this error to `out`. It replaces a reply of the connection, or comes
     * first on a new one. `flags` are of enum face_error. False: no memory, as for all functions here
     * that write.
     */
    bool (*write_error)(const struct conn *conn, struct buffer *out, enum status status,
                        const char *sentence, unsigned flags);

    /*
     * Writes the reply to request `index` of the job into job->out. It runs where the answers are,
     * usually on a worker thread. If the answer cannot be written, the status of the request becomes the
     * reason.
     */
    bool (*write)(struct job *job, uint32_t index, const struct hot_scratch *scratch,
                  const struct names *names);

    /* Appends to the connection what `write` has written. It runs on the loop. */
    bool (*take_back)(struct conn *conn, const struct job *job);
};

#endif

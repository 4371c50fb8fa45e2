/*
 * A face: one of the ways the server is spoken to. What a connection does with bytes, and how an
 * outcome looks on the wire, is its face's; buffers, journal, workers and time-outs are the same for
 * all (conn.c). The listening socket decides.
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
    FACE_LAST = 1, /* the connection closes behind it */
    FACE_BARE = 2, /* among what it stands for is a reply without a body */
};

struct face {
    const char *name;
    bool ends_when_failed; /* the connection does, where a reply promised what did not come true */
    bool shared;           /* requests of many clients may come over one, through a proxy */

    void (*add_commands)(struct commands *commands); /* its own, besides operations; NULL: none */

    /* Makes and frees what the face keeps for a connection (conn->exchange). False: no memory. */
    bool (*open)(struct conn *conn);
    void (*close)(struct conn *conn);
    void (*shrink)(struct conn *conn); /* the connection is quiet: give memory back */

    /*
     * Runs the requests in bytes and appends their replies to conn->out. *used is how many bytes
     * were taken. MORE: all whole requests were run. OK: it stopped before that, because replies
     * pile up, a worker has some of what was taken (conn->job), or the connection is to be closed.
     * BLOCKED: no writes for the moment, or a name is waited for; try again when the loop is woken. BAD_PROTOCOL: answered,
     * close the connection when sent. NO_MEMORY: close it.
     */
    enum status (*run)(struct conn *conn, const char *bytes, size_t length, size_t *used);

    /*
     * One whole reply that says what is wrong, in place of the last of this connection (NULL: there
     * is none yet). False: no memory, as in all that write.
     */
    bool (*write_error)(const struct conn *conn, struct buffer *out, enum status status,
                        const char *sentence, unsigned flags);

    /*
     * Where the answers are, so mostly by a worker: writes the reply to request `index` of the job into
     * job->out. If the answer cannot be written, the status of the request becomes the reason.
     */
    bool (*write)(struct job *job, uint32_t index, const struct hot_scratch *scratch,
                  const struct names *names);

    /* Takes what `write` has written, on the loop. */
    bool (*take_back)(struct conn *conn, const struct job *job);
};

#endif

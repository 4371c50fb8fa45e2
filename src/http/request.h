/*
 * Reading an HTTP/1.1 request: its head, checked (head.h) and then parsed by http-parser, and its
 * body, of a stated length or in chunks. As with RESP, an unfinished request stays with the caller,
 * and the reader keeps only how far it got; the parts of a head are kept as places in it, because
 * the bytes may move between two calls.
 */
#ifndef LAUD_HTTP_REQUEST_H
#define LAUD_HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/status.h"
#include "base/text.h"
#include "http/accept.h"
#include "http/chunk.h"
#include "http/head.h"

enum verb {
    VERB_OTHER, /* any that no path takes */
    VERB_GET,
    VERB_HEAD,
    VERB_PUT,
    VERB_POST,
    VERB_DELETE,
    VERB_OPTIONS,
};

/* A part of the head. */
struct span {
    uint32_t at, length;
};

#define REQUEST_FORWARDED 4 /* fields of X-Forwarded-For, the last ones */

struct request_limits {
    size_t head_max, body_max;
};

struct request {
    enum verb method;
    bool old;        /* HTTP/1.0 */
    bool keep_alive; /* the client is ready for more on this connection */
    bool chunked;
    bool json;      /* the body says it is */
    bool encoded;   /* Content-Encoding: gzip, or the like */
    bool preflight; /* a browser asks what it may do */
    bool expects;   /* the client waits for 100 Continue before it sends the body */
    struct accept accept;
    struct span target;
    struct span host;
    struct span type;     /* of the body; empty: none was given, as with all that follow */
    struct span encoding; /* of the body */
    struct span origin;
    struct span device;
    struct span authorization;
    struct span last_event; /* the id of the last event a client has of a stream */
    struct span forwarded[REQUEST_FORWARDED];
    uint32_t forwarded_count;
    uint64_t body_length;
};

/* All zero at the start of each request, but for `body`. */
struct request_reader {
    struct head_scan scan;
    bool parsed; /* the head was whole, and `request` says what it is */
    struct chunk_scan chunks;
    struct request request;
    struct buffer body; /* of chunks, put together */
};

/*
 * Reads one request from the start of bytes. OK: it is whole, *body is what it brought, and *used
 * the bytes it took; then request_reset is due. MORE: call again with the same bytes and some more.
 * Any other: *problem says why; nothing can be read from this connection any more.
 */
enum status request_read(struct request_reader *reader, const struct request_limits *limits,
                         const char *bytes, size_t length, struct text *body, size_t *used,
                         const char **problem);

void request_reset(struct request_reader *reader); /* for the next; buffers are kept */

static inline struct text request_text(const char *bytes, struct span span)
{
    return (struct text){bytes + span.at, span.length};
}

#endif

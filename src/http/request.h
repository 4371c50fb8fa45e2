/*
 * Reads an HTTP/1.1 request: its head, which is checked (head.h) and then parsed by http-parser, and
 * its body, which has a stated length or consists of chunks. As with RESP, the caller keeps the bytes
 * of an unfinished request, and the reader only remembers how far it got. The fields of a head are
 * kept as offsets, because the caller may copy the bytes elsewhere between two calls.
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
    VERB_OTHER, /* any method that no path accepts */
    VERB_GET,
    VERB_HEAD,
    VERB_PUT,
    VERB_POST,
    VERB_DELETE,
    VERB_OPTIONS,
};

/* A range of bytes of the head. */
struct span {
    uint32_t at, length;
};

#define REQUEST_FORWARDED 4 /* how many header fields X-Forwarded-For are kept: the last ones */

struct request_limits {
    size_t head_max, body_max;
};

struct request {
    enum verb method;
    bool old;        /* HTTP/1.0 */
    bool keep_alive; /* the client may send more requests on this connection */
    bool chunked;
    bool json;      /* the type of the body is JSON */
    bool encoded;   /* the body has a Content-Encoding, such as gzip */
    bool preflight; /* it is a CORS preflight request */
    bool expects;   /* the client waits for "100 Continue" before it sends the body */
    struct accept accept;
    struct span target;
    struct span host;
    struct span type;     /* Content-Type; like all that follow, it is empty if it was not sent */
    struct span encoding; /* Content-Encoding */
    struct span origin;
    struct span device;
    struct span authorization;
    struct span last_event;      /* Last-Event-ID: the last event of a stream that the client has */
    struct span accept_encoding; /* which forms of compression the client takes */
    struct span none_match;      /* If-None-Match: the versions of a file that the client has */
    struct span forwarded[REQUEST_FORWARDED];
    uint32_t forwarded_count;
    uint64_t body_length;
};

/* All zero at the start of each request, except `body`. */
struct request_reader {
    struct head_scan scan;
    bool parsed; /* the head is complete, and `request` describes it */
    struct chunk_scan chunks;
    struct request request;
    struct buffer body; /* the data of a chunked body */
};

/*
 * Reads one request at the start of `bytes`. OK: it is complete, *body is its body, and *used is its
 * length in bytes; then request_reset must be called. MORE: call again with the same bytes and more.
 * Any other status: *problem says why, and no further request of this connection can be read.
 */
enum status request_read(struct request_reader *reader, const struct request_limits *limits,
                         const char *bytes, size_t length, struct text *body, size_t *used,
                         const char **problem);

/* Prepares for the next request. Buffers are kept. */
void request_reset(struct request_reader *reader);

static inline struct text request_text(const char *bytes, struct span span)
{
    return (struct text){bytes + span.at, span.length};
}

#endif

/* Writes a response: its head and its body. */
#ifndef LAUD_HTTP_RESPOND_H
#define LAUD_HTTP_RESPOND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

#define RESPOND_JSON   "application/json"
#define RESPOND_HTML   "text/html; charset=utf-8"
#define RESPOND_EVENTS "text/event-stream"

struct response {
    int code;
    const char *type; /* the type of the body; NULL: there is no body */
    unsigned allow;   /* methods for the header Allow, as bits 1 << enum verb; 0: no such header */
    uint64_t retry_s; /* for Retry-After; 0: no such header, except with 503 if it is not lasting */
    bool lasting;     /* a retry is useless until an operator has repaired something */
    const char *fields; /* further header fields as whole lines; NULL: none */
    bool negotiated;    /* the answer depends on Accept */
    const char *etag;   /* the version of a file, which caches may keep and ask for; NULL: none */
    bool gzip;          /* the body is compressed */
    const char *origin; /* the web origin that may read the answer; NULL: none */
    bool preflight;     /* also send which methods and fields a page of that origin may use */
    bool stream;        /* the length of the body is not fixed */
    bool bare;          /* the headers describe the body, but it is not sent (HEAD) */
    bool last;          /* the connection is closed after this response */
    bool old;           /* the client speaks HTTP/1.0 */
};

/* Appends the response. False: there is no memory. */
bool respond_write(struct buffer *out, const struct response *response, const char *body,
                   size_t length);

#endif

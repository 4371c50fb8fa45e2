/* The head of a response, and the body behind it. */
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
    const char *type;   /* of the body; NULL: there is none */
    unsigned allow;     /* methods to tell, as bits 1 << enum verb; 0: none */
    uint64_t retry_s;   /* when to come again; 0: not told, but for 503 that is not lasting */
    bool lasting;       /* coming again is of no use before somebody has done something */
    const char *fields; /* further ones of the head, whole lines; NULL: none */
    bool negotiated;    /* what is answered depends on Accept */
    const char *origin; /* web origin that may read it; NULL: none is told */
    bool preflight;     /* and what such a page may do */
    bool stream;        /* the body has no end that is known */
    bool bare;          /* the body is described, and not sent */
    bool last;          /* the connection closes behind it */
    bool old;           /* to a client of HTTP/1.0 */
};

/* False: no memory. */
bool respond_write(struct buffer *out, const struct response *response, const char *body,
                   size_t length);

#endif

/*
 * What the HTTP face keeps for a connection: the request that is being read, or the request that is being
 * answered, with its answer so far. A request is first read completely. Everything that is needed of it is
 * copied here, so its bytes need not be kept. The next request is read after this one is answered. While a
 * worker has requests of the exchange, the loop does not change it, so the worker may read it.
 *
 * It belongs to the connection's thread, which alone may call these functions.
 */
#ifndef LAUD_HTTP_EXCHANGE_H
#define LAUD_HTTP_EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/limits.h"
#include "base/status.h"
#include "http/json_in.h"
#include "http/request.h"
#include "http/route.h"
#include "http/target.h"
#include "live/live.h"
#include "net/loop.h"

/* What belongs to one request of the current batch. */
struct slot {
    uint32_t items; /* index of its first item in `words` */
    uint8_t name;   /* which counter is shown, if the server added this request after a change */
};

struct exchange {
    const struct server *server;
    struct request_reader reader;
    bool continued; /* "100 Continue" was sent */
    bool answering; /* a request is being answered; false: one is being read */

    /* The request being answered. */
    enum verb method;
    bool old;           /* the client speaks HTTP/1.0 */
    bool keep_alive;    /* the connection may stay open after the answer */
    bool preflight;     /* it is a CORS preflight request */
    struct buffer text; /* the bytes that `target` points into */
    struct target target;
    struct json_in json;
    struct buffer
        raw; /* the text of the one member that may be any JSON value, if the route has it */
    const struct route *route; /* NULL: it is a batch of operations, or no operation at all */
    const struct page *page;   /* the page to be written; NULL: it is not a request for a page */
    uint32_t count;            /* how many operations it has */
    uint32_t next;             /* the index of the first operation that was not run yet */

    /* Its operations that are in the loop's batch. */
    size_t room;         /* how many bytes all results of a batch may have together */
    struct buffer words; /* an array of struct text */
    struct slot slots[LIMIT_BATCH];
    char number[24]; /* the text of a word that was a JSON number */

    /* The answer. */
    enum status status; /* OK, or the reason of an error */
    char sentence[256];
    int code;            /* the HTTP status code, if `status` is OK */
    const char *type;    /* the type of the body; NULL: there is no body */
    const char *fields;  /* further header fields; NULL: none */
    bool negotiated;     /* the answer depends on Accept */
    const char *etag;    /* the version of the file that is answered; NULL: it is no file */
    bool gzip;           /* the body is compressed */
    unsigned allow;      /* methods for the header Allow, one bit each; 0: no such header */
    uint64_t retry_s;    /* for the header Retry-After; 0: no such header */
    bool origin_allowed; /* the web page that sent the request is in --cors-origin */
    char origin[256];
    struct buffer reply;

    /* A live stream, which is the last request of a connection. */
    bool resumes; /* the client has sent the id of its last event, `last` */
    uint64_t last;
    struct live_stream *stream; /* NULL: there is none */
};

/*
 * Begins to answer the request that `reader` has read from these bytes, and decides what it asks for. Then
 * there are operations to run, a page to write, or `status` says how it is answered. False: no memory.
 */
bool exchange_begin(struct exchange *exchange, struct loop *loop, const char *bytes,
                    struct text body);

/* Decides whether the web page that sent the request may read the answer. The head must be parsed. */
void exchange_take_origin(struct exchange *exchange, const struct loop *loop, const char *bytes);

/* Makes this error the answer, whatever the answer was before. */
void exchange_refuse(struct exchange *exchange, enum status status, const char *sentence);

/* Writes the complete response. Then the exchange is ready for the next request. False: no memory. */
bool exchange_finish(struct exchange *exchange, struct buffer *out, struct memory_budget *budget,
                     bool last);

/* Frees buffers while no request is being read or answered. */
void exchange_shrink(struct exchange *exchange);
void exchange_free(struct exchange *exchange, struct memory_budget *budget);

#endif

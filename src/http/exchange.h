/*
 * What the HTTP face keeps for a connection: the request being read, or the one being answered with
 * the answer so far. A request is read whole, and all that is needed of it is then held here, so its
 * bytes can go; the next is read when this one is answered. While a worker has requests of it, the
 * loop leaves it alone, and the worker may look at it.
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

/* What a request of the batch at hand is for. */
struct slot {
    uint32_t items; /* place of its first item among the words */
    uint8_t name;   /* of the counter to be shown, if it is our own behind a change */
};

struct exchange {
    const struct server *server;
    struct request_reader reader;
    bool continued; /* the client was told to send its body */
    bool answering;

    /* The request being answered. */
    enum verb method;
    bool old, keep_alive, preflight;
    struct buffer text; /* of its target */
    struct target target;
    struct json_in json;
    const struct route *route; /* NULL: a batch of operations, or none at all */
    const struct page *page;   /* to be written; NULL: none is asked for */
    uint32_t count, next;      /* operations there are, and the first that was not yet run */

    /* Operations of it in the loop's batch. */
    size_t room;         /* bytes that the results of a batch may be, all together */
    struct buffer words; /* of struct text */
    struct slot slots[LIMIT_BATCH];
    char number[24]; /* a word that came as one */

    /* The answer. */
    enum status status; /* not OK: an error, and why */
    char sentence[256];
    int code;           /* of HTTP, if the status is OK */
    const char *type;   /* of the body; NULL: there is none */
    const char *fields; /* further ones of the head; NULL: none */
    bool negotiated;    /* what is answered depends on Accept */
    unsigned allow;     /* methods to tell, as bits; 0: none */
    uint64_t retry_s;   /* when to come again; 0: not told */
    bool origin_known;  /* the web page that asks is one of --cors-origin's */
    char origin[256];
    struct buffer reply;

    /* A stream, which is the last thing asked for on a connection. */
    bool resumes; /* the client says what it has: */
    uint64_t last;
    struct live_stream *stream; /* NULL: it is none */
};

/*
 * Takes the request that `reader` has read, of these bytes, and finds out what it asks for. Then
 * there are operations to be run, a page to be written, or the answer is known. False: no memory.
 */
bool exchange_begin(struct exchange *exchange, struct loop *loop, const char *bytes,
                    struct text body);

/* Looks whether the web page that asks may see the answer, once the head is read. */
void exchange_take_origin(struct exchange *exchange, const struct loop *loop, const char *bytes);

/* What is to be answered instead of all else. */
void exchange_refuse(struct exchange *exchange, enum status status, const char *sentence);

/* Writes the whole response; the exchange is then ready for the next request. False: no memory. */
bool exchange_finish(struct exchange *exchange, struct buffer *out, struct memory_budget *budget,
                     bool last);

void exchange_shrink(struct exchange *exchange); /* gives buffers back, while nothing is going on */
void exchange_free(struct exchange *exchange, struct memory_budget *budget);

#endif

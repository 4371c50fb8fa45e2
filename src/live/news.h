/*
 * The changes of the comments on one subject, as an I/O thread has read them and sends them to its
 * streams. One read is shared by all streams of the thread that watch the subject. What was read says
 * which comments changed, at which points (struct hot_news), and how they look now; so a stream whose
 * client has everything up to some point gets the comments that changed after that point.
 *
 * A client names the point up to which it has everything by the id of its last event. An id is a point,
 * combined with a number that differs from subject to subject and from start to start. So an id from
 * before a restart, or of another subject, is almost certainly later than any point, and is refused
 * (the event `reset`).
 *
 * A stream that could not be sent a read in time, because its client reads slowly or has just come back,
 * needs a read of its own. Such reads alternate with those for everybody, so no client can delay the
 * others for long.
 *
 * news_collect may be called by any thread. Everything else belongs to the thread of the streams.
 */
#ifndef LAUD_LIVE_NEWS_H
#define LAUD_LIVE_NEWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/names.h"
#include "hot/comments.h"

/* Writes a card as JSON. The faces have such a function; any thread may call it. False: no memory. */
typedef bool live_card_fn(struct buffer *out, const struct hot_card *card,
                          const struct hot_scratch *scratch, const struct names *names);

#define NEWS_NONE UINT64_MAX

/* The beginning of what was read; `count` comments follow it. */
struct news_head {
    enum status status;
    uint32_t count;
    struct hot_news points;
};

struct news {
    struct buffer read;    /* what was read last */
    struct news_head head; /* of it */
    uint64_t after;        /* it has the changes after this point */
    uint64_t newest;       /* what was ever read ends here */
    uint64_t asked;        /* the read that was asked for last begins after this point */
    uint64_t missing;      /* a stream needs the changes after this point; NEWS_NONE: none does */
    uint64_t mask;         /* of ids */
    uint64_t seen;         /* so many streams had been opened when it was asked for */
    bool loaded;           /* there was a read */
    bool extra;            /* the last read was for `missing` */
    bool closed;           /* nobody may read the comments of the subject any more */
};

void news_init(struct news *news, struct memory_budget *budget, uint64_t mask);
void news_free(struct news *news);

/* Chooses after which point to read next. */
uint64_t news_choose(struct news *news);

/* Appends the answer to a COMMENT_NEWS, whatever its status, to `out`. False: no memory. */
bool news_collect(struct buffer *out, const struct hot_request *request,
                  const struct hot_scratch *scratch, const struct names *names,
                  live_card_fn *write_card);

/*
 * Takes what was collected, in place of what was read before, and returns how many bytes it has. `seen`
 * is the number of streams that had been opened when it was asked for. *fresh: streams may need an event.
 */
size_t news_take(struct news *news, const char *bytes, size_t length, uint64_t seen, bool *fresh);

/* The read that was asked for last did not succeed. */
void news_fail(struct news *news);

/* What a stream needs whose client has everything up to the point `sent`. */
enum news_need {
    NEWS_NOTHING,
    NEWS_BEGIN,  /* the first event, which only has an id */
    NEWS_EVENTS, /* the changes after `sent` that were read */
    NEWS_SKIP,   /* nothing that it does not have, up to the end of what was read */
    NEWS_RESET,  /* its client has to begin again */
    NEWS_READ,   /* a read of its own */
    NEWS_END,    /* the stream ends */
};

/* `begun`: `sent` is set. `number` is the number of the stream, in the order of opening. */
enum news_need news_need(const struct news *news, bool begun, uint64_t sent, uint64_t number);

/* A stream needs the changes after this point. */
void news_want(struct news *news, uint64_t sent);

/*
 * Writes what the stream needs, one of BEGIN, EVENTS, RESET and END. Returns false if there is no memory;
 * then `out` is unchanged. *sent: in and out.
 */
bool news_write(struct buffer *out, const struct news *news, enum news_need need, uint64_t *sent,
                bool chunked);

#endif

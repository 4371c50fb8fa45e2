/*
 * A random sample of bounded size of a stream of unknown length, and two of them that take turns as
 * time passes: the half-window that runs, and the one before. All is taken until there is no more
 * room; then half of it goes, each by a toss, and from there on one in two is taken, then one in
 * four, and so on. How many to pass over is drawn beforehand, between none and twice the mean, so
 * that what is not taken costs a comparison, and no rhythm of the stream can meet ours.
 *
 * Not locked: see hotkeys.c.
 */
#ifndef LAUD_METRICS_SAMPLE_H
#define LAUD_METRICS_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"

struct sample {
    struct item *kept; /* the owner's, room for `size` */
    uint32_t count;
    uint64_t offered; /* of which those kept are a sample */
};

struct sample_stream {
    struct sample halves[2];
    uint32_t current; /* which of them runs */
    uint32_t size;
    uint64_t began_ns; /* the current one */
    uint64_t half_ns;  /* length of one */
    uint64_t next;     /* what the current one takes next, counted as offered */
    uint32_t thinned;  /* how often it was; one in 2^thinned is taken */
    uint64_t random;
};

void sample_init(struct sample_stream *stream, struct item *room, uint32_t size, uint64_t half_ns,
                 uint64_t seed, uint64_t now_ns);

/* Is the current half over? Then sample_turn is due before anything else. */
static inline bool sample_is_over(const struct sample_stream *stream, uint64_t now_ns)
{
    return now_ns >= stream->began_ns + stream->half_ns;
}

void sample_turn(struct sample_stream *stream, uint64_t now_ns);

/* Would it take any of the next `count`? If not, they are passed over. */
static inline bool sample_wants(const struct sample_stream *stream, uint64_t count)
{
    return stream->next < stream->halves[stream->current].offered + count;
}

static inline void sample_pass(struct sample_stream *stream, uint64_t count)
{
    stream->halves[stream->current].offered += count;
}

/* How many it will pass over now. */
static inline uint64_t sample_left(const struct sample_stream *stream)
{
    return stream->next - stream->halves[stream->current].offered;
}

/* Offers one; sample_wants said yes to it, with a count of 1. */
void sample_take(struct sample_stream *stream, struct item item);

/*
 * What one kept item of a half (0 the current, 1 the one before) stands for at this time, if `more`
 * have come that were not offered yet.
 */
double sample_weight(const struct sample_stream *stream, unsigned half, uint64_t more,
                     uint64_t now_ns);

static inline const struct sample *sample_half(const struct sample_stream *stream, unsigned half)
{
    return &stream->halves[stream->current ^ half];
}

#endif

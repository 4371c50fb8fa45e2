/*
 * A random sample of bounded size from a stream of unknown length; and a pair of such samples, one for
 * the current half-window and one for the half-window before.
 *
 * At first everything is kept. When the sample is full, each entry is dropped with a chance of one
 * half, and from then on one in two is taken, later one in four, and so on. How many entries to skip
 * is drawn in advance, between none and twice the mean. So an entry that is not taken costs only a
 * comparison, and no regular pattern in the stream can coincide with a pattern of the sampling.
 *
 * It has no lock of its own; hotkeys.c says which thread may use it when.
 */
#ifndef LAUD_METRICS_SAMPLE_H
#define LAUD_METRICS_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"

struct sample {
    struct item *kept; /* room for `size` items; the caller of sample_init owns it */
    uint32_t count;
    uint64_t offered; /* how many were offered; `kept` is a sample of them */
};

struct sample_stream {
    struct sample halves[2];
    uint32_t current; /* which of the halves is the current one */
    uint32_t size;
    uint64_t began_ns; /* when the current half began */
    uint64_t half_ns;  /* the length of a half */
    uint64_t next;     /* the value of `offered` at which the current half takes the next entry */
    uint32_t thinned;  /* how often the current half was thinned; one in 2^thinned is taken */
    uint64_t random;
};

/* `room` is for 2 × size items: both halves. */
void sample_init(struct sample_stream *stream, struct item *room, uint32_t size, uint64_t half_ns,
                 uint64_t seed, uint64_t now_ns);

/* Is the current half over? If so, sample_turn must be called before anything else. */
static inline bool sample_is_over(const struct sample_stream *stream, uint64_t now_ns)
{
    return now_ns >= stream->began_ns + stream->half_ns;
}

/* Begins a new half. The current half becomes the one before. */
void sample_turn(struct sample_stream *stream, uint64_t now_ns);

/* Would one of the next `count` be taken? If not, sample_pass can skip all of them. */
static inline bool sample_wants(const struct sample_stream *stream, uint64_t count)
{
    return stream->next < stream->halves[stream->current].offered + count;
}

/* Counts `count` entries that are not taken. */
static inline void sample_pass(struct sample_stream *stream, uint64_t count)
{
    stream->halves[stream->current].offered += count;
}

/* How many entries will be skipped before the next is taken. */
static inline uint64_t sample_left(const struct sample_stream *stream)
{
    return stream->next - stream->halves[stream->current].offered;
}

/* Takes one entry, for which sample_wants(stream, 1) is true. */
void sample_take(struct sample_stream *stream, struct item item);

/*
 * How many uses one kept item of a half stands for at this time; half 0 is the current one, half 1 the
 * one before. `more` is the number of uses that were not passed to sample_pass yet.
 */
double sample_weight(const struct sample_stream *stream, unsigned half, uint64_t more,
                     uint64_t now_ns);

static inline const struct sample *sample_half(const struct sample_stream *stream, unsigned half)
{
    return &stream->halves[stream->current ^ half];
}

#endif

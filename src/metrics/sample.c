#include "metrics/sample.h"

#include "base/assert.h"
#include "base/hash.h"

#define THINNED_MOST 40 /* by then a half has had 10^15 uses */

void sample_init(struct sample_stream *stream, struct item *room, uint32_t size, uint64_t half_ns,
                 uint64_t seed, uint64_t now_ns)
{
    ASSERT(size > 0 && half_ns > 0);
    *stream = (struct sample_stream){
        .size = size, .half_ns = half_ns, .began_ns = now_ns, .random = seed};
    stream->halves[0].kept = room;
    stream->halves[1].kept = room + size;
}

static void empty(struct sample *sample)
{
    sample->count = 0;
    sample->offered = 0;
}

/* A half begins when the one before ends, unless nothing was offered for a whole half. */
void sample_turn(struct sample_stream *stream, uint64_t now_ns)
{
    bool idle = now_ns >= stream->began_ns + 2 * stream->half_ns;
    stream->current ^= 1;
    stream->began_ns = idle ? now_ns : stream->began_ns + stream->half_ns;
    empty(&stream->halves[stream->current]);
    if (idle)
        empty(&stream->halves[stream->current ^ 1]);
    stream->next = 0;
    stream->thinned = 0;
}

static uint64_t draw(struct sample_stream *stream)
{
    stream->random += 0x9e3779b97f4a7c15ULL;
    return hash_mix(stream->random, stream->size);
}

/* Drops each entry with a chance of one half. */
static void thin(struct sample_stream *stream, struct sample *sample)
{
    uint32_t kept = 0;
    uint64_t tosses = 0;
    for (uint32_t i = 0; i < sample->count; i++, tosses >>= 1) {
        if (i % 64 == 0)
            tosses = draw(stream);
        sample->kept[kept] = sample->kept[i];
        kept += tosses & 1;
    }
    sample->count = kept;
    stream->thinned++;
}

/* A random number from 0 to 2 × (2^thinned - 1); all have the same chance. */
static uint64_t draw_gap(struct sample_stream *stream)
{
    if (stream->thinned == 0)
        return 0;
    uint64_t choices = ((uint64_t)2 << stream->thinned) - 1;
    return draw(stream) % choices;
}

void sample_take(struct sample_stream *stream, struct item item)
{
    struct sample *sample = &stream->halves[stream->current];
    uint64_t at = sample->offered++;
    ASSERT(at == stream->next && sample->count < stream->size);
    sample->kept[sample->count++] = item;
    while (sample->count == stream->size && stream->thinned < THINNED_MOST)
        thin(stream, sample);
    if (sample->count == stream->size)
        sample->count--;
    stream->next = at + 1 + draw_gap(stream);
}

double sample_weight(const struct sample_stream *stream, unsigned half, uint64_t more,
                     uint64_t now_ns)
{
    const struct sample *sample = sample_half(stream, half);
    uint64_t age = now_ns > stream->began_ns ? now_ns - stream->began_ns : 0;
    age += half * stream->half_ns;
    if (sample->count == 0 || age >= 2 * stream->half_ns)
        return 0;
    double each = (double)(sample->offered + more) / sample->count;
    return age < stream->half_ns
               ? each
               : each * (double)(2 * stream->half_ns - age) / (double)stream->half_ns;
}

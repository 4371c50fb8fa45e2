#include "metrics/sample.h"

#include <math.h>

#include "base/assert.h"
#include "base/hash.h"

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

/* Halves follow one another without a gap, unless nothing came for a whole one. */
void sample_turn(struct sample_stream *stream, uint64_t now_ns)
{
    bool idle = now_ns >= stream->began_ns + 2 * stream->half_ns;
    stream->current ^= 1;
    stream->began_ns = idle ? now_ns : stream->began_ns + stream->half_ns;
    empty(&stream->halves[stream->current]);
    if (idle)
        empty(&stream->halves[stream->current ^ 1]);
    stream->next = 0;
}

static uint64_t draw(struct sample_stream *stream)
{
    stream->random += 0x9e3779b97f4a7c15ULL;
    return hash_mix(stream->random, stream->size);
}

/* Above 0, at most 1. */
static double draw_part(struct sample_stream *stream)
{
    return (double)((draw(stream) >> 11) + 1) / 9007199254740992.0;
}

static void draw_next(struct sample_stream *stream, uint64_t at)
{
    stream->threshold *= exp(log(draw_part(stream)) / stream->size);
    double skip = floor(log(draw_part(stream)) / log1p(-stream->threshold));
    stream->next = skip < 1e18 ? at + 1 + (uint64_t)skip : UINT64_MAX;
}

void sample_take(struct sample_stream *stream, struct item item)
{
    struct sample *sample = &stream->halves[stream->current];
    uint64_t at = sample->offered++;
    ASSERT(at == stream->next);
    if (sample->count < stream->size) {
        sample->kept[sample->count++] = item;
        stream->next = at + 1;
        stream->threshold = 1;
        if (sample->count < stream->size)
            return;
    } else {
        sample->kept[draw(stream) % stream->size] = item;
    }
    draw_next(stream, at);
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

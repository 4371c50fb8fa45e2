#include "time/spans.h"

#include <string.h>

#include "base/assert.h"

/* The index of the span of a recorded time. */
static uint32_t span_of(const struct spans *spans, uint32_t recorded_s)
{
    ASSERT(spans->count > 0 && spans->count <= SPANS_MAX);
    uint32_t at = spans->count - 1;
    while (at > 0 && spans->list[at].from_s > recorded_s)
        at--;
    ASSERT(spans->list[at].from_s <= recorded_s); /* the first span begins at 0 */
    return at;
}

uint32_t spans_shown(const struct spans *spans, uint32_t recorded_s)
{
    if (spans->count == 0)
        return recorded_s;
    uint32_t offset_s = spans->list[span_of(spans, recorded_s)].offset_s;
    return recorded_s > offset_s ? recorded_s - offset_s : 0;
}

uint32_t spans_past(const struct spans *spans, uint32_t recorded_s, uint32_t now_s)
{
    uint32_t shown_s = spans_shown(spans, recorded_s);
    if (shown_s <= now_s)
        return shown_s;
    for (uint32_t at = 1; at < spans->count; at++) {
        uint32_t from_s = spans->list[at].from_s;
        if (from_s > recorded_s && spans_shown(spans, from_s) <= now_s)
            return spans_shown(spans, from_s);
    }
    return now_s;
}

/*
 * A clock that was set forward makes a gap between two spans: times in the gap belong to the end of
 * the first span.
 */
uint32_t spans_recorded(const struct spans *spans, uint32_t shown_s)
{
    ASSERT(spans->count == 0 || spans->list[0].from_s == 0);
    uint64_t most_s = UINT32_MAX;
    for (uint32_t at = spans->count; at > 0; at--) {
        const struct time_span *span = &spans->list[at - 1];
        uint64_t recorded_s = (uint64_t)shown_s + span->offset_s;
        if (recorded_s >= span->from_s)
            return (uint32_t)(recorded_s < most_s ? recorded_s : most_s);
        most_s = span->from_s - 1;
    }
    return shown_s;
}

static void span_remove(struct spans *spans, uint32_t at)
{
    ASSERT(at > 0 && at < spans->count); /* the first span is never removed */
    struct time_span *span = spans->list + at;
    spans->count--;
    memmove(span, span + 1, (spans->count - at) * sizeof *span);
}

/* By how much shown times change if a span gets the offset of the span before it. */
static uint32_t span_difference(const struct spans *spans, uint32_t at)
{
    ASSERT(at > 0 && at < spans->count);
    uint32_t one = spans->list[at - 1].offset_s, other = spans->list[at].offset_s;
    return one > other ? one - other : other - one;
}

static void spans_make_room(struct spans *spans)
{
    ASSERT(spans->count == SPANS_MAX);
    uint32_t least = 1;
    for (uint32_t at = 2; at < spans->count; at++)
        if (span_difference(spans, at) < span_difference(spans, least))
            least = at;
    span_remove(spans, least);
}

void spans_add(struct spans *spans, uint32_t last_s, uint32_t offset_s)
{
    ASSERT(last_s < UINT32_MAX);
    if (spans->count == 0)
        spans->list[spans->count++] = (struct time_span){0};
    while (spans->count > 1 && spans->list[spans->count - 1].from_s > last_s)
        spans->count--;
    if (spans_offset(spans) == offset_s)
        return;
    if (spans->count == SPANS_MAX)
        spans_make_room(spans);
    spans->list[spans->count++] = (struct time_span){.from_s = last_s + 1, .offset_s = offset_s};
    ASSERT(spans->count > 1 && spans->count <= SPANS_MAX);
    /* Spans are in rising order of time. */
    ASSERT(spans->list[spans->count - 2].from_s <= last_s);
}

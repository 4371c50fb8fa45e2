/*
 * The reading port of a journal: a source of events in the order of the journal, each with its
 * position. It is all that the projector knows of a journal. A source has a position of its own, and
 * pulls runs of events from there on:
 *
 *     source_seek         go to a position between two events
 *     source_pull         a run of events from there on; never waits
 *     source_acknowledge  events before this position are not needed any more
 *     source_view         how far the journal has got
 *     source_wait / wake  wait until there is more to pull, or until another thread says otherwise
 *
 * The order and the positions of events are the same whatever the sizes of the runs, and the same
 * whenever they are pulled again. A position grows with every event.
 *
 * One thread uses a source. Any thread may call source_view, source_hurry and source_wake. The
 * events of a run belong to the source and are valid until the next pull, seek or close.
 *
 * journal/file implements the port; a Redis stream, Kafka or RabbitMQ can. tests/conform has the
 * suite that every source must pass.
 */
#ifndef LAUD_JOURNAL_SOURCE_H
#define LAUD_JOURNAL_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "journal/event.h"

struct source_run {
    const struct event *events;
    const uint64_t *ends; /* the position after each event */
    size_t count;
};

/* Positions, available <= written <= appended, as they were at one moment. */
struct source_view {
    uint64_t available; /* events before it can be pulled */
    uint64_t written;   /* events before it have left the memory of those who decide */
    uint64_t appended;  /* events before it have been decided */
    bool advancing;     /* what is appended will become available; false: not as things are */
};

struct source;

struct source_ops {
    const char *name;
    enum status (*seek)(struct source *source, uint64_t position, char *problem, size_t size);
    enum status (*pull)(struct source *source, size_t most, struct source_run *run, char *problem,
                        size_t size);
    uint64_t (*position)(struct source *source);
    enum status (*acknowledge)(struct source *source, uint64_t position);
    void (*view)(struct source *source, struct source_view *out);
    void (*hurry)(struct source *source);
    void (*wait)(struct source *source, uint64_t beyond, uint64_t until_ns);
    void (*wake)(struct source *source);
    void (*close)(struct source *source);
};

/* The head of every implementation's own struct. */
struct source {
    const struct source_ops *ops;
};

/*
 * The next pull begins at this position, which lies between two events; a new source is at 0. OK;
 * DAMAGED (also if the journal does not reach back so far, or if no event begins there); IO_FAILED.
 * `problem` gets a sentence.
 */
static inline enum status source_seek(struct source *source, uint64_t position, char *problem,
                                      size_t size)
{
    return source->ops->seek(source, position, problem, size);
}

/*
 * Pulls up to `most` events, which is not 0, and goes behind them. OK: at least one, or none if
 * nothing is available now. DAMAGED, IO_FAILED: none, and `problem` gets a sentence; the position
 * stays, and the next pull tries again.
 */
static inline enum status source_pull(struct source *source, size_t most, struct source_run *run,
                                      char *problem, size_t size)
{
    return source->ops->pull(source, most, run, problem, size);
}

/* The position after the last event that was pulled. */
static inline uint64_t source_position(struct source *source)
{
    return source->ops->position(source);
}

/*
 * Nobody needs the events before this position any more: the journal may remove them, now, later or
 * never. It never removes others. OK or IO_FAILED; then some of them are still there, which is
 * harmless.
 */
static inline enum status source_acknowledge(struct source *source, uint64_t position)
{
    return source->ops->acknowledge(source, position);
}

static inline void source_view(struct source *source, struct source_view *out)
{
    source->ops->view(source, out);
}

/* Asks that what has been appended become available soon; does not wait. */
static inline void source_hurry(struct source *source)
{
    source->ops->hurry(source);
}

/*
 * Waits until an event after the position `beyond` is available, until the monotonic clock says
 * `until_ns`, or until source_wake was called since the last wait. It may also return early: the
 * caller looks itself. UINT64_MAX: whatever becomes available; for ever.
 */
static inline void source_wait(struct source *source, uint64_t beyond, uint64_t until_ns)
{
    source->ops->wait(source, beyond, until_ns);
}

/* Ends a source_wait, or the next one if none is under way. */
static inline void source_wake(struct source *source)
{
    source->ops->wake(source);
}

/* No call may be under way. */
static inline void source_close(struct source *source)
{
    source->ops->close(source);
}

#endif

/*
 * The reading port of a journal: a source of events in the order of the journal, each with its
 * position. The projector uses nothing else of a journal. A source has a current position and pulls
 * runs of events from there on:
 *
 *     source_seek         sets the position, which must be between two events
 *     source_pull         returns a run of events from the position on; never waits
 *     source_acknowledge  events before this position are not needed any more
 *     source_view         how far the journal has advanced
 *     source_wait / wake  wait until there is more to pull, or until another thread ends the wait
 *
 * The order and the positions of events do not depend on the sizes of the runs, and are the same
 * whenever the events are pulled again. Each event has a higher position than the one before.
 *
 * Only one thread uses a source; but any thread may call source_view, source_hurry and source_wake.
 * The events of a run and their bodies belong to the source and are valid until the next pull, seek or
 * close. A run is bounded by events and by bytes of bodies, so a run of long events has fewer of them.
 *
 * journal/file implements the port; a Redis stream, Kafka or RabbitMQ could, too. tests/conform has
 * the suite that every source must pass.
 */
#ifndef LAUD_JOURNAL_SOURCE_H
#define LAUD_JOURNAL_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"
#include "base/status.h"
#include "journal/event.h"

struct source_run {
    const struct event *events;
    const uint64_t *ends; /* the position after each event */
    size_t count;
};

/* Positions of one moment, available <= written <= appended. */
struct source_view {
    uint64_t available; /* events before it can be pulled */
    uint64_t written;   /* events before it are written, not only in the memory of the journal */
    uint64_t appended;  /* events before it have been decided */
    /* True: everything appended will become available; false: at present it will not. */
    bool advancing;
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

/* The first member of the struct of every implementation. */
struct source {
    const struct source_ops *ops;
};

/*
 * The next pull begins at this position, which must be between two events. A new source is at 0.
 * OK; DAMAGED (also if the journal has no events from so early, or if no event begins there);
 * IO_FAILED. `problem` gets a sentence.
 */
static inline enum status source_seek(struct source *source, uint64_t position, char *problem,
                                      size_t size)
{
    return source->ops->seek(source, position, problem, size);
}

/*
 * Pulls up to `most` events (not 0) and advances the position past them. OK: the run has at least
 * one event, or none if none is available now. DAMAGED, IO_FAILED: the run is empty, `problem` has
 * a sentence, the position is unchanged, and the next pull tries again.
 */
static inline enum status source_pull(struct source *source, size_t most, struct source_run *run,
                                      char *problem, size_t size)
{
    ASSERT(most > 0);
    return source->ops->pull(source, most, run, problem, size);
}

/* The position after the last event that was pulled. */
static inline uint64_t source_position(struct source *source)
{
    return source->ops->position(source);
}

/*
 * The events before this position are not needed any more: the journal may remove them now, later
 * or never. It never removes other events. IO_FAILED: some of these events could not be removed,
 * which is harmless.
 */
static inline enum status source_acknowledge(struct source *source, uint64_t position)
{
    return source->ops->acknowledge(source, position);
}

static inline void source_view(struct source *source, struct source_view *out)
{
    source->ops->view(source, out);
}

/* Requests that everything appended become available soon. It does not wait. */
static inline void source_hurry(struct source *source)
{
    source->ops->hurry(source);
}

/*
 * Waits until an event after the position `beyond` is available, until the monotonic clock reaches
 * `until_ns`, or until source_wake was called after the last wait. It may also return early, so the
 * caller must check. `beyond` UINT64_MAX: does not wait for events. `until_ns` UINT64_MAX: has no
 * time limit.
 */
static inline void source_wait(struct source *source, uint64_t beyond, uint64_t until_ns)
{
    source->ops->wait(source, beyond, until_ns);
}

/* Ends the present source_wait, or the next one if none is running. */
static inline void source_wake(struct source *source)
{
    source->ops->wake(source);
}

/* Frees the source. No other call may be running. */
static inline void source_close(struct source *source)
{
    source->ops->close(source);
}

#endif

/*
 * One window after the other from a source of events: pulled, folded to its net effect, ready for the
 * store. The projector and the catching up at start are both made of these.
 *
 * Owned and used by one thread.
 */
#ifndef LAUD_PROJECT_WINDOW_H
#define LAUD_PROJECT_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/status.h"
#include "journal/source.h"
#include "project/fold.h"
#include "store/store.h"

struct window_options {
    struct source *source; /* outlives the window, and is used by nobody else meanwhile */
    struct memory_budget *budget;
    size_t events_max;
    uint32_t token_ttl_s;
    uint32_t changes_ttl_s; /* how long what was cleared is remembered */
    uint64_t seed;          /* see fold.h */
};

struct window {
    struct source *source;
    struct source_run run; /* what was pulled, */
    size_t taken;          /* and how many of it are in this window or in one before */
    uint64_t position;     /* after the last event taken */
    struct fold *fold;
    uint32_t token_ttl_s;
    uint32_t changes_ttl_s;
    uint32_t newest_s;            /* time of the newest event so far, in any window */
    uint32_t import_s;            /* and of the newest import */
    bool more;                    /* an event did not fit any more, or is of a later slice */
    uint32_t next_s;              /* its time */
    struct store_changes changes; /* valid from window_read to window_clear */
};

/* At a position between two events. OK, NO_MEMORY, DAMAGED or IO_FAILED, with a sentence. */
enum status window_open(struct window *window, const struct window_options *options,
                        uint64_t position, char *problem, size_t size);
void window_close(struct window *window); /* also one whose opening failed */

/*
 * Reads on to `limit`, or as far as events are available, or until the window is full. OK: the
 * changes are there. DAMAGED, IO_FAILED: there are none, and nothing more can be read.
 */
enum status window_read(struct window *window, uint64_t limit, char *problem, size_t size);
/* The time of the next event that is available; 0: there is none. */
uint32_t window_peek(struct window *window);
size_t window_events(const struct window *window);
void window_clear(struct window *window);

#endif

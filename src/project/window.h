/*
 * Reads windows from a source of events, one after the other: pulls the events of a window and
 * reduces them to their net effect, which is ready for the store. The projector and the catching up
 * at start both use it.
 *
 * One thread owns and uses it.
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
    struct source *source; /* must outlive the window; nobody else may use it */
    struct memory_budget *budget;
    size_t events_max;
    uint32_t token_ttl_s;
    uint32_t changes_ttl_s;           /* how long cleared reactions are remembered */
    uint64_t seed;                    /* see fold.h */
    struct comments_options comments; /* all zero: comments are not projected */
};

struct window {
    struct source *source;
    struct source_run run; /* the events that were pulled */
    size_t taken;          /* events of the run that are in this window or an earlier one */
    uint64_t position;     /* position after the last event taken */
    struct fold *fold;
    struct comments *comments; /* of the fold; NULL: they are not projected */
    uint32_t token_ttl_s;
    uint32_t changes_ttl_s;
    uint32_t newest_s;            /* time of the newest event of all windows */
    uint32_t import_s;            /* time of the newest import */
    bool more;                    /* an event did not fit, or belongs to a later slice */
    uint32_t next_s;              /* time of that event */
    struct store_changes changes; /* valid from window_read to window_clear */
};

/*
 * Opens it at a position between two events. OK, NO_MEMORY, DAMAGED or IO_FAILED, with a sentence.
 */
enum status window_open(struct window *window, const struct window_options *options,
                        uint64_t position, char *problem, size_t size);
void window_close(struct window *window); /* call it also after window_open has failed */

/*
 * Reads up to `limit`, or as far as events are available, or until the window is full. OK:
 * `changes` is valid. DAMAGED, IO_FAILED: there are no changes, and nothing more can be read.
 */
enum status window_read(struct window *window, uint64_t limit, char *problem, size_t size);
/* The time of the next event that is available; 0: there is none. */
uint32_t window_peek(struct window *window);
size_t window_events(const struct window *window);

/*
 * Makes the rows of comments and adds them to `changes`, which are then ready to be applied to the store of
 * the options' reader. May be called again if it has failed. OK; or as comments_make_rows, with a sentence.
 */
enum status window_make_rows(struct window *window, char *problem, size_t size);
void window_clear(struct window *window);

#endif

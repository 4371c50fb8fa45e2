/*
 * The projector: the thread that writes events from a source (journal/source.h) to the store. It
 * pulls events in windows by time and by size, folds each window to its net effect and applies that
 * with the position it reaches, in one step. After so many bytes of journal, and when it stops, it
 * makes a checkpoint: the store is flushed, the windowed boards and the filters are saved, and the
 * events that nobody needs any more are acknowledged.
 *
 * Killed at any point, it goes on from the store's position; what it applied already is not
 * applied again.
 */
#ifndef LAUD_PROJECT_PROJECTOR_H
#define LAUD_PROJECT_PROJECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/status.h"
#include "filter/filters.h"
#include "journal/source.h"
#include "project/state.h"
#include "store/store.h"
#include "time/timeline.h"
#include "trend/trends.h"

/* Called by the projector's thread after each window, and when its state changes. */
typedef void projector_moved_fn(void *context, uint64_t position);

/*
 * Called by the projector's thread in a checkpoint, when the store is flushed at this position and the
 * journal still has everything since the one before: whoever keeps a file beside the store saves it.
 */
typedef void projector_save_fn(void *context, uint64_t position);

/*
 * Called by the projector's thread if it fails for good, once: nothing more goes to the store until the
 * next start. `why` is one sentence, as in the stats.
 */
typedef void projector_failed_fn(void *context, const char *why);

/* All that is pointed to outlives the projector. */
struct projector_options {
    const char *filter_path;
    struct source *source; /* of the journal; only the projector uses it */
    struct store_applier *applier;
    struct store_admin *admin; /* for filters_move, and for what is wrong after a failure */
    struct filters *filters;   /* as of the store's position */
    const char *trend_path;
    struct trends *trends; /* as of the store's position; NULL: none are kept */
    bool trends_pass;      /* what is carried is of other times: no window has it */
    struct memory_budget *budget;
    uint64_t trend_position;   /* what the file at trend_path stands for; 0: there is none */
    uint64_t filter_position;  /* what the file at filter_path stands for; 0: there is none */
    uint64_t window_ms;        /* a window is at least so long, unless there is much to do */
    size_t window_events;      /* and at most so large */
    uint64_t checkpoint_bytes; /* of journal between checkpoints */
    uint32_t token_ttl_s;
    uint32_t changes_ttl_s;
    struct timeline *timeline; /* of recorded times; NULL: they are those of the clock */
    uint64_t seed;             /* any number that nobody can guess, see fold.h */
    bool keep_journal;         /* nothing is acknowledged, so all events stay */
    projector_moved_fn *moved;
    projector_save_fn *save;     /* may be NULL, as may `moved` */
    projector_failed_fn *failed; /* likewise */
    void *context;
};

struct projector_stats {
    enum projector_state state;
    const char *sentence; /* "ok", or why it makes no progress; valid as long as the projector */
    uint64_t position;    /* applied */
    uint64_t checkpoint;  /* flushed and saved */
    uint64_t lag_bytes;   /* of journal, from applied to written */
    uint64_t lag_events;  /* about */
    uint64_t lag_ms;      /* age of the oldest event not yet applied; 0: there is none */
    uint64_t windows;     /* since start */
    uint64_t events;      /* since start, taken from the journal */
    uint64_t changes;     /* rows they came to */
    uint64_t checkpoints; /* since start */
};

struct projector;

/* NULL: no memory, no thread, or the journal cannot be read from the store's position on; `problem`
 * says which. */
struct projector *projector_start(const struct projector_options *options, char *problem,
                                  size_t size);
/* Any thread. */
void projector_stats(struct projector *projector, struct projector_stats *out);
/*
 * Any thread: has the next window begin at once and waits until everything before the position is
 * applied. False: not within the time, or not at all as things are.
 */
bool projector_reach(struct projector *projector, uint64_t position, unsigned timeout_ms);
/*
 * Has what was appended brought to disk and applies it, for a few seconds, makes a checkpoint, ends
 * the thread; the journal is still open, and nobody appends to it any more.
 */
void projector_stop(struct projector *projector);

#endif

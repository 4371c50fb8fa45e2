/*
 * The projector: the thread that writes events from a source (journal/source.h) to the store. It
 * pulls events in windows, bounded by time and size, reduces each window to its net effect, and
 * applies this together with the new position in one step. After a certain number of journal bytes,
 * and when it stops, it makes a checkpoint: it flushes the store, saves the windowed boards and the
 * filters, and acknowledges the events that are not needed any more.
 *
 * If the process is killed at any point, the projector continues from the position of the store;
 * nothing is applied twice.
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
#include "project/comments.h"
#include "project/state.h"
#include "store/store.h"
#include "time/timeline.h"
#include "trend/trends.h"

/*
 * The projector's thread calls this after each window, before projector_reach returns for its position, and when
 * its state changes.
 */
typedef void projector_moved_fn(void *context, uint64_t position);

/*
 * The projector's thread calls this after a window is applied and before its position is published: rows of
 * comments of these parents (subjects, and the items of roots) have changed in the store. Code that caches
 * such rows discards them now. It is not called if there are none.
 */
typedef void projector_parents_fn(void *context, const struct item *parents, size_t count);

/*
 * The projector's thread calls this in a checkpoint, when the store is flushed at this position and
 * the journal still has everything since the last checkpoint. Code that keeps a file in addition to
 * the store saves it now.
 */
typedef void projector_save_fn(void *context, uint64_t position);

/*
 * The projector's thread calls this at the end of a checkpoint that was requested with
 * projector_request_checkpoint: the store is flushed at this position, all files are saved, and no
 * journal segment is removed before it returns.
 */
typedef void projector_staged_fn(void *context, uint64_t position);

/*
 * The projector's thread calls this once if it fails for good: nothing more is written to the store
 * until the next start. `why` is one sentence, the same as in the stats.
 */
typedef void projector_failed_fn(void *context, const char *why);

/* Everything that these pointers refer to must outlive the projector. */
struct projector_options {
    const char *filter_path;
    struct source *source; /* only the projector uses this source */
    struct store_applier *applier;
    /* For filters_move, and for the state of the store after a failure. */
    struct store_admin *admin;
    struct filters *filters; /* at the position of the store */
    const char *trend_path;
    struct trends *trends; /* at the position of the store; NULL: there are no windowed boards */
    /* True: the events are from other times (an import), so no windowed board counts them. */
    bool trends_pass;
    struct memory_budget *budget;
    uint64_t trend_position;   /* position of the file at trend_path; 0: there is none */
    uint64_t filter_position;  /* position of the file at filter_path; 0: there is none */
    uint64_t window_ms;        /* shortest duration of a window, unless there are many events */
    size_t window_events;      /* most events of a window */
    uint64_t checkpoint_bytes; /* bytes of journal between checkpoints */
    uint32_t token_ttl_s;
    uint32_t changes_ttl_s;
    struct timeline *timeline; /* for recorded times; NULL: they are those of the clock */
    uint64_t seed;             /* a secret random number, see fold.h */
    /* True: nothing is acknowledged, so the journal keeps all events. */
    bool keep_journal;
    /* So many bytes of journal are kept although they are not needed any more. */
    uint64_t history_bytes;
    /* What the projector needs for comments; all zero: it ignores them. */
    struct comments_options comments;
    projector_moved_fn *moved;
    projector_parents_fn *parents; /* may be NULL */
    projector_save_fn *save;       /* may be NULL, like `moved` */
    projector_staged_fn *staged;   /* may be NULL */
    projector_failed_fn *failed;   /* may be NULL */
    void *context;
};

struct projector_stats {
    enum projector_state state;
    /* "ok", or why there is no progress; valid while the projector exists. */
    const char *sentence;
    uint64_t position;    /* everything before it is applied */
    uint64_t checkpoint;  /* everything before it is flushed and saved */
    uint64_t lag_bytes;   /* journal bytes that are written but not applied */
    uint64_t lag_events;  /* an estimate */
    uint64_t lag_ms;      /* age of the oldest event not yet applied; 0: there is none */
    uint64_t windows;     /* since start */
    uint64_t events;      /* events read from the journal since the start */
    uint64_t changes;     /* changed rows that resulted from these events */
    uint64_t checkpoints; /* since start */
};

struct projector;

/*
 * NULL: there is no memory, no thread can be started, or the journal cannot be read from the
 * store's position on; `problem` says which.
 */
struct projector *projector_start(const struct projector_options *options, char *problem,
                                  size_t size);
/* Any thread may call. */
void projector_stats(struct projector *projector, struct projector_stats *out);
/*
 * Starts the next window at once and waits until everything before the position is applied. False:
 * not within the time, or at present not at all. Any thread may call.
 */
bool projector_reach(struct projector *projector, uint64_t position, unsigned timeout_ms);
/*
 * Requests a checkpoint now, after which `staged` is called once. While the projector can make no
 * checkpoint, which projector_stats reports, the request waits. Any thread may call.
 */
void projector_request_checkpoint(struct projector *projector);
/*
 * Applies everything that was appended, for at most a few seconds, makes a checkpoint and ends the
 * thread. The journal must still be open, and nobody may append to it any more. Frees the
 * projector.
 */
void projector_stop(struct projector *projector);

#endif

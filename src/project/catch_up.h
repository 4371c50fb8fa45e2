/*
 * Catches up at start, before the server accepts connections: it does what the projector does, but
 * at once, without a thread, and up to the end of the journal. Nobody may append to the journal
 * meanwhile, whether it is open or not. The caller must be the only user of the store, the filters
 * and the windowed boards.
 *
 * First the filters and the boards are brought to the position of the store. Then, if the store
 * must be complete before the server opens, store, filters and boards are brought to the end of the
 * journal.
 */
#ifndef LAUD_PROJECT_CATCH_UP_H
#define LAUD_PROJECT_CATCH_UP_H

#include "filter/filters.h"
#include "project/window.h"
#include "store/store.h"
#include "trend/trends.h"

/*
 * Called after each window. False: stop, with the status STOPPING, which has the same effect as any
 * failure below.
 */
typedef bool catch_up_progress_fn(void *context, uint64_t position, uint64_t end);

struct catch_up {
    struct window_options window;
    /* Updated, too, if they have the position at which it begins; may be NULL. */
    struct trends *trends;
    uint32_t now_s;                 /* present recorded time, for the boards */
    catch_up_progress_fn *progress; /* may be NULL */
    void *context;
};

/*
 * Brings filters of the position `from` to `to`, which the store must have reached. The store is
 * not changed. OK, NO_MEMORY, DAMAGED or IO_FAILED. After a failure the filters cannot be used any
 * more and must be rebuilt from the store; `problem` has a sentence.
 */
enum status catch_up_filters(const struct catch_up *how, struct filters *filters, uint64_t from,
                             uint64_t to, char *problem, size_t size);

/*
 * Brings the boards in `how` from their own position to `to`, and changes nothing else. Failures
 * are as above; after one the boards have a position between the two.
 */
enum status catch_up_trends(const struct catch_up *how, uint64_t to, char *problem, size_t size);

/*
 * Brings the store from its own position to `to`, together with the filters (may be NULL), which
 * must have the same position. Nothing is flushed or saved. A failure is one of the journal or the
 * store. What was applied before it stays applied, and the filters answer at least "maybe" for all
 * of it.
 */
enum status catch_up_store(const struct catch_up *how, struct store_applier *applier,
                           struct filters *filters, uint64_t to, char *problem, size_t size);

#endif

/*
 * Catching up at start, before the server opens: what the projector does, but at once, without a
 * thread and as far as the journal goes. Nobody appends to the journal, whether it is open already or
 * not; the caller is the only one to use the store, the filters and the windowed boards.
 *
 * In order: the filters and the boards to the store's position, then, if that is wanted before
 * opening, the store to the journal's end.
 */
#ifndef LAUD_PROJECT_CATCH_UP_H
#define LAUD_PROJECT_CATCH_UP_H

#include "filter/filters.h"
#include "project/window.h"
#include "store/store.h"
#include "trend/trends.h"

/* Called after each window. False: give it up, with STOPPING, which is like any failure below. */
typedef bool catch_up_progress_fn(void *context, uint64_t position, uint64_t end);

struct catch_up {
    struct window_options window;
    struct trends *trends;          /* taken along, if they stand where it begins; may be NULL */
    uint32_t now_s;                 /* for them, as recorded times go */
    catch_up_progress_fn *progress; /* may be NULL */
    void *context;
};

/*
 * Brings filters that stand for `from` to `to`, which the store has reached; the store is not
 * touched. OK, NO_MEMORY, DAMAGED or IO_FAILED; after these the filters are good for nothing any
 * more (make them anew from the store), and `problem` has a sentence.
 */
enum status catch_up_filters(const struct catch_up *how, struct filters *filters, uint64_t from,
                             uint64_t to, char *problem, size_t size);

/*
 * Brings the boards of `how` from where they stand to `to`, and nothing else. What is not OK is as
 * above, and leaves them somewhere between.
 */
enum status catch_up_trends(const struct catch_up *how, uint64_t to, char *problem, size_t size);

/*
 * Brings the store from its own position to `to`, and the filters (may be NULL), which stand for
 * the same position, with it. Nothing is flushed or saved. What is not OK comes from the journal or
 * the store; what was applied by then stays, and the filters say at least "maybe" to all of it.
 */
enum status catch_up_store(const struct catch_up *how, struct store_applier *applier,
                           struct filters *filters, uint64_t to, char *problem, size_t size);

#endif

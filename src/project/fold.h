/*
 * Reduces a window of events to its net effect: for each (user, kind, item) at most one change, or
 * none if the reaction ends as it began; for each (item, counter) one sum, or none if the sum is 0.
 * The first event on a reaction says what the store has: a SET means that the reaction is not set
 * there, a CLEAR that it is.
 *
 * A reaction that was set and cleared again within the window is no change. But a client may have
 * seen that it was set, and has to learn that it was cleared. Therefore it is reported as
 * *transient*, with the time at which it was cleared. So what is remembered as cleared, and when,
 * does not depend on how the events are divided into windows.
 *
 * One thread owns and uses a fold. Its memory is charged to the budget: a share of it at the
 * beginning, so that windows stay large even when the budget is used up, and more as it grows, up
 * to the size at which fold_is_full is true. A window is also full after so many bytes of bodies of
 * long events (journal/event.h): FOLD_BODIES_MAX, or a small share of the budget if that is less.
 *
 * Events about comments are handed on to a `struct comments` (comments.h), if there is one. The memory for their
 * rows, and for those of comments that are voted on, is bounded by FOLD_COMMENTS_MAX or a small share of the
 * budget, which is charged at the beginning; a window is full when it needs about so much.
 */
#ifndef LAUD_PROJECT_FOLD_H
#define LAUD_PROJECT_FOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/status.h"
#include "journal/event.h"
#include "project/comments.h"
#include "store/store.h"

#define FOLD_BODIES_MAX   MIB(4)   /* most bytes of bodies in one window */
#define FOLD_COMMENTS_MAX MIB(16)  /* most bytes for the rows of comments in one window */
#define FOLD_COMMENTS_MIN KIB(256) /* any single event needs less */

struct fold;

/*
 * `events_max`: a window is full after so many events. `seed`: a secret number for hashing, so that
 * clients cannot choose ids with equal hashes; the result does not depend on it. NULL: there is no
 * memory.
 */
struct fold *fold_new(struct memory_budget *budget, size_t events_max, uint64_t seed);
/*
 * From now on `comments`, which must outlive the fold, gets the events about comments. Without this call they
 * only count as bytes. False: there is no memory.
 */
bool fold_set_comments(struct fold *fold, struct comments *comments);
void fold_free(struct fold *fold);

/*
 * Adds an event. NO_MEMORY: the window is full or cannot grow, and the event was not added; the
 * caller takes the net effect, clears the window and adds the event again. An empty window accepts
 * any event. DAMAGED: the event contradicts earlier ones of this window, which can then only be
 * cleared.
 */
enum status fold_add(struct fold *fold, const struct event *event);
bool fold_is_full(const struct fold *fold);
size_t fold_events(const struct fold *fold); /* events added since the last clear */
size_t fold_bodies(const struct fold *fold); /* bytes of their bodies */

/*
 * Returns the net effect, in the order in which the keys first occurred. It is valid until the
 * window is cleared; nothing can be added before that. `position` is the position after the last
 * event. Horizons and newest_s are 0.
 */
void fold_take(struct fold *fold, uint64_t position, struct store_changes *changes);
void fold_clear(struct fold *fold);

#endif

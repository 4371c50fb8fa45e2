/*
 * Folding a window of events to its net effect: for each (user, kind, item) at most one change, or
 * none if it ends as it began; for each (item, counter) one sum, or none if it is 0. The first
 * event on a reaction tells what the store has: a SET says absent, a CLEAR says live.
 *
 * A reaction that was set and cleared again is no change, but whoever knows that it was set has to
 * hear that it is not any more: it has passed, and when it was cleared is part of the outcome. So
 * what is remembered as cleared, and when, is the same in any cut into windows.
 *
 * Owned and used by one thread. Its memory is charged to the budget: a share of it at once, so that
 * windows stay large when the budget is spent, and more as it grows, up to what fold_is_full says.
 */
#ifndef LAUD_PROJECT_FOLD_H
#define LAUD_PROJECT_FOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/status.h"
#include "journal/event.h"
#include "store/store.h"

struct fold;

/*
 * `events_max`: a window is full after so many. `seed`: keeps those who choose ids from choosing
 * where they go; the outcome does not depend on it. NULL: no memory.
 */
struct fold *fold_new(struct memory_budget *budget, size_t events_max, uint64_t seed);
void fold_free(struct fold *fold);

/*
 * OK; NO_MEMORY: the window is full, or cannot grow, and the event was not taken: take what is
 * there and clear, then add again; an empty window takes any event. DAMAGED: the event contradicts
 * the ones before it in this window, which is good for nothing any more but to be cleared.
 */
enum status fold_add(struct fold *fold, const struct event *event);
bool fold_is_full(const struct fold *fold);
size_t fold_events(const struct fold *fold); /* added since the last clear */

/*
 * The net effect, in the order in which keys first came up; valid until the window is cleared, and
 * nothing can be added before that. `position` is what it reaches. Horizons and newest_s are 0.
 */
void fold_take(struct fold *fold, uint64_t position, struct store_changes *changes);
void fold_clear(struct fold *fold);

#endif

/*
 * Waiting until the store has the changes that memory has, for queries that read only the store.
 * Positions are positions of the journal. UINT64_MAX, or any position after the journal's end, stands for
 * the journal's end.
 */
#ifndef LAUD_HOT_MEMORY_CATCH_UP_H
#define LAUD_HOT_MEMORY_CATCH_UP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"
#include "base/status.h"

struct hot_memory;

/*
 * The position that the store must reach to have every change of the item so far, or a later one. Any
 * thread may call this.
 */
uint64_t catch_up_item_position(struct hot_memory *hot, struct item item);

/* Has the store reached the position? Any thread may call this. */
bool catch_up_is_done(struct hot_memory *hot, uint64_t position);

/*
 * Asks the projector to bring the store to the position and waits for it, at most LIMIT_REACH_MS. Returns
 * OK, LAGGING (not in time) or STORE_FAILED (never). Only workers may call this.
 */
enum status catch_up(struct hot_memory *hot, uint64_t position);

#endif

/*
 * Waiting until the store has what memory has: for queries that read the store alone. Positions are
 * those of the journal. UINT64_MAX stands for the journal's end, as does any position after it.
 */
#ifndef LAUD_HOT_MEMORY_CATCH_UP_H
#define LAUD_HOT_MEMORY_CATCH_UP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"
#include "base/status.h"

struct hot_memory;

/* The position at which the store has every change of the item, or a later one. Any thread. */
uint64_t catch_up_item_position(struct hot_memory *hot, struct item item);

/* Has the store reached the position? Any thread. */
bool catch_up_is_done(struct hot_memory *hot, uint64_t position);

/*
 * Asks for the store to reach the position and waits for it, LIMIT_REACH_MS at most. OK, LAGGING (not
 * in time) or STORE_FAILED (never). For workers.
 */
enum status catch_up(struct hot_memory *hot, uint64_t position);

#endif

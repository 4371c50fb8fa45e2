/*
 * The reference store: plain hash tables in memory, sharded by user and by item so that it is no
 * global lock on the path of an operation. Charged to the budget; NO_MEMORY past it, and then
 * nothing of that batch is applied.
 */
#ifndef LAUD_STORE_MEMORY_H
#define LAUD_STORE_MEMORY_H

#include "base/memory.h"
#include "store/store.h"

struct store *store_memory_open(struct memory_budget *budget); /* NULL: no memory */

#endif

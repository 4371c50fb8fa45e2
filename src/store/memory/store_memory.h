/*
 * The reference store, for tests: one table in memory with one lock. It is simple rather than fast, and
 * tests compare other stores with it. Rows are charged to the budget; a change that does not fit gets
 * NO_MEMORY, and nothing of it is applied. Unlike other stores it also answers DAMAGED if a change says
 * that a reaction is new although the store has it.
 */
#ifndef LAUD_STORE_MEMORY_H
#define LAUD_STORE_MEMORY_H

#include "base/memory.h"
#include "store/store.h"

/* The budget must outlive the store. NULL: there is no memory. */
struct store *store_memory_open(struct memory_budget *budget);

#endif

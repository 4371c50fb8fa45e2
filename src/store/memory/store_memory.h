/*
 * The reference store: one table in memory under one lock, made to be plainly right; tests hold
 * the others against it. Charged to the budget; NO_MEMORY past it, and then nothing of that batch
 * is applied. Unlike others it also answers DAMAGED where a change says that a reaction is new and
 * the store has it.
 */
#ifndef LAUD_STORE_MEMORY_H
#define LAUD_STORE_MEMORY_H

#include "base/memory.h"
#include "store/store.h"

struct store *store_memory_open(struct memory_budget *budget); /* NULL: no memory */

#endif

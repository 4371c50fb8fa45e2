/*
 * The names that a store holds: the journal may not have their definitions any more.
 */
#ifndef LAUD_CLI_STORE_NAMES_H
#define LAUD_CLI_STORE_NAMES_H

#include "base/names.h"
#include "store/store.h"

/* Puts them back. DAMAGED if they contradict each other or what is there; else what the store says,
 * or NO_MEMORY. */
enum status store_names_restore(struct store_admin *admin, struct names *names);

#endif

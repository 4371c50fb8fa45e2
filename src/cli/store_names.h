/* Restores the names from the store, because the journal may not have their definitions any more. */
#ifndef LAUD_CLI_STORE_NAMES_H
#define LAUD_CLI_STORE_NAMES_H

#include "base/names.h"
#include "store/store.h"

/*
 * Adds all names of the store to `names`. OK; DAMAGED: they contradict each other or `names`; the
 * status of the store; or NO_MEMORY.
 */
enum status store_names_restore(struct store_admin *admin, struct names *names);

#endif

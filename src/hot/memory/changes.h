/*
 * CHANGES: what a user set and cleared since a time, page by page, so that a client can keep a copy.
 * A round of pages begins with what the page before it said (since_s) and says with what the next
 * one is to begin (until_s).
 */
#ifndef LAUD_HOT_MEMORY_CHANGES_H
#define LAUD_HOT_MEMORY_CHANGES_H

#include "hot/memory/hot_memory_priv.h"

/* False: it takes a worker. */
hot_action_fn hot_memory_changes;

#endif

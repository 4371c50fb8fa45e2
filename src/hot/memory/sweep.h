/*
 * FORGET and DROP: everything a user has, or an item has, is removed, in pieces of at most
 * LIMIT_BATCH decisions, each of which is a CLEAR or an ADD like any other. For worker threads; no
 * lock is held and no load is under way from one piece to the next.
 */
#ifndef LAUD_HOT_MEMORY_SWEEP_H
#define LAUD_HOT_MEMORY_SWEEP_H

#include "hot/memory/hot_memory_priv.h"

/*
 * The request's status, value and more are set. What stops it after it has removed some, an error
 * too, is not told but met again by the next call: then status is OK and more true.
 */
hot_action_fn hot_memory_forget;
hot_action_fn hot_memory_drop;

#endif

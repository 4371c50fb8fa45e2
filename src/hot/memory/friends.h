/* FRIENDS: which of those a user follows have a reaction on an item. */
#ifndef LAUD_HOT_MEMORY_FRIENDS_H
#define LAUD_HOT_MEMORY_FRIENDS_H

#include "hot/memory/hot_memory_priv.h"

/* HOT_FRIENDS; false: it takes a worker. */
hot_action_fn hot_memory_friends;

#endif

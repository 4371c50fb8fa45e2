/* FRIENDS: which of those a user follows have a reaction on an item. */
#ifndef LAUD_HOT_MEMORY_FRIENDS_H
#define LAUD_HOT_MEMORY_FRIENDS_H

#include "hot/memory/hot_memory_priv.h"

/* HOT_FRIENDS; false: it takes a worker. */
bool hot_memory_friends(struct hot_memory *hot, struct hot_request *request, struct hot_trail trail,
                        struct hot_scratch *scratch, unsigned worker);

#endif

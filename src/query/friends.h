/*
 * FRIENDS: which of the users that a user follows have a reaction on an item, newest first. Whom a user
 * follows is a list of reactions like any other: of a kind such as "follow", on items that stand for
 * users.
 *
 * Any thread may call this. If the tier may not wait and the answer needs the store, the status is BLOCKED.
 */
#ifndef LAUD_QUERY_FRIENDS_H
#define LAUD_QUERY_FRIENDS_H

#include "query/tier.h"

/* Runs HOT_FRIENDS: sets the request's status and, if that is OK, its page. */
void query_friends(struct query_tier *tier, struct hot_request *request,
                   struct hot_scratch *scratch);

#endif

/*
 * FRIENDS: which of the users that a user follows have a reaction on an item, newest first. Whom a user
 * follows is a list of reactions like any other: of a kind such as "follow", on items that stand for
 * users. FEED asks the same about many items, and names only a few friends of each.
 *
 * Any thread may call this. If the tier may not wait and the answer needs the store, the status is BLOCKED.
 */
#ifndef LAUD_QUERY_FRIENDS_H
#define LAUD_QUERY_FRIENDS_H

#include "query/tier.h"

/*
 * Runs HOT_FRIENDS: sets the request's status and, if that is OK, its page. With list.second it always
 * waits, because it may look up LIMIT_FRIENDS × LIMIT_FRIENDS users.
 */
void query_friends(struct query_tier *tier, struct hot_request *request,
                   struct hot_scratch *scratch);

/* The friends of a HOT_FEED: returns a status and, if that is OK, sets read.first_friends. */
enum status query_feed_friends(struct query_tier *tier, struct hot_request *request,
                               struct hot_scratch *scratch);

#endif

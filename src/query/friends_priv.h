/* What the files of FRIENDS share. Nobody else includes it. Any thread may call these functions. */
#ifndef LAUD_QUERY_FRIENDS_PRIV_H
#define LAUD_QUERY_FRIENDS_PRIV_H

#include "query/friends.h"

#define FRIENDS_READ_KEYS 128 /* asked of the store at a time */

/* How users follow users, and how a list of followees is to be read. */
struct query_follow {
    uint16_t type; /* of the items that stand for users */
    uint8_t kind;
    bool ordered;     /* in the order of the list; otherwise in any order */
    bool memory_only; /* only those that the tier has, which may not be all */
};

/*
 * Appends the newest LIMIT_FRIENDS users whom a user follows to scratch->listed. Without OK, nothing was
 * appended.
 */
enum status query_followees(struct query_tier *tier, struct id user, struct query_follow follow,
                            struct hot_scratch *scratch);

/* Sets the times of users as struct query_lookup says, and none of them to QUERY_UNKNOWN. */
enum status query_friends_look_up(struct query_tier *tier, const struct query_lookup *lookup);

/* friends_second.c: appends the answer of FRIENDS with list.second, two entries for each user. */
enum status query_friends_second(struct query_tier *tier, const struct hot_request *request,
                                 struct hot_scratch *scratch);

#endif

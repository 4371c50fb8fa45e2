/*
 * Has a user ever had an open comment? For --comment-hold first: as long as the answer is no, new comments of
 * the user are pending.
 *
 * An answer of yes stays right for ever, so it may come from a store that lags. An answer of no needs a
 * store that has all changes of comments so far. Beside the comments that are open now, the newest
 * FIRST_LOOKS comments of the user are looked at that are not (deleted or hidden ones may have been open).
 */
#ifndef LAUD_QUERY_COMMENT_FIRST_H
#define LAUD_QUERY_COMMENT_FIRST_H

#include "query/tier.h"

#define FIRST_LOOKS 1000

/*
 * Sets *was_open. BLOCKED: the tier may not wait. Otherwise OK or the reason why the store has no answer. Called
 * without any lock, before the decision is made.
 */
enum status query_was_open(struct query_tier *tier, struct id user, bool *was_open);

#endif

/*
 * FORGET removes all comments and reactions of a user, and DROP all comments, reactions and counters of an
 * item, in batches of at most LIMIT_BATCH decisions. A decision about a reaction or counter is a CLEAR or an
 * ADD like that of any client; those about comments have events of their own. Each is complete in itself, so
 * a removal can be interrupted anywhere.
 *
 * Only worker threads may call these functions, because the tier may wait. Between two batches no lock
 * is held and no read of the store is in progress.
 */
#ifndef LAUD_QUERY_REMOVAL_H
#define LAUD_QUERY_REMOVAL_H

#include "query/tier.h"

/*
 * Run HOT_FORGET and HOT_DROP: they set the request's status, how many comments, reactions and counters
 * were removed, and whether there may be more to remove. If a call has removed something and then stops
 * early, even because of an error, its status is OK and `more` is true. The next call then gets the
 * error, if it is still there.
 */
void query_forget(struct query_tier *tier, struct hot_request *request,
                  struct hot_scratch *scratch);
void query_drop(struct query_tier *tier, struct hot_request *request, struct hot_scratch *scratch);

#endif

/*
 * FORGET and DROP: all reactions of a user, or all reactions and counters of an item, are removed, in
 * batches of at most LIMIT_BATCH decisions. Each decision is a CLEAR or an ADD like that of any
 * client, so replay and projection need nothing special, and a removal can be interrupted anywhere.
 *
 * For worker threads: the tier may wait. Between two batches no lock is held and no read of the store
 * is in progress.
 */
#ifndef LAUD_QUERY_REMOVAL_H
#define LAUD_QUERY_REMOVAL_H

#include "query/tier.h"

/*
 * HOT_FORGET and HOT_DROP; they set the request's status, how many were removed, and whether there may
 * be more. If something stops a call after it has removed some, even an error, its status is OK and
 * there may be more: the next call meets the error again.
 */
void query_forget(struct query_tier *tier, struct hot_request *request,
                  struct hot_scratch *scratch);
void query_drop(struct query_tier *tier, struct hot_request *request, struct hot_scratch *scratch);

#endif

/*
 * CHANGES: what a user set and cleared since a time, page by page, so that a client can keep a copy. A
 * *round* is a sequence of pages: it tells all changes since since_s, and its last page says with
 * which since_s the next round has to begin (until_s). The first round begins with since_s 0, and
 * tells everything that is set.
 */
#ifndef LAUD_QUERY_CHANGES_H
#define LAUD_QUERY_CHANGES_H

#include "query/tier.h"

/* HOT_CHANGES; BLOCKED: the tier may not wait, and nothing was changed. */
void query_changes(struct query_tier *tier, struct hot_request *request,
                   struct hot_scratch *scratch);

#endif

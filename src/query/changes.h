/*
 * CHANGES: which reactions a user has set and cleared since a time, page by page, so that a client can
 * keep a copy of them. A *round* is a sequence of pages: it reports all changes since since_s, and its
 * last page says with which since_s the next round has to begin (until_s). The first round begins with
 * since_s 0 and reports every reaction that is set.
 */
#ifndef LAUD_QUERY_CHANGES_H
#define LAUD_QUERY_CHANGES_H

#include "query/tier.h"

/*
 * Runs HOT_CHANGES and sets the request's status and page. The status is BLOCKED if the tier may not
 * wait; then nothing was changed. Any thread may call this.
 */
void query_changes(struct query_tier *tier, struct hot_request *request,
                   struct hot_scratch *scratch);

#endif

/*
 * Lists, newest first. There are two of them: a user's reactions of a kind on items of a type, which are
 * merged from hot tier and store, and the users that have a reaction on an item, which only the store
 * can list.
 *
 * Any thread may call these functions. If the tier may not wait and the answer needs the store, the
 * status is BLOCKED and nothing was changed. Entries are appended to scratch->listed, which belongs to
 * the caller.
 */
#ifndef LAUD_QUERY_LIST_H
#define LAUD_QUERY_LIST_H

#include "query/tier.h"

/* Run HOT_LIST_REACTIONS and HOT_LIST_REACTORS: they set the request's status and its page. */
void query_list_reactions(struct query_tier *tier, struct hot_request *request,
                          struct hot_scratch *scratch);
void query_list_reactors(struct query_tier *tier, struct hot_request *request,
                         struct hot_scratch *scratch);

/*
 * Appends the entries of the page and returns OK. If it returns NO_MEMORY, BLOCKED or an error of the
 * store, nothing was appended.
 */
enum status query_list_read(struct query_tier *tier, const struct query_page *page,
                            struct hot_scratch *scratch);

/* Orders scratch->listed[first …), newest first, and keeps at most the first `most` entries of it. */
void query_list_order(struct hot_scratch *scratch, uint32_t first, uint32_t most);

#endif

/*
 * Lists, newest first: a user's reactions of a kind on items of a type, merged from hot tier and
 * store; and the users that have a reaction on an item, which only the store lists.
 *
 * Any thread may call. If the tier may not wait and the answer needs the store, the status is
 * BLOCKED and nothing was changed. Entries are appended to scratch->listed, which is the caller's.
 */
#ifndef LAUD_QUERY_LIST_H
#define LAUD_QUERY_LIST_H

#include "query/tier.h"

/* HOT_LIST_REACTIONS and HOT_LIST_REACTORS; they set the request's status and its page. */
void query_list_reactions(struct query_tier *tier, struct hot_request *request,
                          struct hot_scratch *scratch);
void query_list_reactors(struct query_tier *tier, struct hot_request *request,
                         struct hot_scratch *scratch);

/* Appends the page. OK, NO_MEMORY, BLOCKED or what the store said; then nothing was appended. */
enum status query_list_read(struct query_tier *tier, const struct query_page *page,
                            struct hot_scratch *scratch);

/* Sorts scratch->listed[first …) and keeps up to `most` of it. */
void query_list_sort(struct hot_scratch *scratch, uint32_t first, uint32_t most);

#endif

/*
 * The queries about comments: pages of a subject or a thread, cards by id, what a user has written, the
 * inbox of a user, the history of a comment, a subject, and the queues of moderators.
 *
 * Any thread may call these functions. Each sets the status of its request; BLOCKED: the tier may not wait
 * and the answer needs the store. Answers are appended to the scratch (hot/comments.h), which belongs to
 * the caller; a request that fails appends nothing.
 */
#ifndef LAUD_QUERY_COMMENTS_H
#define LAUD_QUERY_COMMENTS_H

#include "query/tier.h"

/* Runs HOT_COMMENTS, CARDS, WRITTEN, INBOX, HISTORY, SUBJECT, QUEUE or COMMENT_NEWS. */
void query_comments(struct query_tier *tier, struct hot_request *request,
                    struct hot_scratch *scratch);

/* For query_comments: each runs one action. `page` is scratch->pages[request->cards.page]. */
struct comment_view;
typedef enum status comments_fn(struct comment_view *view, struct hot_request *request);
comments_fn comments_read_page;    /* comment_page.c */
comments_fn comments_read_subject; /* comment_page.c */
comments_fn comments_read_inbox;   /* comment_inbox.c */
comments_fn comments_read_news;    /* comment_news.c */
comments_fn comments_read_cards;   /* comment_lists.c, as are the rest */
comments_fn comments_read_written;
comments_fn comments_read_history;
comments_fn comments_read_queue;

#endif

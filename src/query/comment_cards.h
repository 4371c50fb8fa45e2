/*
 * Cards: comments as a reader gets to see them, with text, counters and reactions. Used by one thread for
 * one request. Cards are appended to scratch->cards, and their texts are in the arena of the scratch.
 */
#ifndef LAUD_QUERY_COMMENT_CARDS_H
#define LAUD_QUERY_COMMENT_CARDS_H

#include "query/comment_view.h"

/* Appends a card for a comment. False: no memory. Counters and reactions follow in cards_complete. */
bool cards_add(struct comment_view *view, const struct query_comment *comment,
               enum comment_sight sight, const struct subject *subject);

/* Appends a card for a comment that does not exist for this reader. */
bool cards_add_absent(struct comment_view *view, uint64_t id);

/* Loads comments with their contents: OK, BLOCKED, NO_MEMORY or a failure of the store. */
enum status cards_load(struct comment_view *view, struct query_comment *comments, size_t count);

/*
 * Loads the roots of comments that were loaded, without contents: (*out)[i] is the root of comments[i], or
 * the comment itself if it is a root; it may be not found.
 */
enum status cards_load_roots(struct comment_view *view, const struct query_comment *comments,
                             size_t count, struct query_comment **out);

/*
 * Reads counters, the reactions of the reader and those of the owners of the subjects for all cards from
 * `first` on, at most LIMIT_CARDS.
 */
enum status cards_complete(struct comment_view *view, uint32_t first, uint32_t time_s);

/* Appends an empty page and returns its index; UINT32_MAX: no memory. */
uint32_t cards_page(struct hot_scratch *scratch);

#endif

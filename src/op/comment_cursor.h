/*
 * Cursors of lists of comments. As the other cursors (cursor.h), such a cursor is a position in a list, as a
 * text that a client keeps and sends back; it stays valid whatever is posted, voted on or removed, and after
 * a restart. It contains key, floor and id of an entry, the order of the list, and whether the page ends
 * before this entry instead of beginning after it. A checksum over all of it and over the identity of the
 * list (the item, or the user, or type and queue) makes it invalid for any other list. It is not secret and
 * gives no permission.
 *
 * Any thread may call these functions.
 */
#ifndef LAUD_OP_COMMENT_CURSOR_H
#define LAUD_OP_COMMENT_CURSOR_H

#include <stdbool.h>
#include <stddef.h>

#include "hot/comments.h"

#define COMMENT_CURSOR_TEXT 58 /* the length of each of them in bytes */

/* Writes a position in the list that the request is for: COMMENTS, WRITTEN, INBOX, QUEUE. */
void comment_cursor_write(const struct hot_request *request, const struct hot_mark *mark,
                          char out[COMMENT_CURSOR_TEXT]);

/* Reads the cursor of a list without orders: WRITTEN, INBOX, QUEUE; SEEN: of the inbox. False: it is none. */
bool comment_cursor_read(const struct hot_request *request, struct text text, struct hot_mark *out);

/* Reads the cursor of COMMENTS on the request's item, in any order. False: it is none. */
bool comment_cursor_read_page(const struct hot_request *request, struct text text,
                              struct hot_mark *out, uint8_t *order);

#endif

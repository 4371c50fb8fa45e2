/*
 * Writes the JSON answer to a request about comments (op/comment_reply.h). Texts are any UTF-8, so they are
 * escaped; extra values are JSON already and are written as they are. Any thread may call these functions.
 */
#ifndef LAUD_HTTP_ANSWER_COMMENTS_H
#define LAUD_HTTP_ANSWER_COMMENTS_H

#include "base/buffer.h"
#include "base/names.h"
#include "base/text.h"
#include "hot/comments.h"

/* The status of the request must be OK. False: there is no memory, as for all functions here. */
bool answer_write_comments(struct buffer *out, const struct hot_request *request,
                           const struct hot_scratch *scratch, const struct names *names);

/* Writes one card without its replies. */
bool answer_write_card(struct buffer *out, const struct hot_card *card,
                       const struct hot_scratch *scratch, const struct names *names);

/* Writes UTF-8 as a string with its quotes, so that exactly the same bytes are read from it. */
bool answer_write_utf8(struct buffer *out, struct text text);

#endif

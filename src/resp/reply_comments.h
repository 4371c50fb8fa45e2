/* Writes the RESP reply to a request about comments (op/comment_reply.h). Any thread may call it. */
#ifndef LAUD_RESP_REPLY_COMMENTS_H
#define LAUD_RESP_REPLY_COMMENTS_H

#include "base/buffer.h"
#include "base/names.h"
#include "hot/hot.h"

/* The status of the request must be OK. False: there is no memory. */
bool reply_write_comments(struct buffer *out, const struct hot_request *request,
                          const struct hot_scratch *scratch, const struct names *names, bool resp3);

#endif

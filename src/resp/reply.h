/* The RESP face of what the hot tier answered. */
#ifndef LAUD_RESP_REPLY_H
#define LAUD_RESP_REPLY_H

#include "base/buffer.h"
#include "base/names.h"
#include "hot/hot.h"

/* The request was run and its status is OK. False: no memory. */
bool reply_write(struct buffer *out, const struct hot_request *request,
                 const struct hot_scratch *scratch, const struct names *names, bool resp3);

#endif

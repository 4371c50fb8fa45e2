/*
 * Writing RESP replies. Each function makes room and appends; on no memory the buffer is marked by
 * the return value false, and the connection is closed by whoever asked. RESP2 has no maps: there
 * a map is a flat array of twice the length.
 */
#ifndef LAUD_RESP_WRITE_H
#define LAUD_RESP_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/status.h"

bool resp_integer(struct buffer *out, int64_t value);
bool resp_array(struct buffer *out, size_t count);
bool resp_map(struct buffer *out, size_t pairs, bool resp3);
bool resp_bulk(struct buffer *out, const char *bytes, size_t length);
bool resp_text(struct buffer *out, const char *text); /* a bulk string */
bool resp_simple(struct buffer *out, const char *text);
bool resp_null(struct buffer *out, bool resp3);
/* "-CODE sentence" in printable ASCII: line ends and control bytes are spaces, any other byte is "?". */
bool resp_error(struct buffer *out, const char *code, const char *sentence);

#endif

/*
 * Writes RESP replies. Each function appends to the buffer and returns false if there is no memory;
 * then the caller closes the connection. RESP2 has no maps: a map is written as a flat array of keys
 * and values.
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

/*
 * Writes "-CODE sentence" in printable ASCII: a control byte, such as a line end, becomes a space, and any
 * other byte becomes "?".
 */
bool resp_error(struct buffer *out, const char *code, const char *sentence);

#endif

/*
 * Writes the answers of the hot tier as JSON, directly into buffers. Names, ids and items need no
 * escaping, because their syntax allows no character that would. Any thread may call these functions.
 */
#ifndef LAUD_HTTP_ANSWER_H
#define LAUD_HTTP_ANSWER_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/names.h"
#include "base/text.h"
#include "hot/hot.h"

/*
 * Writes the answer to a request whose status is OK. `items` are the words of its items in the
 * client's request. `single`: the request was for one thing, not for an array; then the answer to a
 * change ends after "count":, and answer_write_count writes the rest. False: there is no memory, as
 * for all functions here.
 */
bool answer_write(struct buffer *out, const struct hot_request *request,
                  const struct hot_scratch *scratch, const struct names *names,
                  const struct text *items, bool single);

/* Writes the end of a change: the value of counter `name` in the answer to COUNTS of one item. */
bool answer_write_count(struct buffer *out, const struct hot_request *request,
                        const struct hot_scratch *scratch, uint8_t name);

/* {"error":{"code":"…","message":"…"}} */
bool answer_write_error(struct buffer *out, enum status status, const char *sentence);

/* Writes a string with its quotes, escaped. A byte that is not printable ASCII becomes "?". */
bool answer_write_string(struct buffer *out, const char *text);

/* Writes the text unchanged. */
bool answer_write_text(struct buffer *out, const char *text);

/* Ends a list whose entries each ended with a comma: removes the last comma, and writes `end`. */
bool answer_close_list(struct buffer *out, const char *end);

#endif

/*
 * The JSON of what the hot tier answered. It goes straight into buffers; names, ids and items need
 * no escaping, because nothing that would is ever taken for one.
 */
#ifndef LAUD_HTTP_ANSWER_H
#define LAUD_HTTP_ANSWER_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/names.h"
#include "base/text.h"
#include "hot/hot.h"

/*
 * The request was run and its status is OK; `items` are its items as they were asked for. `single`:
 * the answer to one thing, not to an array; then a change ends behind "count":, for the number to
 * come. False: no memory, as in all here.
 */
bool answer_write(struct buffer *out, const struct hot_request *request,
                  const struct hot_scratch *scratch, const struct names *names,
                  const struct text *items, bool single);

/* The end of a change: the counter of that name in a COUNTS of one item. */
bool answer_write_count(struct buffer *out, const struct hot_request *request,
                        const struct hot_scratch *scratch, uint8_t name);

/* {"error":{"code":"…","message":"…"}} */
bool answer_write_error(struct buffer *out, enum status status, const char *sentence);

/* A string with its quotes, escaped; bytes that are not printable ASCII are question marks. */
bool answer_write_string(struct buffer *out, const char *text);
bool answer_write_text(struct buffer *out, const char *text); /* as it is */

#endif

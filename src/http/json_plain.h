/*
 * A fast parser for plain bodies, which most bodies are: objects, arrays, strings of printable ASCII
 * without escapes, and integers of up to 18 digits. jansson reads a string byte by byte with three
 * calls for each byte; this parser finds its end in one loop. Any other body, valid or not, is left to
 * jansson. Any thread may call it.
 */
#ifndef LAUD_HTTP_JSON_PLAIN_H
#define LAUD_HTTP_JSON_PLAIN_H

#include <jansson.h>

#include "base/text.h"

/*
 * Returns the same value as json_loadb with JSON_REJECT_DUPLICATES; the caller releases it. NULL: the
 * text is not plain, or there is no memory. The text must not be nested deeper than LIMIT_JSON_DEPTH.
 */
json_t *json_plain_read(struct text text);

#endif

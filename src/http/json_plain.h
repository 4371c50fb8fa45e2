/*
 * A short way to what jansson would make of most bodies: objects, arrays, plain strings (printable
 * ASCII, nothing escaped) and integers of up to 18 digits. jansson takes a string byte by byte through
 * three calls; here it is found at once. Whatever is not as plain, or not JSON, is jansson's to read
 * or to refuse. Any thread.
 */
#ifndef LAUD_HTTP_JSON_PLAIN_H
#define LAUD_HTTP_JSON_PLAIN_H

#include <jansson.h>

#include "base/text.h"

/*
 * The same value as json_loadb with JSON_REJECT_DUPLICATES, to be released by the caller; NULL: it is
 * not plain, or there is no memory. The text nests no deeper than LIMIT_JSON_DEPTH.
 */
json_t *json_plain_read(struct text text);

#endif

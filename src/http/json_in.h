/*
 * JSON bodies. Before jansson reads one, its nesting and its number of values are found to be within
 * bounds and its memory is charged, because jansson knows neither. Duplicate members, invalid UTF-8
 * and NUL in strings are refused.
 */
#ifndef LAUD_HTTP_JSON_IN_H
#define LAUD_HTTP_JSON_IN_H

#include <jansson.h>
#include <stddef.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"

struct json_in {
    json_t *root;
    size_t charged;
};

/* OK, or BAD_JSON, NO_MEMORY and *in is empty; then sentence says why. */
enum status json_in_read(struct json_in *in, struct text text, struct memory_budget *budget,
                         char *sentence, size_t size);
void json_in_free(struct json_in *in, struct memory_budget *budget); /* harmless on an empty one */

#endif

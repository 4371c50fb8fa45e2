/*
 * Parses JSON bodies. Before jansson parses a body, its nesting and its number of values are checked
 * and its memory is charged to the budget, because jansson does neither. Duplicate members, invalid
 * UTF-8 and NUL in strings are refused.
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

/* OK, or BAD_JSON or NO_MEMORY; then *in is empty and `sentence` says why. */
enum status json_in_read(struct json_in *in, struct text text, struct memory_budget *budget,
                         char *sentence, size_t size);

/* Frees the value. It may be empty. */
void json_in_free(struct json_in *in, struct memory_budget *budget);

#endif

/*
 * Parses JSON bodies. Before jansson parses a body, its nesting and its number of values are checked
 * and its memory is charged to the budget, because jansson does neither. Duplicate members and invalid
 * UTF-8 are refused. A string may have the character NUL, so its length counts and not its end.
 */
#ifndef LAUD_HTTP_JSON_IN_H
#define LAUD_HTTP_JSON_IN_H

#include <jansson.h>
#include <stdbool.h>
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

/*
 * The text of a member of the object that the whole text is, as the client has sent it. The text must be valid
 * (json_in_read). False: there is no such member, or its name is written with escape sequences.
 */
bool json_in_member(struct text text, struct text name, struct text *out);

/* Frees the value. It may be empty. */
void json_in_free(struct json_in *in, struct memory_budget *budget);

#endif

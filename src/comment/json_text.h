/*
 * The check that a text is JSON (RFC 8259), for the extra value of a comment. Such a text is kept as it was
 * sent, and is put into JSON answers as it is, so it must be valid by itself. It is read once, without
 * recursion and without memory.
 *
 * The function has no state; any thread may call it.
 */
#ifndef LAUD_COMMENT_JSON_TEXT_H
#define LAUD_COMMENT_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/*
 * Is the text one JSON value in UTF-8, with arrays and objects that are nested at most LIMIT_JSON_DEPTH
 * deep, and possibly spaces around it? False: *at is the number of bytes before the first one that does not
 * fit; text.length: it ends too early.
 */
bool json_text_is_valid(struct text text, size_t *at);

#endif

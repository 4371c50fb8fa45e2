/*
 * A list of words, prepared so that a text is searched for all of them at once: the time depends on the length
 * of the text and not on the number of words. For screen.c only.
 *
 * A list does not change after it was made, so any number of threads may search with it.
 */
#ifndef LAUD_COMMENT_WORDS_H
#define LAUD_COMMENT_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

struct words;

/*
 * Makes the list from lines; the bytes are not needed afterwards. Spaces around a line and empty lines
 * are ignored. NULL: there is no memory, or a line is not a word; `problem` is one sentence.
 */
struct words *words_new(struct text lines, char *problem, size_t size);
void words_free(struct words *words); /* NULL is fine */

/* Does the text contain a word of the list? */
bool words_find(const struct words *words, struct text text);

#endif

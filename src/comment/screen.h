/*
 * Screening of new texts: which ones wait for a moderator. A text is held if it contains a blocked word
 * or more links than are allowed. The list of words is a file with one word or phrase on each line, UTF-8,
 * compared without regard to ASCII case; it can be reloaded while other threads screen. A word that begins
 * or ends with an ASCII letter or digit is found only where no further such letter stands before or after
 * it: "ass" does not hold "class". Words of languages that are written without spaces are found anywhere.
 *
 * Also the check that a text is UTF-8.
 */
#ifndef LAUD_COMMENT_SCREEN_H
#define LAUD_COMMENT_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct screen;

struct screen *screen_new(uint32_t links_max); /* UINT32_MAX: any number; NULL: no memory */
void screen_free(struct screen *screen);

/*
 * Replaces the list by that of a file. False: the old list stays, and `problem` is one sentence. Any
 * thread may call it, while others screen.
 */
bool screen_load(struct screen *screen, const char *path, char *problem, size_t size);

/* Must the text wait for a moderator? `screen` may be NULL: no. Any thread may call. */
bool screen_holds(struct screen *screen, struct text text);

/* The number of bytes before the first one that is not valid UTF-8; text.length: all of it is. */
size_t utf8_valid(struct text text);

#endif

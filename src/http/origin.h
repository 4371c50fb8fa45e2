/*
 * The list of web origins of --cors-origin, with commas or spaces between. An origin is what browsers
 * send as Origin: scheme://host, or scheme://host:port where the port is not the scheme's own, in lower
 * case and without a path. Nothing is kept; any thread may call.
 */
#ifndef LAUD_HTTP_ORIGIN_H
#define LAUD_HTTP_ORIGIN_H

#include <stdbool.h>
#include <stddef.h>

/* False: `problem` is one sentence about the first one that no browser would ever send. */
bool origins_check(const char *list, char *problem, size_t size);

/* Is it one of them? A '*' in the list is all of them. */
bool origins_have(const char *list, const char *origin);

#endif

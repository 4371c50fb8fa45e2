/*
 * The list of web origins of --cors-origin, separated by commas or spaces. An origin has the form that
 * browsers send in the header Origin: scheme://host, or scheme://host:port if the port is not the
 * default of the scheme, in lower case and without a path. Any thread may call these functions.
 */
#ifndef LAUD_HTTP_ORIGIN_H
#define LAUD_HTTP_ORIGIN_H

#include <stdbool.h>
#include <stddef.h>

/* False: `problem` is one sentence about the first entry that no browser would ever send. */
bool origins_check(const char *list, char *problem, size_t size);

/* Is this origin in the list? A '*' in the list stands for every origin. */
bool origins_have(const char *list, const char *origin);

#endif

/*
 * The strict check of the head of a request, before http-parser reads it. http-parser is lenient about
 * line ends, folded lines and spaces, so that two servers could read one request in two ways (request
 * smuggling). A head that passes this check can be read in only one way.
 *
 * The check remembers how far it got, so that a head that arrives byte by byte is not checked again
 * and again. Any thread may call these functions.
 */
#ifndef LAUD_HTTP_HEAD_H
#define LAUD_HTTP_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* All zero at the start of each request. */
struct head_scan {
    size_t at; /* where the first incomplete line begins */
    uint32_t fields;
};

/*
 * OK: the head is complete and valid, and ends before bytes[scan->at]. MORE: call again with the same
 * bytes and more. BAD_PROTOCOL, LINE_TOO_LONG, HEAD_TOO_LARGE, BAD_VERSION: *problem says why.
 */
enum status head_check(struct head_scan *scan, const char *bytes, size_t length, size_t head_max,
                       const char **problem);

/* Is this line, without its CR LF, a valid header field? */
bool head_is_field(const char *line, size_t length);

#endif

/*
 * The strict check of a request's head, before the HTTP parser sees it. The parser is lenient where
 * leniency lets two servers read one request in two ways (line ends, folding, spaces); what passes
 * here can be read in one way only.
 *
 * It keeps how far it got, so that a head that trickles in is not checked over and over. Any thread.
 */
#ifndef LAUD_HTTP_HEAD_H
#define LAUD_HTTP_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* All zero at the start of each request. */
struct head_scan {
    size_t at; /* where the first line begins that was not yet whole */
    uint32_t fields;
};

/*
 * OK: the head is whole and good, and ends before bytes[scan->at]. MORE: call again with the same
 * bytes and some more. BAD_PROTOCOL, LINE_TOO_LONG, HEAD_TOO_LARGE, BAD_VERSION: *problem says why.
 */
enum status head_check(struct head_scan *scan, const char *bytes, size_t length, size_t head_max,
                       const char **problem);

/* Is this line, without its end, a header field? */
bool head_is_field(const char *line, size_t length);

#endif

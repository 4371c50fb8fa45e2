/*
 * Parses the replies of a RESP2 or RESP3 stream, however the stream is cut into reads. It counts complete
 * replies and error replies, and keeps only the text of the first error. It supports nested replies,
 * attributes and out-of-band pushes (a push does not count as a reply). The streamed types of RESP3, which
 * servers do not send unless asked to, are an error. Each connection has its own reader. It owns no
 * memory.
 */
#ifndef LAUD_BENCH_REPLY_READER_H
#define LAUD_BENCH_REPLY_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/cut_line.h"

#define READER_ELEMENT_MAX (1 << 30) /* elements of one array, bytes of one bulk */

struct reply_reader {
    uint64_t open;        /* elements that the current reply still needs; 0: between replies */
    uint64_t skip;        /* bytes of a bulk string still to be skipped, with its line end */
    uint64_t errors;      /* replies that are, or contain, an error */
    uint32_t text_length; /* of first_error */
    bool push;            /* the current reply is an out-of-band push */
    bool failed;          /* the current reply already had an error */
    bool copying;         /* the bulk being skipped is the text of the first error */
    struct cut_line line;
    char first_error[READER_LINE_MAX]; /* ends with a zero byte; "" if there was no error */
};

void reply_reader_init(struct reply_reader *reader);

/* How many replies these bytes completed; -1 if they are not RESP. */
int64_t reply_reader_feed(struct reply_reader *reader, const char *bytes, size_t length);

#endif

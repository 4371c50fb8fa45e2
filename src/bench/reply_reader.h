/*
 * Walks over the replies of a RESP2 or RESP3 stream, however it is cut into pieces: counts whole
 * replies and error replies, keeps the text of the first error and nothing else. Nested replies,
 * attributes and out-of-band pushes are understood (a push is no reply); the streamed types of
 * RESP3, which no server sends unasked, are a violation. One per connection; owns no memory.
 */
#ifndef LAUD_BENCH_REPLY_READER_H
#define LAUD_BENCH_REPLY_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/cut_line.h"

#define READER_ELEMENT_MAX (1 << 30) /* elements of one array, bytes of one bulk */

struct reply_reader {
    uint64_t open;        /* elements the present reply still wants; 0: between replies */
    uint64_t skip;        /* bytes of a bulk still to pass over, its line end included */
    uint64_t errors;      /* replies that are, or hold, an error */
    uint32_t text_length; /* of first_error */
    bool push;            /* the present "reply" is out of band */
    bool failed;          /* the present reply held an error already */
    bool copying;         /* the bulk being skipped is the text of the first error */
    struct cut_line line;
    char first_error[READER_LINE_MAX]; /* terminated; "" if there was none */
};

void reply_reader_init(struct reply_reader *reader);

/* How many replies these bytes completed; -1 if they are not RESP. */
int64_t reply_reader_feed(struct reply_reader *reader, const char *bytes, size_t length);

#endif

/*
 * Walks over the responses of an HTTP/1.1 stream, however it is cut into pieces: counts whole
 * responses and those with an error status (400 and above), keeps the text of the first error and
 * nothing else. A body must have a Content-Length; chunks are a violation, and so is an answer that
 * only the end of the connection ends. One per connection; owns no memory.
 */
#ifndef LAUD_BENCH_RESPONSE_READER_H
#define LAUD_BENCH_RESPONSE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/cut_line.h"

#define RESPONSE_BODY_MAX (1ULL << 30)

struct response_reader {
    uint64_t body;        /* bytes of the body still to pass over */
    uint64_t errors;      /* responses with an error status */
    uint32_t code;        /* status of the present response; 0: between responses */
    bool measured;        /* it has told its Content-Length */
    bool in_body;         /* its head is over */
    bool copying;         /* it is the first error */
    uint32_t text_length; /* of first_error */
    struct cut_line line;
    char first_error[READER_LINE_MAX]; /* terminated; "" if there was none */
};

void response_reader_init(struct response_reader *reader);

/* How many responses these bytes completed; -1 if they are not HTTP as above. */
int64_t response_reader_feed(struct response_reader *reader, const char *bytes, size_t length);

#endif

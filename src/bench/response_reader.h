/*
 * Parses the responses of an HTTP/1.1 stream, however the stream is cut into reads. It counts complete
 * responses and those with an error status (400 and above), and keeps only the text of the first error. A
 * body must have a Content-Length: chunked bodies, and bodies that end with the connection, are an error.
 * Each connection has its own reader. It owns no memory.
 */
#ifndef LAUD_BENCH_RESPONSE_READER_H
#define LAUD_BENCH_RESPONSE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/cut_line.h"

#define RESPONSE_BODY_MAX (1ULL << 30)

struct response_reader {
    uint64_t body;        /* bytes of the body still to be skipped */
    uint64_t errors;      /* responses with an error status */
    uint32_t code;        /* status of the current response; 0: between responses */
    bool measured;        /* its Content-Length was read */
    bool in_body;         /* its head was read completely */
    bool copying;         /* it is the first error, whose text is kept */
    uint32_t text_length; /* of first_error */
    struct cut_line line;
    char first_error[READER_LINE_MAX]; /* ends with a zero byte; "" if there was no error */
};

void response_reader_init(struct response_reader *reader);

/* Returns how many responses these bytes completed; -1 if they are not HTTP as above. */
int64_t response_reader_feed(struct response_reader *reader, const char *bytes, size_t length);

#endif

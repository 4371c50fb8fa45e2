/*
 * Reads chunked bodies strictly, because http-parser accepts any two bytes where the CR LF of a chunk
 * should be, and any byte in an extension. Extensions and trailers are checked and skipped.
 *
 * Only data that has arrived is copied, so a large announced size alone needs no memory.
 */
#ifndef LAUD_HTTP_CHUNK_H
#define LAUD_HTTP_CHUNK_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/status.h"

/* All zero at the start of each body. */
struct chunk_scan {
    size_t at;     /* how many bytes were read */
    uint64_t left; /* how many bytes of the current chunk are missing */
    enum { CHUNK_SIZE, CHUNK_DATA, CHUNK_END, CHUNK_TRAILER } state;
    uint32_t trailers;
};

/*
 * Continues to read the body that begins at `bytes`, and appends its data to `body`. OK: the body is
 * complete and ends before bytes[scan->at]. MORE: call again with the same bytes and more.
 * BAD_PROTOCOL. BODY_TOO_LARGE: the data is longer than `max`, or the chunked body is longer than
 * twice `max` and 64 KiB, because the caller keeps those bytes until the end. NO_MEMORY.
 */
enum status chunk_read(struct chunk_scan *scan, const char *bytes, size_t length, size_t max,
                       struct buffer *body);

#endif

/*
 * Chunked bodies, read strictly: the HTTP parser takes anything where a chunk's CR LF should be, and
 * any byte in an extension. Extensions and trailers are checked and passed over.
 *
 * Only what has come is copied; a size that was announced takes no memory.
 */
#ifndef LAUD_HTTP_CHUNK_H
#define LAUD_HTTP_CHUNK_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/status.h"

/* All zero at the start of each body. */
struct chunk_scan {
    size_t at;     /* bytes taken */
    uint64_t left; /* of the chunk at hand */
    enum { CHUNK_SIZE, CHUNK_DATA, CHUNK_END, CHUNK_TRAILER } state;
    uint32_t trailers;
};

/*
 * Reads on in the body that begins at bytes, and appends its data to body. OK: it is whole and ends
 * before bytes[scan->at]. MORE: call again with the same bytes and some more. BAD_PROTOCOL,
 * BODY_TOO_LARGE (more than max, or with all that is around it more than twice that and 64 KiB, because
 * the caller keeps those bytes meanwhile), NO_MEMORY.
 */
enum status chunk_read(struct chunk_scan *scan, const char *bytes, size_t length, size_t max,
                       struct buffer *body);

#endif

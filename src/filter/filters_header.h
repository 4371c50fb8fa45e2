/*
 * The header of the file of the filters. filters_file.c describes the whole format. Any thread may
 * call.
 */
#ifndef LAUD_FILTER_FILTERS_HEADER_H
#define LAUD_FILTER_FILTERS_HEADER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"
#include "filter/filter_priv.h"
#include "filter/filters_priv.h"

#define FILTERS_HEADER_BYTES 1024
#define FILTERS_CHUNK_BYTES  MIB(1)

struct filters_header {
    uint64_t seed;
    uint64_t position;
    uint64_t length;     /* size of the file */
    uint64_t check;      /* the checksum of the header itself */
    uint64_t known_kept; /* see filters_priv.h */
    bool open;
    struct {
        uint32_t segments;
        uint32_t bits[FILTER_SEGMENTS];
        uint64_t used[FILTER_SEGMENTS];
    } filters[2]; /* `live`, then `known` */
};

/* Makes a header that describes these filters. filters_header_encode sets `check`. */
struct filters_header filters_header_of(const struct filters *filters, uint64_t position);
void filters_header_encode(struct filters_header *header, uint8_t out[FILTERS_HEADER_BYTES]);

/*
 * NULL, or what is wrong with the header, as a continuation of a sentence that begins with the name
 * of the file.
 */
const char *filters_header_decode(struct filters_header *header,
                                  const uint8_t bytes[FILTERS_HEADER_BYTES]);

/* The number of chunks; *bytes is their total size. */
uint64_t filters_header_chunks(const struct filters_header *header, uint64_t *bytes);

#endif

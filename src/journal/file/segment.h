/*
 * The form of journal segments on disk: names, headers, batches and the chain through them. Only
 * bytes are dealt with here; who reads and writes them when is read.c's and writer.c's matter. The
 * format itself is described at the top of segment.c.
 */
#ifndef LAUD_JOURNAL_FILE_SEGMENT_H
#define LAUD_JOURNAL_FILE_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEGMENT_HEADER_BYTES  4096
#define SEGMENT_VERSION       1
#define SEGMENT_NAME_BYTES    16 /* "0000000001.seg" and its end */
#define SEGMENT_NUMBER_MAX    9999999999ULL
#define BATCH_HEADER_BYTES    64
#define SEGMENT_CHAIN_INITIAL 0 /* before the first batch of a journal */

struct segment_header {
    uint64_t number;   /* 1, 2, 3, … as in its name */
    uint64_t position; /* of its first record */
    uint64_t events;   /* before it */
    uint64_t chain;    /* after the batches before it */
    uint64_t bytes;    /* the file was made this long */
    uint32_t promise;  /* enum journal_promise, or what a later version means */
};

struct batch_header {
    uint64_t position; /* of its first record */
    uint64_t events;   /* before it */
    uint64_t bytes;    /* of its records */
    uint64_t durable;  /* this position was known to be on disk when the batch was written */
    uint64_t chain;    /* with this batch */
    uint64_t wall_ms;
    uint32_t count; /* of its records */
};

void segment_name(uint64_t number, char out[SEGMENT_NAME_BYTES]);

/* False if this is not the name of a segment. */
bool segment_name_parse(const char *name, uint64_t *number);

void segment_header_encode(const struct segment_header *header, uint8_t out[SEGMENT_HEADER_BYTES]);

/* Puts the checksum in; also for tests that make a header say something else. */
void segment_header_restamp(uint8_t bytes[SEGMENT_HEADER_BYTES]);

/* NULL, or what is wrong with it, as the end of a sentence. */
const char *segment_header_decode(const uint8_t bytes[SEGMENT_HEADER_BYTES],
                                  struct segment_header *out);

void batch_header_encode(const struct batch_header *header, uint64_t segment,
                         uint8_t out[BATCH_HEADER_BYTES]);

/* False if there is no batch header of this segment here. */
bool batch_header_decode(const uint8_t bytes[BATCH_HEADER_BYTES], uint64_t segment,
                         struct batch_header *out);

/* The chain after these records. */
uint64_t segment_chain(uint64_t chain, const uint8_t *records, size_t bytes);

#endif

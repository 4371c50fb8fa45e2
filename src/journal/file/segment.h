/*
 * The format of journal segments on disk: names, headers, batches, and the chain through them. The
 * functions only convert bytes; read.c and writer.c decide when to read and write. The format is
 * described at the top of segment.c. Any thread may call.
 */
#ifndef LAUD_JOURNAL_FILE_SEGMENT_H
#define LAUD_JOURNAL_FILE_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEGMENT_HEADER_BYTES  4096
#define SEGMENT_VERSION       2  /* the version that is written; older ones are read, too */
#define SEGMENT_VERSION_LONG  2  /* the first version that may have long events */
#define SEGMENT_NAME_BYTES    16 /* "0000000001.seg" with its terminator */
#define SEGMENT_NUMBER_MAX    9999999999ULL
#define BATCH_HEADER_BYTES    64
#define SEGMENT_CHAIN_INITIAL 0 /* chain value before the first batch of a journal */

struct segment_header {
    uint32_t version;  /* set by decoding; encoding writes SEGMENT_VERSION */
    uint64_t number;   /* 1, 2, 3, … as in the name of the file */
    uint64_t position; /* position of its first record */
    uint64_t events;   /* number of events before it */
    uint64_t chain;    /* chain value after the batches before it */
    uint64_t bytes;    /* size with which the file was made */
    uint32_t promise;  /* enum journal_promise, or a value of a later version */
};

struct batch_header {
    uint64_t position; /* position of its first record */
    uint64_t events;   /* number of events before it */
    uint64_t bytes;    /* bytes of its records */
    /* Everything before this position was on disk when the batch was written. */
    uint64_t durable;
    uint64_t chain; /* chain value after this batch */
    uint64_t wall_ms;
    uint32_t count; /* number of its records */
};

void segment_name(uint64_t number, char out[SEGMENT_NAME_BYTES]);

/* False: this is not the name of a segment. */
bool segment_name_parse(const char *name, uint64_t *number);

void segment_header_encode(const struct segment_header *header, uint8_t out[SEGMENT_HEADER_BYTES]);

/* Writes the checksum of the header. Tests also use it after they have changed a header. */
void segment_header_restamp(uint8_t bytes[SEGMENT_HEADER_BYTES]);

/* NULL, or what is wrong with the header, as the end of a sentence. */
const char *segment_header_decode(const uint8_t bytes[SEGMENT_HEADER_BYTES],
                                  struct segment_header *out);

void batch_header_encode(const struct batch_header *header, uint64_t segment,
                         uint8_t out[BATCH_HEADER_BYTES]);

/* False: there is no batch header of this segment here. */
bool batch_header_decode(const uint8_t bytes[BATCH_HEADER_BYTES], uint64_t segment,
                         struct batch_header *out);

/* The chain value after these records. */
uint64_t segment_chain(uint64_t chain, const uint8_t *records, size_t bytes);

#endif

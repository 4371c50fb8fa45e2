/*
 * THE JOURNAL ON DISK
 *
 * A journal is a directory:
 *
 *     0000000001.seg …  segments: the events, in order
 *     mark              up to which position they are certainly on disk (mark.c)
 *     spare.seg         the next segment, made in advance (spare.c)
 *     spare.tmp         an incomplete spare; removed at start
 *     reserve           disk space for closing cleanly on a full disk (spare.c)
 *
 * All numbers are little-endian. "XXH3(bytes, seed)" is XXH3-64.
 *
 * SEGMENT: a header block of 4096 bytes, then batches without gaps, then zeros.
 *
 *        0  8   magic "laud-seg"
 *        8  u32 format version: 2; or 1, in segments that have no long events (event.h), because an
 *               older version of laud wrote them
 *       12  u32 0
 *       16  u64 segment number, as in the file's name; the first is 1
 *       24  u64 position of the first record in it
 *       32  u64 number of events before it
 *       40  u64 chain value after the batches before it; 0 in the first segment
 *       48  u64 length the file was made with
 *       56  u32 what an acknowledgement meant to the run that wrote it: 0 not recorded (older files
 *               do not have this field), 1 that it was on disk (--durability commit),
 *               2 interval, 3 none
 *       60  …   zeros
 *     4088  u64 XXH3(bytes 0 to 4088, 0); it is here in every version, so that a newer format
 *               can be distinguished from damage
 *
 * BATCH: records that were written at once; a header of 64 bytes, then records (record.c).
 *
 *        0  u32 magic "LBAT"
 *        4  u32 number of records
 *        8  u64 position of the first record
 *       16  u64 number of events before it
 *       24  u64 bytes of records, a multiple of 8, at most LIMIT_JOURNAL_BATCH
 *       32  u64 durable through: records before this position were on disk, synced, before this
 *               batch was written
 *       40  u64 chain: XXH3(records, chain of the batch before); 0 before the first
 *       48  u64 wall clock, milliseconds since 1970
 *       56  u64 XXH3(bytes 0 to 56, segment number)
 *
 * A position is the number of record bytes before a record since the journal began. A batch's
 * position is its predecessor's plus its predecessor's bytes, across segments too; likewise events.
 * The chain connects each batch with all batches before it: a batch that was lost, displaced, or
 * that remained from an earlier use of the file does not match.
 *
 * WHAT THE ORDER OF WRITING GUARANTEES
 *
 * 1. A segment is allocated, filled with zeros and synced before it gets its number. So a sync of
 *    a batch changes no metadata, and what follows the last batch is zeros.
 * 2. A segment is truncated after its last batch and synced before its successor gets a number. So
 *    every segment but the last ends with a batch, exactly at the end of the file; anything else
 *    there is damage.
 * 3. A segment's header is synced before it gets its number. So a bad header is damage.
 * 4. After a restart, appending starts in a new segment. So nothing is ever written after a tail
 *    that was cut off.
 *
 * 5. Segments are removed from the front only, one at a time, with a sync of the directory after
 *    each, and never the last. So the remaining segments have numbers without gaps, and the
 *    position in the file `mark`, which is synced with rule 2, is not before the first of them.
 *    The header of the first segment says where the journal begins.
 *
 * Therefore only the last segment can have a torn tail: bytes that do not verify, and for which
 * there is no evidence (the file `mark`, or the durable position in a later batch) that they were
 * on disk.
 */
#include "journal/file/segment.h"

#include <stdio.h>
#include <string.h>

#include <xxhash.h>

#include "base/assert.h"
#include "base/decimal.h"
#include "base/file_header.h"
#include "base/limits.h"
#include "base/little.h"

#define HEADER_CHECK (SEGMENT_HEADER_BYTES - 8)
#define BATCH_CHECK  (BATCH_HEADER_BYTES - 8)

static const struct file_format format = {"laud-seg", SEGMENT_VERSION};
static const uint8_t batch_magic[4] = {'L', 'B', 'A', 'T'};

void segment_name(uint64_t number, char out[SEGMENT_NAME_BYTES])
{
    ASSERT(number > 0 && number <= SEGMENT_NUMBER_MAX);
    snprintf(out, SEGMENT_NAME_BYTES, "%010llu.seg", (unsigned long long)number);
}

bool segment_name_parse(const char *name, uint64_t *number)
{
    if (strlen(name) != 14 || strcmp(name + 10, ".seg") != 0)
        return false;
    return decimal_read((struct text){name, 10}, SEGMENT_NUMBER_MAX, number) && *number != 0;
}

void segment_header_encode(const struct segment_header *header, uint8_t out[SEGMENT_HEADER_BYTES])
{
    file_header_begin(out, SEGMENT_HEADER_BYTES, &format);
    little_put64(out + 16, header->number);
    little_put64(out + 24, header->position);
    little_put64(out + 32, header->events);
    little_put64(out + 40, header->chain);
    little_put64(out + 48, header->bytes);
    little_put32(out + 56, header->promise);
    segment_header_restamp(out);
}

void segment_header_restamp(uint8_t bytes[SEGMENT_HEADER_BYTES])
{
    file_header_seal(bytes, HEADER_CHECK);
}

const char *segment_header_decode(const uint8_t bytes[SEGMENT_HEADER_BYTES],
                                  struct segment_header *out)
{
    if (!file_header_has_magic(bytes, &format))
        return "this is not the header of a journal segment";
    if (!file_header_verifies(bytes, HEADER_CHECK))
        return "the header of the segment does not match its checksum";
    out->version = little_get32(bytes + 8);
    if (out->version == 0 || out->version > SEGMENT_VERSION)
        return "the segment has a format version that this program does not know; a newer version "
               "of laud wrote it";
    out->number = little_get64(bytes + 16);
    out->position = little_get64(bytes + 24);
    out->events = little_get64(bytes + 32);
    out->chain = little_get64(bytes + 40);
    out->bytes = little_get64(bytes + 48);
    out->promise = little_get32(bytes + 56);
    if (out->position % 8 != 0)
        return "the header gives a position at which no record can begin";
    return NULL;
}

void batch_header_encode(const struct batch_header *header, uint64_t segment,
                         uint8_t out[BATCH_HEADER_BYTES])
{
    ASSERT(header->bytes > 0 && header->bytes % 8 == 0 && header->bytes <= LIMIT_JOURNAL_BATCH);
    ASSERT(header->durable <= header->position);
    memcpy(out, batch_magic, sizeof batch_magic);
    little_put32(out + 4, header->count);
    little_put64(out + 8, header->position);
    little_put64(out + 16, header->events);
    little_put64(out + 24, header->bytes);
    little_put64(out + 32, header->durable);
    little_put64(out + 40, header->chain);
    little_put64(out + 48, header->wall_ms);
    little_put64(out + BATCH_CHECK, XXH3_64bits_withSeed(out, BATCH_CHECK, segment));
}

bool batch_header_decode(const uint8_t bytes[BATCH_HEADER_BYTES], uint64_t segment,
                         struct batch_header *out)
{
    if (memcmp(bytes, batch_magic, sizeof batch_magic) != 0 ||
        XXH3_64bits_withSeed(bytes, BATCH_CHECK, segment) != little_get64(bytes + BATCH_CHECK))
        return false;
    out->count = little_get32(bytes + 4);
    out->position = little_get64(bytes + 8);
    out->events = little_get64(bytes + 16);
    out->bytes = little_get64(bytes + 24);
    out->durable = little_get64(bytes + 32);
    out->chain = little_get64(bytes + 40);
    out->wall_ms = little_get64(bytes + 48);
    return out->bytes > 0 && out->bytes % 8 == 0 && out->bytes <= LIMIT_JOURNAL_BATCH &&
           out->durable <= out->position;
}

uint64_t segment_chain(uint64_t chain, const uint8_t *records, size_t bytes)
{
    return XXH3_64bits_withSeed(records, bytes, chain);
}

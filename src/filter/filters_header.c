/*
 * All fields of a header are checked, although its checksum shows that it is as it was written,
 * because sizes of memory are taken from it.
 */
#include "filter/filters_header.h"

#include <string.h>

#include "base/assert.h"
#include "base/file_header.h"
#include "base/little.h"

#define FILE_CHECK   (FILTERS_HEADER_BYTES - 8)
#define FILE_FILTERS 40
#define FILE_FILTER  (8 + FILTER_SEGMENTS * 16)
#define FILE_KEPT    (FILE_FILTERS + 2 * FILE_FILTER)

_Static_assert(FILE_KEPT + 8 <= FILE_CHECK, "two filters fit the header");

static const struct file_format format = {"laud-flt", 2}; /* version 1 had other keys */

static uint64_t chunks_of(uint64_t bytes)
{
    return (bytes + FILTERS_CHUNK_BYTES - 1) / FILTERS_CHUNK_BYTES;
}

uint64_t filters_header_chunks(const struct filters_header *header, uint64_t *bytes)
{
    uint64_t chunks = 0;
    *bytes = 0;
    for (int f = 0; f < 2; f++) {
        for (uint32_t i = 0; i < header->filters[f].segments; i++) {
            uint64_t segment = filter_segment_bytes(1ULL << header->filters[f].bits[i]);
            *bytes += segment;
            chunks += chunks_of(segment);
        }
    }
    return chunks;
}

static uint64_t header_length(const struct filters_header *header)
{
    uint64_t bytes;
    uint64_t chunks = filters_header_chunks(header, &bytes);
    return FILTERS_HEADER_BYTES + bytes + chunks * 8;
}

static void header_describe(struct filters_header *header, int which, const struct filter *filter)
{
    ASSERT(which == 0 || which == 1);
    struct filter_stats stats;
    filter_stats(filter, &stats);
    header->open |= stats.open;
    header->filters[which].segments = stats.segments;
    ASSERT(stats.segments > 0 && stats.segments <= FILTER_SEGMENTS);
    for (uint32_t i = 0; i < stats.segments; i++) {
        header->filters[which].bits[i] = (uint32_t)__builtin_popcountll(filter->segments[i].mask);
        header->filters[which].used[i] = filter->used[i];
    }
}

struct filters_header filters_header_of(const struct filters *filters, uint64_t position)
{
    struct filters_header header = {
        .seed = filters->seed, .position = position, .known_kept = filters->known_kept};
    header_describe(&header, 0, filters_live(filters));
    header_describe(&header, 1, filters_known(filters));
    if (header.open)
        memset(header.filters, 0, sizeof header.filters);
    header.length = header_length(&header);
    return header;
}

void filters_header_encode(struct filters_header *header, uint8_t out[FILTERS_HEADER_BYTES])
{
    ASSERT(header->length == header_length(header));
    file_header_begin(out, FILTERS_HEADER_BYTES, &format);
    little_put32(out + 12, header->open);
    little_put64(out + 16, header->seed);
    little_put64(out + 24, header->position);
    little_put64(out + 32, header->length);
    for (int f = 0; f < 2; f++) {
        uint8_t *at = out + FILE_FILTERS + f * FILE_FILTER;
        ASSERT((header->filters[f].segments == 0) == header->open);
        little_put32(at, header->filters[f].segments);
        for (uint32_t i = 0; i < header->filters[f].segments; i++) {
            little_put32(at + 8 + i * 16, header->filters[f].bits[i]);
            little_put64(at + 16 + i * 16, header->filters[f].used[i]);
        }
    }
    little_put64(out + FILE_KEPT, header->known_kept);
    header->check = file_header_seal(out, FILE_CHECK);
}

/* False: no program of this version writes such a filter. */
static bool header_decode_filter(struct filters_header *header, int which, const uint8_t *at)
{
    uint32_t segments = little_get32(at);
    uint32_t before = 1;
    if (segments > FILTER_SEGMENTS || (segments == 0) != header->open)
        return false;
    header->filters[which].segments = segments;
    for (uint32_t i = 0; i < segments; i++) {
        uint32_t bits = little_get32(at + 8 + i * 16);
        uint64_t used = little_get64(at + 16 + i * 16);
        if (bits < before || bits > FILTER_BITS_MAX || used > (uint64_t)FILTER_BUCKET_SLOTS << bits)
            return false;
        header->filters[which].bits[i] = before = bits;
        header->filters[which].used[i] = used;
    }
    return true;
}

const char *filters_header_decode(struct filters_header *header,
                                  const uint8_t bytes[FILTERS_HEADER_BYTES])
{
    if (!file_header_has_magic(bytes, &format))
        return "is not a file of filters";
    if (!file_header_has_version(bytes, &format))
        return "has a format version that this program does not know";
    *header = (struct filters_header){.open = little_get32(bytes + 12) != 0,
                                      .seed = little_get64(bytes + 16),
                                      .position = little_get64(bytes + 24),
                                      .length = little_get64(bytes + 32),
                                      .known_kept = little_get64(bytes + FILE_KEPT),
                                      .check = little_get64(bytes + FILE_CHECK)};
    if (!file_header_verifies(bytes, FILE_CHECK))
        return "is damaged: its header does not match its checksum";
    for (int f = 0; f < 2; f++)
        if (!header_decode_filter(header, f, bytes + FILE_FILTERS + f * FILE_FILTER))
            return "is damaged: its header describes invalid filters";
    if (header->length != header_length(header))
        return "is damaged: its header contradicts itself about the length";
    return NULL;
}

/*
 * The file of the filters. Numbers are little-endian.
 *
 *      0  8   magic "laud-flt"
 *      8  u32 format version, 1
 *     12  u32 1: a filter was open, nothing else is here and the filters must be made anew; else 0
 *     16  u64 seed of the keys
 *     24  u64 position of the journal that the filters stand for
 *     32  u64 length of this file
 *     40      two filters, `live` then `known`, 328 bytes each:
 *                  0  u32 how many segments
 *                  4  u32 0
 *                  8      20 times, 0 where there is no such segment:
 *                              0  u32 its buckets are 2 to this power
 *                              4  u32 0
 *                              8  u64 slots in use
 *    696      0
 *   1016  u64 XXH3-64 of bytes 0 to 1016
 *   1024      the buckets of each segment of `live`, then of `known`, oldest first: u64 each
 *             u64 for each chunk its XXH3-64, with the sum of the header's and the chunk's number
 *             as seed, so that a chunk of another file or place does not pass
 *
 * A chunk is 1 MiB of one segment, or what is left of it. Chunks are read straight to where they
 * stay and verified there while they are in the cache.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/assert.h"
#include "base/io.h"
#include "base/limits.h"
#include "filter/filter_priv.h"
#include "filter/filters_priv.h"
#include "journal/little.h"

#define FILE_VERSION  1
#define FILE_HEADER   1024
#define FILE_CHECK    (FILE_HEADER - 8)
#define FILE_FILTERS  40
#define FILE_FILTER   (8 + FILTER_SEGMENTS * 16)
#define FILE_CHUNK    MIB(1)
#define FILE_PROGRESS 32 /* chunks between two words of progress */

_Static_assert(FILE_FILTERS + 2 * FILE_FILTER <= FILE_CHECK, "two filters fit the header");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "buckets are written as they stand");

static const char file_magic[8] = "laud-flt";

/* What a header says. */
struct header {
    uint64_t seed;
    uint64_t position;
    uint64_t length;
    uint64_t check; /* its own checksum */
    bool open;
    struct {
        uint32_t segments;
        uint32_t bits[FILTER_SEGMENTS];
        uint64_t used[FILTER_SEGMENTS];
    } filters[2];
};

static uint64_t chunks_of(uint64_t bytes)
{
    return (bytes + FILE_CHUNK - 1) / FILE_CHUNK;
}

/* How many chunks there are, and bytes in them. */
static uint64_t header_chunks(const struct header *header, uint64_t *bytes)
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

static uint64_t header_length(const struct header *header)
{
    uint64_t bytes;
    uint64_t chunks = header_chunks(header, &bytes);
    return FILE_HEADER + bytes + chunks * 8;
}

static void header_describe(struct header *header, int which, const struct filter *filter)
{
    struct filter_stats stats;
    filter_stats(filter, &stats);
    header->open |= stats.open;
    header->filters[which].segments = stats.segments;
    for (uint32_t i = 0; i < stats.segments; i++) {
        header->filters[which].bits[i] = (uint32_t)__builtin_popcountll(filter->segments[i].mask);
        header->filters[which].used[i] = filter->used[i];
    }
}

static struct header header_of(const struct filters *filters, uint64_t position)
{
    struct header header = {.seed = filters->seed, .position = position};
    header_describe(&header, 0, filters->live);
    header_describe(&header, 1, filters->known);
    if (header.open)
        memset(header.filters, 0, sizeof header.filters);
    header.length = header_length(&header);
    return header;
}

static void header_encode(struct header *header, uint8_t out[FILE_HEADER])
{
    memset(out, 0, FILE_HEADER);
    memcpy(out, file_magic, sizeof file_magic);
    little_put32(out + 8, FILE_VERSION);
    little_put32(out + 12, header->open);
    little_put64(out + 16, header->seed);
    little_put64(out + 24, header->position);
    little_put64(out + 32, header->length);
    for (int f = 0; f < 2; f++) {
        uint8_t *at = out + FILE_FILTERS + f * FILE_FILTER;
        little_put32(at, header->filters[f].segments);
        for (uint32_t i = 0; i < header->filters[f].segments; i++) {
            little_put32(at + 8 + i * 16, header->filters[f].bits[i]);
            little_put64(at + 16 + i * 16, header->filters[f].used[i]);
        }
    }
    header->check = XXH3_64bits(out, FILE_CHECK);
    little_put64(out + FILE_CHECK, header->check);
}

/* False if no program of this version wrote such a filter. */
static bool header_decode_filter(struct header *header, int which, const uint8_t *at)
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

/* NULL, or what is wrong with it. */
static const char *header_decode(struct header *header, const uint8_t bytes[FILE_HEADER])
{
    if (memcmp(bytes, file_magic, sizeof file_magic) != 0)
        return "does not begin as a file of filters does";
    if (little_get32(bytes + 8) != FILE_VERSION)
        return "is of a format version that this program does not know";
    *header = (struct header){.open = little_get32(bytes + 12) != 0,
                              .seed = little_get64(bytes + 16),
                              .position = little_get64(bytes + 24),
                              .length = little_get64(bytes + 32),
                              .check = XXH3_64bits(bytes, FILE_CHECK)};
    if (header->check != little_get64(bytes + FILE_CHECK))
        return "is damaged: its header does not match its checksum";
    for (int f = 0; f < 2; f++)
        if (!header_decode_filter(header, f, bytes + FILE_FILTERS + f * FILE_FILTER))
            return "is damaged: its header describes filters that cannot be";
    if (header->length != header_length(header))
        return "is damaged: its header contradicts itself about the length";
    return NULL;
}

/* One pass over all chunks, writing or reading. */
struct pass {
    int fd;
    uint64_t check;  /* of the header */
    uint64_t offset; /* in the file, of the next chunk */
    uint64_t chunk;  /* its number */
    uint64_t chunks;
    uint8_t *table; /* their checksums */
};

static uint64_t chunk_check(const struct pass *pass, const void *bytes, size_t length)
{
    return XXH3_64bits_withSeed(bytes, length, pass->check + pass->chunk);
}

static int write_segment(struct pass *pass, const void *buckets, uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes; at += FILE_CHUNK) {
        const uint8_t *chunk = (const uint8_t *)buckets + at;
        size_t length = bytes - at < FILE_CHUNK ? bytes - at : FILE_CHUNK;
        little_put64(pass->table + pass->chunk * 8, chunk_check(pass, chunk, length));
        int result = io_pwrite_all("filters.write", pass->fd, chunk, length, pass->offset);
        if (result != 0)
            return result;
        pass->chunk++;
        pass->offset += length;
    }
    return 0;
}

static int write_filter(struct pass *pass, const struct filter *filter, uint32_t segments)
{
    int result = 0;
    for (uint32_t i = 0; i < segments && result == 0; i++) {
        const struct filter_segment *segment = &filter->segments[i];
        result = write_segment(pass, (const void *)segment->buckets,
                               filter_segment_bytes(segment->mask + 1));
    }
    return result;
}

static int write_file(const struct filters *filters, uint64_t position, int fd)
{
    uint8_t bytes[FILE_HEADER];
    struct header header = header_of(filters, position);
    uint64_t data_bytes;
    header_encode(&header, bytes);
    struct pass pass = {.fd = fd,
                        .check = header.check,
                        .offset = FILE_HEADER,
                        .chunks = header_chunks(&header, &data_bytes)};
    pass.table = malloc(pass.chunks * 8 + 1);
    if (pass.table == NULL)
        return -ENOMEM;
    int result = io_pwrite_all("filters.write", fd, bytes, sizeof bytes, 0);
    if (result == 0)
        result = write_filter(&pass, filters->live, header.filters[0].segments);
    if (result == 0)
        result = write_filter(&pass, filters->known, header.filters[1].segments);
    if (result == 0) {
        ASSERT(pass.chunk == pass.chunks && pass.offset + pass.chunks * 8 == header.length);
        result = io_pwrite_all("filters.write", fd, pass.table, pass.chunks * 8, pass.offset);
    }
    free(pass.table);
    return result;
}

/* The directory that a file is in, into `out`. */
static void directory_of(const char *path, char out[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        snprintf(out, PATH_MAX, ".");
    else
        snprintf(out, PATH_MAX, "%.*s", slash == path ? 1 : (int)(slash - path), path);
}

int filters_save(const struct filters *filters, const char *path, uint64_t position)
{
    char unfinished[PATH_MAX];
    char directory[PATH_MAX];
    if (snprintf(unfinished, sizeof unfinished, "%s.tmp", path) >= (int)sizeof unfinished)
        return -ENAMETOOLONG;
    directory_of(path, directory);

    int fd = io_open("filters.make", unfinished, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0)
        return fd;
    int result = write_file(filters, position, fd);
    if (result == 0)
        result = io_sync("filters.sync", fd);
    int closed = io_close("filters.close", fd);
    if (result == 0)
        result = closed;
    if (result == 0)
        result = io_rename("filters.rename", unfinished, path);
    if (result != 0) {
        io_unlink("filters.unlink", unfinished); /* it takes room, and is written anew anyway */
        return result;
    }
    return io_sync_directory("directory.sync", directory);
}

struct load {
    struct pass pass;
    const char *path;
    struct header header;
    uint64_t data_bytes;
    filters_progress_fn *progress; /* may be NULL */
    void *context;
    char *problem;
    size_t problem_size;
};

static enum status load_fails(struct load *load, enum status status, const char *sentence)
{
    snprintf(load->problem, load->problem_size, "%s %s", load->path, sentence);
    return status;
}

static enum status load_read(struct load *load, void *bytes, size_t length, uint64_t offset)
{
    ssize_t got = io_pread("filters.read", load->pass.fd, bytes, length, offset);
    if (got < 0) {
        snprintf(load->problem, load->problem_size, "cannot read %s at %llu: %s", load->path,
                 (unsigned long long)offset, strerror((int)-got));
        return STATUS_IO_FAILED;
    }
    if ((size_t)got != length)
        return load_fails(load, STATUS_DAMAGED, "is damaged: it is too short");
    return STATUS_OK;
}

static enum status load_header(struct load *load)
{
    uint8_t bytes[FILE_HEADER];
    enum status status = load_read(load, bytes, sizeof bytes, 0);
    if (status != STATUS_OK)
        return status;
    const char *wrong = header_decode(&load->header, bytes);
    if (wrong != NULL)
        return load_fails(load, STATUS_DAMAGED, wrong);
    uint64_t size;
    int result = io_size("filters.size", load->pass.fd, &size);
    if (result != 0)
        return load_fails(load, STATUS_IO_FAILED, strerror(-result));
    if (size != load->header.length)
        return load_fails(load, STATUS_DAMAGED, "is damaged: it is not as long as it should be");
    if (load->header.open)
        return load_fails(
            load, STATUS_DAMAGED,
            "holds no filters: there was no memory for all of them when it was saved");
    load->pass.check = load->header.check;
    load->pass.offset = FILE_HEADER;
    load->pass.chunks = header_chunks(&load->header, &load->data_bytes);
    return STATUS_OK;
}

static enum status load_table(struct load *load)
{
    size_t bytes = load->pass.chunks * 8;
    load->pass.table = malloc(bytes);
    if (load->pass.table == NULL)
        return load_fails(load, STATUS_NO_MEMORY, "is larger than there is memory for");
    return load_read(load, load->pass.table, bytes, FILE_HEADER + load->data_bytes);
}

static enum status load_segment(struct load *load, void *buckets, uint64_t bytes)
{
    struct pass *pass = &load->pass;
    for (uint64_t at = 0; at < bytes; at += FILE_CHUNK) {
        uint8_t *chunk = (uint8_t *)buckets + at;
        size_t length = bytes - at < FILE_CHUNK ? bytes - at : FILE_CHUNK;
        enum status status = load_read(load, chunk, length, pass->offset);
        if (status != STATUS_OK)
            return status;
        if (chunk_check(pass, chunk, length) != little_get64(pass->table + pass->chunk * 8)) {
            snprintf(load->problem, load->problem_size,
                     "%s is damaged: %zu bytes at %llu do not match their checksum", load->path,
                     length, (unsigned long long)pass->offset);
            return STATUS_DAMAGED;
        }
        pass->chunk++;
        pass->offset += length;
        if (load->progress != NULL && pass->chunk % FILE_PROGRESS == 0)
            load->progress(load->context, pass->offset - FILE_HEADER, load->data_bytes);
    }
    return STATUS_OK;
}

static enum status load_filter(struct load *load, int which, struct filter *filter)
{
    for (uint32_t i = 0; i < load->header.filters[which].segments; i++) {
        uint64_t used = load->header.filters[which].used[i];
        if (!filter_open_segment(filter, load->header.filters[which].bits[i]))
            return load_fails(load, STATUS_NO_MEMORY, "is larger than there is memory for");
        const struct filter_segment *segment = &filter->segments[i];
        enum status status =
            load_segment(load, (void *)segment->buckets, filter_segment_bytes(segment->mask + 1));
        if (status != STATUS_OK)
            return status;
        filter->used[i] = used;
        atomic_fetch_add_explicit(&filter->keys, used, memory_order_relaxed);
    }
    return STATUS_OK;
}

static enum status load_into(struct load *load, struct filters *filters)
{
    enum status status = load_header(load);
    if (status == STATUS_OK)
        status = load_table(load);
    if (status != STATUS_OK)
        return status;
    struct filter *live = filter_make(filters->budget);
    struct filter *known = filter_make(filters->budget);
    if (live == NULL || known == NULL)
        status = load_fails(load, STATUS_NO_MEMORY, "is larger than there is memory for");
    if (status == STATUS_OK)
        status = load_filter(load, 0, live);
    if (status == STATUS_OK)
        status = load_filter(load, 1, known);
    if (status != STATUS_OK) {
        filter_free(live);
        filter_free(known);
        return status;
    }
    filters_replace(filters, load->header.seed, live, known);
    return STATUS_OK;
}

enum status filters_load(struct filters *filters, const char *path, uint64_t *position,
                         filters_progress_fn *progress, void *context, char *problem, size_t size)
{
    struct load load = {.path = path,
                        .progress = progress,
                        .context = context,
                        .problem = problem,
                        .problem_size = size};
    load.pass.fd = io_open("filters.open", path, O_RDONLY, 0);
    if (load.pass.fd == -ENOENT)
        return load_fails(&load, STATUS_MORE, "is not there");
    if (load.pass.fd < 0) {
        snprintf(problem, size, "cannot open %s: %s", path, strerror(-load.pass.fd));
        return STATUS_IO_FAILED;
    }
    enum status status = load_into(&load, filters);
    free(load.pass.table);
    io_close("filters.close", load.pass.fd);
    if (status != STATUS_OK)
        return status;
    *position = load.header.position;
    if (progress != NULL)
        progress(context, load.data_bytes, load.data_bytes);
    return STATUS_OK;
}

/*
 * The file of the filters. Numbers are little-endian.
 *
 *      0  8   magic "laud-flt"
 *      8  u32 format version, 2
 *     12  u32 1: a filter was open: there are no segments, and a rebuild is needed; else 0
 *     16  u64 seed of the keys
 *     24  u64 position of the filters in the journal
 *     32  u64 length of this file
 *     40      two filters, `live` then `known`, 328 bytes each:
 *                  0  u32 number of segments
 *                  4  u32 0
 *                  8      20 times, 0 where there is no such segment:
 *                              0  u32 its buckets are 2 to this power
 *                              4  u32 0
 *                              8  u64 slots in use
 *    696  u64 the least number of keys that the store still has, of those with which `known` was
 *             made from the store; 0: no number (older files do not have it)
 *    704      0
 *   1016  u64 XXH3-64 of bytes 0 to 1016
 *   1024      the buckets of each segment of `live`, then of `known`, oldest first: u64 each
 *             u64 for each chunk its XXH3-64, with the sum of the header's and the chunk's number
 *             as seed, so that a chunk of another file or with another number does not verify
 *
 * A chunk is 1 MiB of one segment, or what is left of it. Chunks are read directly into
 * their final memory and verified there while they are in the cache.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/assert.h"
#include "base/io.h"
#include "base/little.h"
#include "filter/filters_header.h"

#define PROGRESS_CHUNKS 32 /* bytes between two calls of the progress function */

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "buckets are written as they stand");

/* One pass over all chunks, writing or reading. */
struct pass {
    int fd;
    uint64_t check;  /* checksum of the header */
    uint64_t offset; /* offset of the next chunk in the file */
    uint64_t chunk;  /* number of the next chunk */
    uint64_t chunks;
    uint8_t *table; /* checksums of the chunks */
};

static uint64_t chunk_check(const struct pass *pass, const void *bytes, size_t length)
{
    return XXH3_64bits_withSeed(bytes, length, pass->check + pass->chunk);
}

static int write_segment(struct pass *pass, const void *buckets, uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes; at += FILTERS_CHUNK_BYTES) {
        const uint8_t *chunk = (const uint8_t *)buckets + at;
        size_t length = bytes - at < FILTERS_CHUNK_BYTES ? bytes - at : FILTERS_CHUNK_BYTES;
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
    uint8_t bytes[FILTERS_HEADER_BYTES];
    struct filters_header header = filters_header_of(filters, position);
    uint64_t data_bytes;
    filters_header_encode(&header, bytes);
    struct pass pass = {.fd = fd,
                        .check = header.check,
                        .offset = FILTERS_HEADER_BYTES,
                        .chunks = filters_header_chunks(&header, &data_bytes)};
    pass.table = malloc(pass.chunks * 8 + 1);
    if (pass.table == NULL)
        return -ENOMEM;
    int result = io_pwrite_all("filters.write", fd, bytes, sizeof bytes, 0);
    if (result == 0)
        result = write_filter(&pass, filters_live(filters), header.filters[0].segments);
    if (result == 0)
        result = write_filter(&pass, filters_known(filters), header.filters[1].segments);
    if (result == 0) {
        ASSERT(pass.chunk == pass.chunks && pass.offset + pass.chunks * 8 == header.length);
        result = io_pwrite_all("filters.write", fd, pass.table, pass.chunks * 8, pass.offset);
    }
    free(pass.table);
    return result;
}

struct save {
    const struct filters *filters;
    uint64_t position;
};

static int save_to(void *context, int fd)
{
    const struct save *save = context;
    return write_file(save->filters, save->position, fd);
}

int filters_save(const struct filters *filters, const char *path, uint64_t position)
{
    static const struct io_replace_points points = {.make = "filters.make",
                                                    .sync = "filters.sync",
                                                    .close = "filters.close",
                                                    .rename = "filters.rename",
                                                    .unlink = "filters.unlink"};
    struct save save = {filters, position};
    return io_replace(&points, path, save_to, &save);
}

struct load {
    struct pass pass;
    const char *path;
    struct filters_header header;
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
    uint8_t bytes[FILTERS_HEADER_BYTES];
    enum status status = load_read(load, bytes, sizeof bytes, 0);
    if (status != STATUS_OK)
        return status;
    const char *wrong = filters_header_decode(&load->header, bytes);
    if (wrong != NULL)
        return load_fails(load, STATUS_DAMAGED, wrong);
    uint64_t size;
    int result = io_size("filters.size", load->pass.fd, &size);
    if (result != 0)
        return load_fails(load, STATUS_IO_FAILED, strerror(-result));
    if (size != load->header.length)
        return load_fails(load, STATUS_DAMAGED, "is damaged: it has the wrong length");
    if (load->header.open)
        return load_fails(
            load, STATUS_DAMAGED,
            "has no filters, because there was no memory for all of them when it was saved");
    load->pass.check = load->header.check;
    load->pass.offset = FILTERS_HEADER_BYTES;
    load->pass.chunks = filters_header_chunks(&load->header, &load->data_bytes);
    return STATUS_OK;
}

static enum status load_table(struct load *load)
{
    size_t bytes = load->pass.chunks * 8;
    load->pass.table = malloc(bytes);
    if (load->pass.table == NULL)
        return load_fails(load, STATUS_NO_MEMORY, "is larger than the available memory");
    return load_read(load, load->pass.table, bytes, FILTERS_HEADER_BYTES + load->data_bytes);
}

static enum status load_segment(struct load *load, void *buckets, uint64_t bytes)
{
    struct pass *pass = &load->pass;
    for (uint64_t at = 0; at < bytes; at += FILTERS_CHUNK_BYTES) {
        uint8_t *chunk = (uint8_t *)buckets + at;
        size_t length = bytes - at < FILTERS_CHUNK_BYTES ? bytes - at : FILTERS_CHUNK_BYTES;
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
        if (load->progress != NULL && pass->chunk % PROGRESS_CHUNKS == 0 &&
            !load->progress(load->context, pass->offset - FILTERS_HEADER_BYTES, load->data_bytes))
            return STATUS_STOPPING;
    }
    return STATUS_OK;
}

static enum status load_filter(struct load *load, int which, struct filter *filter)
{
    for (uint32_t i = 0; i < load->header.filters[which].segments; i++) {
        uint64_t used = load->header.filters[which].used[i];
        if (!filter_open_segment(filter, load->header.filters[which].bits[i]))
            return load_fails(load, STATUS_NO_MEMORY, "is larger than the available memory");
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
        status = load_fails(load, STATUS_NO_MEMORY, "is larger than the available memory");
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
    filters->known_kept = load->header.known_kept;
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

/*
 * The file, little-endian:
 *
 *      0  8   magic "laud-clk"
 *      8  u32 format version, 1
 *     12  u32 number of spans, at most SPANS_MAX
 *     16  u32 from_s, u32 offset_s of each span
 *         u64 XXH3-64 of everything before
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/file_header.h"
#include "base/io.h"
#include "base/little.h"
#include "time/spans.h"

enum {
    HEAD_BYTES = 16,
    SPAN_BYTES = 8,
    CHECK_BYTES = 8,
    FILE_BYTES = HEAD_BYTES + SPANS_MAX * SPAN_BYTES + CHECK_BYTES, /* at most */
};

static const struct file_format format = {"laud-clk", 1};

static size_t spans_encode(const struct spans *spans, uint8_t out[FILE_BYTES])
{
    ASSERT(spans->count <= SPANS_MAX);
    uint8_t *at = out + HEAD_BYTES;
    file_header_begin(out, HEAD_BYTES, &format);
    little_put32(out + 12, spans->count);
    for (uint32_t i = 0; i < spans->count; i++, at += SPAN_BYTES) {
        little_put32(at, spans->list[i].from_s);
        little_put32(at + 4, spans->list[i].offset_s);
    }
    ASSERT((size_t)(at - out) == HEAD_BYTES + (size_t)spans->count * SPAN_BYTES);
    file_header_seal(out, (size_t)(at - out));
    return (size_t)(at - out) + CHECK_BYTES;
}

static bool spans_decode(const uint8_t *bytes, size_t length, struct spans *out)
{
    if (length < HEAD_BYTES + CHECK_BYTES ||
        !file_header_is_good(bytes, &format, length - CHECK_BYTES))
        return false;
    uint32_t count = little_get32(bytes + 12);
    if (count > SPANS_MAX || length != HEAD_BYTES + count * SPAN_BYTES + CHECK_BYTES)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *at = bytes + HEAD_BYTES + i * SPAN_BYTES;
        struct time_span span = {.from_s = little_get32(at), .offset_s = little_get32(at + 4)};
        if (i == 0 ? span.from_s != 0 : span.from_s <= out->list[i - 1].from_s)
            return false;
        out->list[i] = span;
    }
    ASSERT(count == 0 || out->list[0].from_s == 0);
    out->count = count;
    return true;
}

static int path_of(const char *directory, char out[PATH_MAX])
{
    int length = snprintf(out, PATH_MAX, "%s/" SPANS_NAME, directory);
    return length < PATH_MAX ? 0 : -ENAMETOOLONG;
}

enum status spans_read(const char *directory, struct spans *spans)
{
    char path[PATH_MAX];
    uint8_t bytes[FILE_BYTES + 1];
    *spans = (struct spans){0};
    if (path_of(directory, path) != 0)
        return STATUS_IO_FAILED;
    int fd = io_open("clock.open", path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return fd == -ENOENT ? STATUS_OK : STATUS_IO_FAILED;
    ssize_t length = io_pread("clock.read", fd, bytes, sizeof bytes, 0);
    io_close("clock.close", fd);
    if (length < 0)
        return STATUS_IO_FAILED;
    return spans_decode(bytes, (size_t)length, spans) ? STATUS_OK : STATUS_DAMAGED;
}

static int write_all(void *context, int fd)
{
    uint8_t bytes[FILE_BYTES];
    size_t length = spans_encode(context, bytes);
    return io_pwrite_all("clock.write", fd, bytes, length, 0);
}

int spans_write(const char *directory, const struct spans *spans)
{
    static const struct io_replace_points points = {"clock.make", "clock.sync", "clock.close",
                                                    "clock.rename", "clock.unlink"};
    char path[PATH_MAX];
    struct spans copy = *spans;
    int result = path_of(directory, path);
    return result != 0 ? result : io_replace(&points, path, write_all, &copy);
}

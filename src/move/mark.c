/*
 * The file is 72 bytes, little-endian:
 *
 *      0  8   magic "laud-imp"
 *      8  u32 format version, 1
 *     12  u32 newest_s
 *     16  u64 until
 *     24  u64 bytes, changed_ns and check of the source
 *     48  u64 offset, line
 *     64  u64 XXH3-64 of bytes 0 to 64
 *
 * If the file cannot be read, an import is assumed to be in progress: this is slower, but not wrong.
 */
#include "move/mark.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/file_header.h"
#include "base/io.h"
#include "base/little.h"

enum { MARK_BYTES = 72, MARK_CHECK = 64 };

static const struct file_format format = {"laud-imp", 1};

static void mark_encode(const struct move_mark *mark, uint8_t out[MARK_BYTES])
{
    file_header_begin(out, MARK_BYTES, &format);
    little_put32(out + 12, mark->newest_s);
    little_put64(out + 16, mark->until);
    little_put64(out + 24, mark->source.bytes);
    little_put64(out + 32, mark->source.changed_ns);
    little_put64(out + 40, mark->source.check);
    little_put64(out + 48, mark->offset);
    little_put64(out + 56, mark->line);
    file_header_seal(out, MARK_CHECK);
}

static bool mark_decode(const uint8_t bytes[MARK_BYTES], struct move_mark *out)
{
    if (!file_header_is_good(bytes, &format, MARK_CHECK))
        return false;
    *out = (struct move_mark){
        .until = little_get64(bytes + 16),
        .source = {.bytes = little_get64(bytes + 24),
                   .changed_ns = little_get64(bytes + 32),
                   .check = little_get64(bytes + 40)},
        .offset = little_get64(bytes + 48),
        .line = little_get64(bytes + 56),
        .newest_s = little_get32(bytes + 12),
    };
    return true;
}

static int mark_path(const char *directory, const char *ending, char out[PATH_MAX])
{
    int length = snprintf(out, PATH_MAX, "%s/" MOVE_MARK_NAME "%s", directory, ending);
    return length < PATH_MAX ? 0 : -ENAMETOOLONG;
}

enum status move_mark_read(const char *directory, struct move_mark *mark)
{
    char path[PATH_MAX];
    uint8_t bytes[MARK_BYTES + 1];
    *mark = (struct move_mark){.until = UINT64_MAX};
    if (mark_path(directory, "", path) != 0)
        return STATUS_IO_FAILED;
    int fd = io_open("importing.open", path, O_RDONLY | O_CLOEXEC, 0);
    if (fd == -ENOENT) {
        mark->until = 0;
        return STATUS_OK;
    }
    if (fd < 0)
        return STATUS_IO_FAILED;
    ssize_t length = io_pread("importing.read", fd, bytes, sizeof bytes, 0);
    io_close("importing.close", fd);
    if (length < 0)
        return STATUS_IO_FAILED;
    return length == MARK_BYTES && mark_decode(bytes, mark) ? STATUS_OK : STATUS_DAMAGED;
}

static int write_file(const char *path, const struct move_mark *mark)
{
    uint8_t bytes[MARK_BYTES];
    mark_encode(mark, bytes);
    int fd = io_open("importing.make", path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return fd;
    int result = io_pwrite_all("importing.write", fd, bytes, sizeof bytes, 0);
    if (result == 0)
        result = io_sync("importing.sync", fd);
    int closed = io_close("importing.close", fd);
    return result != 0 ? result : closed;
}

int move_mark_write(const char *directory, const struct move_mark *mark)
{
    char path[PATH_MAX];
    char beside[PATH_MAX];
    int result = mark_path(directory, "", path);
    if (result == 0)
        result = mark_path(directory, ".tmp", beside);
    if (result == 0)
        result = write_file(beside, mark);
    if (result == 0)
        result = io_rename("importing.rename", beside, path);
    return result != 0 ? result : io_sync_directory("importing.directory", directory);
}

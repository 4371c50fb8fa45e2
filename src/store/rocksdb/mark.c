/*
 * If its manifest is truncated, RocksDB assumes that the last entry was never completed and opens
 * the database without it: rows that were flushed are then missing without an error. Therefore
 * every flush records the position that it reached in a file of our own, and a store that opens
 * with a lower position is damaged.
 *
 * The file DURABLE is "laudmark", u64 position, u64 XXH3-64 of these 16 bytes; big-endian. The new
 * file is written beside the old one, synced and renamed, so the file is always either the old or
 * the new one.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

#include "base/io.h"
#include "store/rocksdb/private.h"

enum { MARK_BYTES = 24 };

static void mark_encode(uint8_t out[MARK_BYTES], uint64_t position)
{
    memcpy(out, "laudmark", 8);
    put_u64(out + 8, position);
    put_u64(out + 16, XXH3_64bits(out, 16));
}

static int write_file(const char *path, uint64_t position)
{
    uint8_t bytes[MARK_BYTES];
    mark_encode(bytes, position);
    int fd = io_open("store.mark.open", path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return fd;
    int result = io_pwrite_all("store.mark.write", fd, bytes, sizeof(bytes), 0);
    if (result == 0)
        result = io_sync("store.mark.sync", fd);
    int closed = io_close("store.mark.close", fd);
    return result != 0 ? result : closed;
}

int store_mark_write(const char *directory, uint64_t position)
{
    char *path, *beside;
    if (asprintf(&path, "%s/" MARK_NAME, directory) < 0)
        return -ENOMEM;
    if (asprintf(&beside, "%s.new", path) < 0) {
        free(path);
        return -ENOMEM;
    }
    int result = write_file(beside, position);
    if (result == 0)
        result = io_rename("store.mark.rename", beside, path);
    if (result == 0)
        result = io_sync_directory("store.mark.directory", directory);
    free(beside);
    free(path);
    return result;
}

int store_mark_read(const char *directory, uint64_t *position)
{
    char *path;
    if (asprintf(&path, "%s/" MARK_NAME, directory) < 0)
        return -ENOMEM;
    int fd = io_open("store.mark.open", path, O_RDONLY | O_CLOEXEC, 0);
    free(path);
    if (fd < 0)
        return fd;
    uint8_t bytes[MARK_BYTES + 1], expected[MARK_BYTES];
    ssize_t length = io_pread("store.mark.read", fd, bytes, sizeof(bytes), 0);
    io_close("store.mark.close", fd);
    if (length < 0)
        return (int)length;
    *position = length == MARK_BYTES ? get_u64(bytes + 8) : 0;
    mark_encode(expected, *position);
    return length == MARK_BYTES && memcmp(bytes, expected, MARK_BYTES) == 0 ? 0 : -EBADMSG;
}

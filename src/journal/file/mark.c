/*
 * The file is two blocks of 4096 bytes, each beginning with a slot of 48 bytes, little-endian:
 *
 *      0  8   magic "laud-mrk"
 *      8  u32 format version, 1
 *     12  u32 0
 *     16  u64 sequence number of the write; it goes to slot (sequence mod 2)
 *     24  u64 position: all records before it are on disk
 *     32  u64 chain value at that position
 *     40  u64 XXH3-64 of bytes 0 to 40
 *
 * The slots are written alternately and are in different blocks, so after a write that a power cut
 * has interrupted the other slot is still valid. Of two valid slots the one with the higher
 * sequence number counts.
 */
#include "journal/file/mark.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/file_header.h"
#include "base/io.h"
#include "base/little.h"
#include "journal/file/path.h"

#define MARK_BLOCK 4096
#define MARK_SLOT  48
#define MARK_CHECK 40

static const struct file_format format = {"laud-mrk", 1};

static void slot_encode(const struct mark *mark, uint8_t out[MARK_SLOT])
{
    file_header_begin(out, MARK_SLOT, &format);
    little_put64(out + 16, mark->sequence);
    little_put64(out + 24, mark->position);
    little_put64(out + 32, mark->chain);
    file_header_seal(out, MARK_CHECK);
}

static bool slot_decode(const uint8_t bytes[MARK_SLOT], struct mark *out)
{
    if (!file_header_is_good(bytes, &format, MARK_CHECK))
        return false;
    out->sequence = little_get64(bytes + 16);
    out->position = little_get64(bytes + 24);
    out->chain = little_get64(bytes + 32);
    return true;
}

enum status mark_read(const char *directory, struct mark *mark, int *error)
{
    char path[JOURNAL_PATH_BYTES];
    journal_path(path, directory, MARK_NAME);
    int fd = io_open("mark.open", path, O_RDONLY, 0);
    if (fd < 0) {
        *error = -fd;
        return STATUS_IO_FAILED;
    }
    uint8_t bytes[MARK_BLOCK + MARK_SLOT] = {0};
    ssize_t got = io_pread("mark.read", fd, bytes, sizeof bytes, 0);
    io_close("mark.close", fd);
    if (got < 0) {
        *error = (int)-got;
        return STATUS_IO_FAILED;
    }
    struct mark slots[2];
    bool good[2] = {slot_decode(bytes, &slots[0]), slot_decode(bytes + MARK_BLOCK, &slots[1])};
    if (!good[0] && !good[1])
        return STATUS_DAMAGED;
    *mark = good[1] && (!good[0] || slots[1].sequence > slots[0].sequence) ? slots[1] : slots[0];
    return STATUS_OK;
}

int mark_write(int fd, struct mark *mark, uint64_t position, uint64_t chain)
{
    uint8_t slot[MARK_SLOT];
    mark->sequence++;
    mark->position = position;
    mark->chain = chain;
    slot_encode(mark, slot);
    return io_pwrite_all("mark.write", fd, slot, sizeof slot, mark->sequence % 2 * MARK_BLOCK);
}

int mark_make(const char *directory)
{
    char path[JOURNAL_PATH_BYTES];
    char unfinished[JOURNAL_PATH_BYTES];
    journal_path(path, directory, MARK_NAME);
    journal_path(unfinished, directory, MARK_NAME ".tmp");
    int fd = io_open("mark.make", unfinished, O_RDWR | O_CREAT | O_TRUNC, 0666);
    if (fd < 0)
        return fd;

    uint8_t blocks[2 * MARK_BLOCK] = {0};
    slot_encode(&(struct mark){.sequence = 0}, blocks);
    slot_encode(&(struct mark){.sequence = 1}, blocks + MARK_BLOCK);
    int result = io_pwrite_all("mark.write", fd, blocks, sizeof blocks, 0);
    if (result == 0)
        result = io_sync("mark.sync", fd);
    io_close("mark.close", fd);
    if (result == 0)
        result = io_rename("mark.rename", unfinished, path);
    if (result == 0)
        result = io_sync_directory("directory.sync", directory);
    return result;
}

int mark_open(const char *directory)
{
    char path[JOURNAL_PATH_BYTES];
    journal_path(path, directory, MARK_NAME);
    return io_open("mark.open", path, O_RDWR, 0);
}

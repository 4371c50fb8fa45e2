/*
 * A comment in the temporary file: the user 16 bytes, then five times a length of 4 bytes and the bytes: id, name,
 * link, page, text. Numbers are in the order of this machine, because no other one reads the file.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/io.h"
#include "move/threads_private.h"

#define BUFFER_BYTES KIB(256)
#define TEXTS        5

_Static_assert(SPOOL_COMMENT_BYTES <= BUFFER_BYTES, "a comment fits the buffer");

int spool_open(struct spool *spool, const char *directory)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/import-%ld.tmp", directory, (long)getpid()) >=
        (int)sizeof path)
        return -ENAMETOOLONG;
    *spool = (struct spool){.fd = -1, .buffer = malloc(BUFFER_BYTES)};
    if (spool->buffer == NULL)
        return -ENOMEM;
    spool->fd =
        io_open("import.spool", path, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    return spool->fd < 0 ? spool->fd : io_unlink("import.unlink", path);
}

void spool_close(struct spool *spool)
{
    if (spool->fd >= 0)
        io_close("import.close", spool->fd);
    free(spool->buffer);
    spool->buffer = NULL;
}

int spool_flush(struct spool *spool)
{
    int result =
        io_pwrite_all("import.spool", spool->fd, spool->buffer, spool->used, (off_t)spool->written);
    if (result == 0) {
        spool->written += spool->used;
        spool->used = 0;
    }
    return result;
}

static void put(struct spool *spool, const void *bytes, size_t length)
{
    if (length > 0)
        memcpy(spool->buffer + spool->used, bytes, length);
    spool->used += length;
}

static void put_text(struct spool *spool, struct text text, size_t most)
{
    uint32_t length = (uint32_t)(text.length < most ? text.length : most);
    put(spool, &length, sizeof length);
    put(spool, text.bytes, length);
}

int spool_add(struct spool *spool, const struct foreign_comment *comment, uint64_t *offset)
{
    int result = 0;
    if (spool->used + SPOOL_COMMENT_BYTES > BUFFER_BYTES)
        result = spool_flush(spool);
    if (result != 0)
        return result;
    *offset = spool->written + spool->used;
    put(spool, &comment->user, sizeof comment->user);
    put_text(spool, comment->id, FOREIGN_FIELD_BYTES);
    put_text(spool, comment->name, FOREIGN_FIELD_BYTES);
    put_text(spool, comment->link, FOREIGN_FIELD_BYTES);
    put_text(spool, comment->page, FOREIGN_FIELD_BYTES);
    bool taken = comment->reason == FOREIGN_GOOD;
    put_text(spool, taken ? comment->text : (struct text){"", 0}, LIMIT_COMMENT_TEXT);
    return 0;
}

int spool_read(const struct spool *spool, uint64_t offset, char *room, struct spooled *out)
{
    struct text *texts[TEXTS] = {&out->id, &out->name, &out->link, &out->page, &out->text};
    ssize_t got = io_pread("import.read", spool->fd, room, SPOOL_COMMENT_BYTES, (off_t)offset);
    size_t at = sizeof out->user;
    if (got < (ssize_t)at)
        return got < 0 ? (int)got : -EIO;
    memcpy(&out->user, room, at);
    for (unsigned i = 0; i < TEXTS; i++) {
        uint32_t length;
        if ((size_t)got - at < sizeof length)
            return -EIO;
        memcpy(&length, room + at, sizeof length);
        at += sizeof length;
        if ((size_t)got - at < length)
            return -EIO;
        *texts[i] = (struct text){room + at, length};
        at += length;
    }
    return 0;
}

/* The file is one line of text: "laud-seed 1 " and 16 hexadecimal digits; 1 is the format version. */
#include "cli/seed.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/log.h"

#define LINE       "laud-seed 1 %016" PRIx64 "\n"
#define LINE_BYTES (sizeof "laud-seed 1 0123456789abcdef\n" - 1)

uint64_t seed_new(void)
{
    uint64_t seed;
    return getrandom(&seed, sizeof seed, 0) == sizeof seed ? seed : clock_monotonic_ns();
}

/* 0, -ENOENT or another -errno; -EBADMSG: the file has other content. */
static int seed_read(const char *path, uint64_t *seed)
{
    char text[LINE_BYTES + 2] = "";
    char again[LINE_BYTES + 1];
    int fd = io_open("seed.open", path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return fd;
    ssize_t length = io_pread("seed.read", fd, text, sizeof text - 1, 0);
    io_close("seed.close", fd);
    if (length < 0)
        return (int)length;
    if (length != (ssize_t)LINE_BYTES)
        return -EBADMSG;
    *seed = strtoull(text + LINE_BYTES - 17, NULL, 16);
    snprintf(again, sizeof again, LINE, *seed); /* it differs if the file has anything else */
    return strcmp(text, again) == 0 ? 0 : -EBADMSG;
}

static int write_line(void *context, int fd)
{
    char text[LINE_BYTES + 1];
    snprintf(text, sizeof text, LINE, *(const uint64_t *)context);
    return io_pwrite_all("seed.write", fd, text, LINE_BYTES, 0);
}

uint64_t seed_keep(const char *directory)
{
    static const struct io_replace_points points = {.make = "seed.make",
                                                    .sync = "seed.sync",
                                                    .close = "seed.close",
                                                    .rename = "seed.rename",
                                                    .unlink = "seed.unlink"};
    char path[PATH_MAX];
    uint64_t seed = seed_new();
    if (snprintf(path, sizeof path, "%s/" SEED_NAME, directory) >= (int)sizeof path)
        return seed;
    uint64_t kept = 0;
    int result = seed_read(path, &kept);
    if (result == 0)
        return kept;
    if (result != -ENOENT)
        log_warn("%s cannot be read: %s; the server writes a new one", path,
                 result == -EBADMSG ? "it is not a seed file of Laud" : strerror(-result));
    result = io_replace(&points, path, write_line, &seed);
    if (result != 0)
        log_warn("%s was not written: %s; the next start may need somewhat more memory", path,
                 strerror(-result));
    return seed;
}

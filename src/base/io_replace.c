#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/io.h"

/* Writes the path of the directory of a file into `out`. */
static void directory_of(const char *path, char out[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        snprintf(out, PATH_MAX, ".");
    else
        snprintf(out, PATH_MAX, "%.*s", slash == path ? 1 : (int)(slash - path), path);
}

int io_replace(const struct io_replace_points *points, const char *path,
               int (*write)(void *context, int fd), void *context)
{
    char unfinished[PATH_MAX];
    char directory[PATH_MAX];
    if (snprintf(unfinished, sizeof unfinished, "%s.tmp", path) >= (int)sizeof unfinished)
        return -ENAMETOOLONG;
    directory_of(path, directory);

    int fd = io_open(points->make, unfinished, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0)
        return fd;
    int result = write(context, fd);
    if (result == 0)
        result = io_sync(points->sync, fd);
    int closed = io_close(points->close, fd);
    if (result == 0)
        result = closed;
    if (result == 0)
        result = io_rename(points->rename, unfinished, path);
    if (result != 0) {
        /* It takes space, and the next attempt writes it again anyway. */
        io_unlink(points->unlink, unfinished);
        return result;
    }
    return io_sync_directory("directory.sync", directory);
}

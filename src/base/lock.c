/*
 * flock is used rather than fcntl, because a flock belongs to the open file: a library that opens
 * and closes the same path in this process cannot release it. The process id in the file is only
 * shown to people, so an outdated id does no harm.
 */
#include "base/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/io.h"

static int lock_fail(int fd, char *problem, size_t size, const char *what, const char *path,
                     int error)
{
    snprintf(problem, size, "cannot %s %s: %s", what, path, strerror(error));
    if (fd >= 0)
        close(fd);
    return -1;
}

static int lock_refuse(int fd, char *problem, size_t size, const char *directory)
{
    char holder[16] = "";
    ssize_t got = io_pread("lock.read", fd, holder, sizeof holder - 1, 0);
    size_t digits = got > 0 ? strspn(holder, "0123456789") : 0;
    if (digits > 0)
        snprintf(problem, size, "the data directory %s is in use by process %.*s", directory,
                 (int)digits, holder);
    else
        snprintf(problem, size, "the data directory %s is in use by another process", directory);
    close(fd);
    return -1;
}

static int write_holder(int fd)
{
    char text[16];
    int length = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    int result = io_truncate("lock.truncate", fd, 0);
    return result < 0 ? result : io_pwrite_all("lock.write", fd, text, (size_t)length, 0);
}

int lock_take(const char *directory, bool shared, char *problem, size_t size)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/LOCK", directory) >= (int)sizeof path) {
        snprintf(problem, size, "the path of the data directory is too long");
        return -1;
    }
    int fd = io_open("lock.open", path, shared ? O_RDONLY : O_RDWR | O_CREAT, 0666);
    if (fd == -ENOENT && shared)
        fd = io_open("lock.open", directory, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return lock_fail(-1, problem, size, "open", path, -fd);
    if (flock(fd, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) < 0) {
        if (errno == EWOULDBLOCK)
            return lock_refuse(fd, problem, size, directory);
        return lock_fail(fd, problem, size, "lock", path, errno);
    }
    /*
     * A failure here, for example on a full disk, is ignored: the lock is held, and only the
     * message for others lacks the process id.
     */
    if (!shared)
        (void)write_holder(fd);
    return fd;
}

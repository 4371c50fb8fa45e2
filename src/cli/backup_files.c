/*
 * What is written is synced every few MiB. Otherwise the kernel would collect hundreds of MiB and write
 * them at once, and a sync of the server's journal would have to wait for them.
 */
#include "cli/backup_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <xxhash.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/limits.h"

#define STEP_BYTES KIB(256)
#define SYNC_BYTES MIB(4)

#define IOPRIO_OF_PROCESS 1                 /* IOPRIO_WHO_PROCESS; glibc has no header for it */
#define IOPRIO_LOW        ((2U << 13) | 7U) /* the lowest level of the class best effort */
#define LOWEST_PRIORITY   19

bool copier_open(struct copier *copier, const char *program, const char *what, uint64_t speed)
{
    *copier = (struct copier){.speed = speed,
                              .began_ns = clock_monotonic_ns(),
                              .buffer = malloc(STEP_BYTES),
                              .bar = progress_bar_start(program, what, isatty(2) == 1)};
    return copier->buffer != NULL;
}

void copier_close(struct copier *copier)
{
    progress_bar_end(&copier->bar);
    free(copier->buffer);
    copier->buffer = NULL;
}

/* If this is refused, the priority is the usual one. */
void copier_be_gentle(void)
{
    (void)setpriority(PRIO_PROCESS, 0, LOWEST_PRIORITY);
    (void)syscall(SYS_ioprio_set, IOPRIO_OF_PROCESS, 0, IOPRIO_LOW);
}

enum status copier_fail(struct copier *copier, const char *what, const char *path, int error)
{
    snprintf(copier->problem, sizeof copier->problem, "cannot %s %s: %s", what, path,
             strerror(-error));
    return error == -ENOSPC || error == -EDQUOT ? STATUS_DISK_FULL : STATUS_IO_FAILED;
}

enum status copier_facts(struct copier *copier, const char *path, struct file_facts *out)
{
    struct stat found;
    if (stat(path, &found) < 0)
        return copier_fail(copier, "examine", path, -errno);
    *out = (struct file_facts){.bytes = (uint64_t)found.st_size,
                               .device = found.st_dev,
                               .inode = found.st_ino,
                               .changed_ns = (uint64_t)found.st_mtim.tv_sec * 1000000000 +
                                             (uint64_t)found.st_mtim.tv_nsec};
    return STATUS_OK;
}

/* Waits as long as the speed demands. */
static void keep_pace(struct copier *copier, size_t bytes)
{
    copier->done += bytes;
    progress_bar_show(&copier->bar, copier->done, copier->total);
    if (copier->speed == 0)
        return;
    double due_ns = (double)copier->done / (double)copier->speed * 1e9;
    double ahead_ns = due_ns - (double)(clock_monotonic_ns() - copier->began_ns);
    if (ahead_ns < 1e6)
        return;
    uint64_t nap = (uint64_t)ahead_ns;
    nanosleep(&(struct timespec){(time_t)(nap / 1000000000), (long)(nap % 1000000000)}, NULL);
}

/* Reads from one open file and, unless `to` is -1, writes to another one. */
static enum status pass(struct copier *copier, int from, const char *from_path, int to,
                        const char *to_path, uint64_t *bytes, XXH3_state_t *state)
{
    for (*bytes = 0;;) {
        ssize_t got = io_pread("backup.read", from, copier->buffer, STEP_BYTES, *bytes);
        if (got < 0)
            return copier_fail(copier, "read", from_path, (int)got);
        if (got == 0)
            return STATUS_OK;
        XXH3_64bits_update(state, copier->buffer, (size_t)got);
        int result = 0;
        if (to >= 0)
            result = io_pwrite_all("backup.write", to, copier->buffer, (size_t)got, *bytes);
        *bytes += (uint64_t)got;
        if (result == 0 && to >= 0 && *bytes % SYNC_BYTES == 0)
            result = io_sync_data("backup.sync", to);
        if (result != 0)
            return copier_fail(copier, "write", to_path, result);
        keep_pace(copier, (size_t)got);
    }
}

static enum status pass_opened(struct copier *copier, int from, const char *from_path, int to,
                               const char *to_path, uint64_t *bytes, uint64_t *check)
{
    XXH3_state_t *state = XXH3_createState();
    if (state == NULL)
        return copier_fail(copier, "read", from_path, -ENOMEM);
    XXH3_64bits_reset(state);
    enum status status = pass(copier, from, from_path, to, to_path, bytes, state);
    *check = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    int result = status == STATUS_OK && to >= 0 ? io_sync("backup.sync", to) : 0;
    return result == 0 ? status : copier_fail(copier, "write", to_path, result);
}

enum status copier_check(struct copier *copier, const char *path, uint64_t *bytes, uint64_t *check)
{
    int fd = io_open("backup.open", path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return copier_fail(copier, "open", path, fd);
    enum status status = pass_opened(copier, fd, path, -1, "", bytes, check);
    io_close("backup.close", fd);
    return status;
}

enum status copier_copy(struct copier *copier, const char *from, const char *to, uint64_t *bytes,
                        uint64_t *check)
{
    int in = io_open("backup.open", from, O_RDONLY | O_CLOEXEC, 0);
    if (in < 0)
        return copier_fail(copier, "open", from, in);
    int out = io_open("backup.make", to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    enum status status = out < 0 ? copier_fail(copier, "make", to, out)
                                 : pass_opened(copier, in, from, out, to, bytes, check);
    if (out >= 0)
        posix_fadvise(out, 0, 0, POSIX_FADV_DONTNEED);
    int closed = out >= 0 ? io_close("backup.close", out) : 0;
    io_close("backup.close", in);
    if (status == STATUS_OK && closed != 0)
        status = copier_fail(copier, "write", to, closed);
    return status;
}

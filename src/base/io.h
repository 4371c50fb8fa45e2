/*
 * Every file operation the server makes goes through here, so that tests can make any one of them
 * fail. Each call names its point ("segment.write", "mark.sync", …); in builds with -Dfaults=true
 * a plan such as LAUD_FAULTS="segment.write:3:EIO,segment.sync:1:skip" (point:nth call:what) makes
 * the nth call there return that error, write short, be interrupted, or be left out. "*" matches
 * every point, so a test can walk a whole run failing call 1, 2, 3, … in turn. In other builds
 * the names cost nothing.
 *
 * EINTR and short transfers are handled here: io_pwrite_all and io_pwritev_all return 0 when all of
 * it went through, io_pread how many bytes there were up to `length`; or -errno. Nothing else is
 * ever retried.
 *
 * What: EIO, ENOSPC, EDQUOT, EMFILE, EINTR (once, then the call goes on), SHORT (half the bytes,
 * then the call goes on), SKIP (claim success, do nothing), KILL (the process ends there and then,
 * before the call, as with kill -9). "3+" instead of "3" means the third call and all after it.
 *
 * Between its steps a thread may name points that are no calls, so that it can be killed there.
 */
#ifndef LAUD_BASE_IO_H
#define LAUD_BASE_IO_H

#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

int io_open(const char *point, const char *path, int flags, mode_t mode); /* fd or -errno */
int io_close(const char *point, int fd);
int io_pwrite_all(const char *point, int fd, const void *bytes, size_t length, uint64_t offset);
int io_pwritev_all(const char *point, int fd, struct iovec *parts, int count, uint64_t offset);
ssize_t io_pread(const char *point, int fd, void *bytes, size_t length, uint64_t offset);
int io_sync_data(const char *point, int fd); /* fdatasync; its failure is final */
int io_sync(const char *point, int fd);      /* fsync; likewise */
int io_sync_directory(const char *point, const char *path);
int io_allocate(const char *point, int fd, uint64_t length);
int io_truncate(const char *point, int fd, uint64_t length);
int io_rename(const char *point, const char *from, const char *to);
int io_unlink(const char *point, const char *path);
int io_make_directory(const char *point, const char *path, mode_t mode); /* 0 also if it exists */
int io_size(const char *point, int fd, uint64_t *size);

/* Every name in a directory, in no order, "." and ".." too; a value other than 0 ends it. */
typedef int io_list_fn(void *context, const char *name);
int io_list(const char *point, const char *path, io_list_fn *visit, void *context);

/*
 * Replaces a whole file: `write` (0 or -errno) fills another beside it, which is synced and renamed, and
 * the directory is synced. 0 or -errno; after an error the file is the one before, or the new one if
 * only the directory could not be synced.
 */
struct io_replace_points {
    const char *make;
    const char *sync;
    const char *close;
    const char *rename;
    const char *unlink;
};
int io_replace(const struct io_replace_points *points, const char *path,
               int (*write)(void *context, int fd), void *context);

#ifdef LAUD_FAULTS
void io_fault_point(const char *point);
#else
static inline void io_fault_point(const char *point)
{
    (void)point;
}
#endif

/* Builds with faults only: replaces the plan (NULL: none); how many calls were counted since. */
int io_faults_plan(const char *plan); /* 0, or -EINVAL if it cannot be understood */
uint64_t io_faults_calls(void);
uint64_t io_faults_calls_at(const char *point);

#endif

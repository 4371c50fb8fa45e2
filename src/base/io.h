/*
 * All file operations of the server. They go through these functions so that tests can make any of
 * them fail. Each call has the name of a point ("segment.write", "mark.sync", …). In builds with
 * -Dfaults=true a plan such as LAUD_FAULTS="segment.write:3:EIO,segment.sync:1:skip"
 * (point:n:effect) changes the nth call at a point. "*" matches every point, so a test can repeat a
 * run and make call 1, 2, 3, … fail. "3+" instead of "3" means the third call and all later ones.
 * In other builds the names cost nothing.
 *
 * Effects: EIO, ENOSPC, EDQUOT and EMFILE are returned as errors. EINTR interrupts the call once.
 * SHORT transfers only half of the bytes at first. SKIP reports success without doing anything.
 * KILL ends the process before the call, like kill -9.
 *
 * EINTR and short transfers are handled here; nothing else is ever retried. io_pwrite_all and
 * io_pwritev_all return 0 when all bytes are written; io_pread returns the number of bytes read, at
 * most `length`. All functions return -errno on failure. Any thread may call.
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
int io_sync_data(const char *point, int fd); /* fdatasync; never retry it after a failure */
int io_sync(const char *point, int fd);      /* fsync; never retry it either */
int io_sync_directory(const char *point, const char *path);
int io_allocate(const char *point, int fd, uint64_t length);
int io_truncate(const char *point, int fd, uint64_t length);
int io_rename(const char *point, const char *from, const char *to);
int io_unlink(const char *point, const char *path);
int io_link(const char *point, const char *from, const char *to); /* a hard link */
int io_make_directory(const char *point, const char *path, mode_t mode); /* 0 also if it exists */
int io_size(const char *point, int fd, uint64_t *size);

/*
 * Calls `visit` for every name in a directory, including "." and "..", in no particular order. A
 * result of `visit` other than 0 ends the listing and is returned.
 */
typedef int io_list_fn(void *context, const char *name);
int io_list(const char *point, const char *path, io_list_fn *visit, void *context);

/*
 * Replaces a whole file: `write` (0 or -errno) fills a new file beside it, the new file is synced
 * and renamed over the old one, and the directory is synced. Returns 0 or -errno. After an error
 * the old file is still there, or the new one if only the sync of the directory failed.
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

/*
 * Only in builds with faults. io_faults_plan replaces the plan (NULL: no faults) and resets the
 * counts of calls that the other two functions return.
 */
int io_faults_plan(const char *plan); /* 0, or -EINVAL if the plan has a syntax error */
uint64_t io_faults_calls(void);
uint64_t io_faults_calls_at(const char *point);

#endif

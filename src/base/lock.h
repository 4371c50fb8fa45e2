/*
 * The lock of a data directory: its file LOCK, held with flock while the returned descriptor is
 * open. So the lock is released when the process ends, even if it is killed. A server takes the
 * lock exclusively and writes its process id into the file, for the error message of any other
 * process that needs the lock.
 */
#ifndef LAUD_BASE_LOCK_H
#define LAUD_BASE_LOCK_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Takes the lock of `directory`, exclusively or shared with other readers. A shared lock writes
 * nothing; if there is no LOCK file, no server has ever used the directory, and the call succeeds.
 * Returns a descriptor, which the caller keeps open and finally closes, or -1 with one sentence in
 * `problem`.
 */
int lock_take(const char *directory, bool shared, char *problem, size_t size);

#endif

/*
 * The lock of a data directory: the file LOCK in it, held with flock for as long as the returned
 * descriptor is open, so it goes when the process goes, however it goes. A server takes it alone
 * and writes its process id there, for the message that the next one prints.
 */
#ifndef LAUD_BASE_LOCK_H
#define LAUD_BASE_LOCK_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Takes the lock of `directory`, alone, or shared with other readers. Shared, nothing is written;
 * where there is no LOCK file no server ever ran, and that is as good as the lock. Returns a
 * descriptor to keep open and at last to close, or -1 with one sentence in `problem`.
 */
int lock_take(const char *directory, bool shared, char *problem, size_t size);

#endif

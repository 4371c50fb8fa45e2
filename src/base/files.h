/*
 * Distributes the open files that the system allows this process (RLIMIT_NOFILE). The server's own
 * files have priority: a store or journal that cannot open a file stops working, whereas a
 * connection that is one too many only gets an error. The remaining files are for connections and
 * live streams. Any thread may call.
 */
#ifndef LAUD_BASE_FILES_H
#define LAUD_BASE_FILES_H

#include <stdbool.h>
#include <stdint.h>

struct files {
    uint64_t own;     /* for the server's own files and the connections that it is refusing */
    uint64_t places;  /* for accepted connections and live streams together */
    uint32_t refused; /* connections that one I/O thread may be refusing at the same time */
};

/*
 * Raises the limit to `wanted` if possible, also the hard limit where the system permits it.
 * Returns the limit after that.
 */
uint64_t files_raise(uint64_t wanted);
uint64_t files_allowed(void);

/* How many of `allowed` files RocksDB may keep open. */
uint32_t files_of_store(uint64_t allowed);

/* How many files are enough for this configuration. */
uint64_t files_wanted(unsigned threads, uint64_t connections, uint64_t streams);

/*
 * Fills *files. False: `allowed` is too small to serve any client; `own` and a few more are needed.
 */
bool files_share(struct files *files, uint64_t allowed, unsigned threads);

#endif

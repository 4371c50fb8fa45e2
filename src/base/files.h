/*
 * How the open files that the system allows this process (RLIMIT_NOFILE) are shared out. The server
 * comes first: a store or a journal that cannot open a file stands still, a connection that is one too
 * many is told so. What is left is for connections and live streams.
 */
#ifndef LAUD_BASE_FILES_H
#define LAUD_BASE_FILES_H

#include <stdbool.h>
#include <stdint.h>

struct files {
    uint64_t own;     /* what the server may have open itself, and what it is refusing */
    uint64_t places;  /* for connections and live streams together */
    uint32_t refused; /* connections of one I/O thread that are being refused at a time */
};

/* Asks for as many as `wanted`, past the hard limit where that is allowed; how many there are now. */
uint64_t files_raise(uint64_t wanted);
uint64_t files_allowed(void);

/* Of so many, what RocksDB keeps open. */
uint32_t files_of_store(uint64_t allowed);

/* So many are enough for all of it. */
uint64_t files_wanted(unsigned threads, uint64_t connections, uint64_t streams);

/* False: there are too few to serve anybody; `own` and a few more are needed. */
bool files_share(struct files *files, uint64_t allowed, unsigned threads);

#endif

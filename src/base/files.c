#include "base/files.h"

#include <sys/resource.h>

#include "base/limits.h"

#define STORE_PART   8  /* the store gets at most 1 of this many files */
#define STORE_MIN    64 /* the store needs these for merging, however few it keeps open */
#define REFUSED_PART 8  /* 1 of this many files is for connections that are being refused */
#define LOOP_FILES   10 /* for an I/O thread: listeners, libuv's own, one being accepted */

/*
 * Files of the journal, of checkpoints, of RocksDB's log, manifest and output, and some that this
 * process inherited from its parent.
 */
#define RESERVE 64

#define PLACES_MIN 16 /* with fewer connections the server does not start */

static uint64_t within(uint64_t value, uint64_t least, uint64_t most)
{
    return value < least ? least : value > most ? most : value;
}

uint64_t files_allowed(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

uint64_t files_raise(uint64_t wanted)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= wanted)
        return files_allowed();
    struct rlimit raised = {wanted, wanted > limit.rlim_max ? wanted : limit.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &raised) < 0) {
        raised = (struct rlimit){limit.rlim_max, limit.rlim_max};
        setrlimit(RLIMIT_NOFILE, &raised);
    }
    return files_allowed();
}

uint32_t files_of_store(uint64_t allowed)
{
    return (uint32_t)within(allowed / STORE_PART, STORE_MIN, LIMIT_STORE_FILES);
}

uint64_t files_wanted(unsigned threads, uint64_t connections, uint64_t streams)
{
    return LIMIT_STORE_FILES + RESERVE + threads * (uint64_t)(LOOP_FILES + LIMIT_REFUSED) +
           connections + streams;
}

bool files_share(struct files *files, uint64_t allowed, unsigned threads)
{
    files->refused = (uint32_t)within(allowed / REFUSED_PART / threads, 1, LIMIT_REFUSED);
    files->own = files_of_store(allowed) + RESERVE + threads * (LOOP_FILES + files->refused);
    files->places = allowed > files->own ? allowed - files->own : 0;
    return files->places >= PLACES_MIN;
}

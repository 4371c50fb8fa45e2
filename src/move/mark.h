/*
 * The file `importing` of a data directory: up to which position its journal may hold events that
 * were taken over, and how far the last import has got in its source.
 *
 * Events that were taken over carry times of long ago, and the hot tier takes only what was decided
 * at times that never fall; so where the journal goes back to before `until`, it is carried to the
 * store and not to memory. Written before the first such event.
 */
#ifndef LAUD_MOVE_MARK_H
#define LAUD_MOVE_MARK_H

#include <stdint.h>

#include "base/status.h"

#define MOVE_MARK_NAME "importing"

/* A file that rows come from. All 0: there is none that could be known again. */
struct move_source {
    uint64_t bytes;
    uint64_t changed_ns; /* when it last was */
    uint64_t check;      /* of its first bytes */
};

struct move_mark {
    uint64_t until; /* UINT64_MAX: an import is under way, or was left */
    struct move_source source;
    uint64_t offset; /* all before it in the source is taken over */
    uint64_t line;   /* how many lines that are */
};

/* OK also where there is none: then it is all 0. DAMAGED, IO_FAILED: `until` is UINT64_MAX. */
enum status move_mark_read(const char *directory, struct move_mark *mark);

/* On disk when it returns 0; else -errno, and the file is the one before or the new one. */
int move_mark_write(const char *directory, const struct move_mark *mark);

#endif

/*
 * The progress record of imports, the file `importing` of a data directory. It says up to which position
 * the journal may have imported events, and how far the last import got in its source.
 *
 * Imported events have old times, but the hot tier needs times that never go backwards. So if a start has
 * to replay the journal from before `until`, it writes these events to the store and not to memory. The
 * file is written before the first imported event.
 */
#ifndef LAUD_MOVE_MARK_H
#define LAUD_MOVE_MARK_H

#include <stdint.h>

#include "base/status.h"

#define MOVE_MARK_NAME "importing"

/* Identifies the file that rows are read from. All 0: the source is not a file, such as a pipe. */
struct move_source {
    uint64_t bytes;
    uint64_t changed_ns; /* when the file was last changed */
    uint64_t check;      /* a checksum of its first bytes */
};

struct move_mark {
    uint64_t until; /* UINT64_MAX: an import is in progress, or did not finish */
    struct move_source source;
    uint64_t offset;   /* everything before this offset of the source is imported */
    uint64_t line;     /* how many lines these are */
    uint32_t newest_s; /* no imported event is later, and no later decision may be earlier */
};

/* OK, also if there is no file: then all is 0. DAMAGED, IO_FAILED: `until` is UINT64_MAX. */
enum status move_mark_read(const char *directory, struct move_mark *mark);

/* 0: the file is on disk. Otherwise -errno, and the file is either the old or the new one. */
int move_mark_write(const char *directory, const struct move_mark *mark);

#endif

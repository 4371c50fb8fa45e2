/*
 * For backups: copies the end of a journal up to a position, so that the copy is a journal that ends
 * there. The original may be in use: what is before a durable position never changes.
 *
 * The functions have no state, and any thread may call them. After DAMAGED or IO_FAILED `problem` has
 * a sentence.
 */
#ifndef LAUD_JOURNAL_FILE_CUT_H
#define LAUD_JOURNAL_FILE_CUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "journal/event.h"

struct journal_segment {
    uint64_t number;
    uint64_t position; /* of its first record */
    char name[24];     /* of its file */
};

/* All segments in order; only their headers are read. The caller frees *out. */
enum status journal_file_segments(const char *directory, struct journal_segment **out,
                                  size_t *count, char *problem, size_t size);

/* Where a copy ends. */
struct journal_cut {
    uint64_t until; /* in: a position between two events, not before the segment begins */
    /* In: appended to the copy, with the position `until`; NULL: nothing is appended. */
    const struct event *more;
    uint64_t position; /* out: the end of the copy */
    uint64_t chain;    /* out: the chain value there (segment.c) */
};

/*
 * Copies a segment from the directory `from` to `to` up to `until`, and writes the file `mark` there.
 * The copy is on disk when this returns OK. If `until` is inside a batch, the batch is written again
 * without the rest. DISK_FULL: there is no room.
 */
enum status journal_file_copy_last(const char *from, uint64_t number, const char *to,
                                   struct journal_cut *cut, char *problem, size_t size);

/* The chain value at a position between two batches. DAMAGED, also if no batch ends there. */
enum status journal_file_chain(const char *directory, uint64_t position, uint64_t *chain,
                               char *problem, size_t size);

#endif

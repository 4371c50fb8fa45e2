/*
 * The internals of an export, shared by export.c (names, reactions, counters) and export_comments.c. Bytes
 * are gathered in a buffer; after a failure to write, nothing more is written, and `failed` says why.
 */
#ifndef LAUD_MOVE_EXPORT_PRIVATE_H
#define LAUD_MOVE_EXPORT_PRIVATE_H

#include "base/id.h"
#include "base/text.h"
#include "move/export.h"

struct export
{
    struct store *store;
    const struct names *names;
    const struct export_times *times;
    struct export_report *report;
    export_progress_fn *progress;
    void *context;
    uint64_t total;
    int fd;
    size_t used;
    char *buffer;
    enum status failed;
};

/* Writes bytes of a line. */
void export_put(struct export *export, const char *bytes, size_t length);
/* Counts a row for the progress. */
void export_tell(struct export *export);
/* The time of the clock at a recorded time, not later than now. */
uint32_t export_time(const struct export *export, uint32_t recorded_s);

/* Writes subjects, comments, bans and inboxes. */
enum status export_comments(struct export *export);

#endif

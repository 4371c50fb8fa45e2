/*
 * Writes everything that a store has as lines of JSON, which an import can read: first the names, in the
 * order of their indices, then the reactions, then the counters that are not numbers of reactions or
 * comments, each in the order of the store's keys, then subjects with their comments (comment_line.h), bans
 * and inboxes. This order depends only on the rows and the indices of names. So if
 * an export is imported into an empty directory and exported again, the bytes are the same.
 *
 * One thread exports.
 */
#ifndef LAUD_MOVE_EXPORT_H
#define LAUD_MOVE_EXPORT_H

#include <stdint.h>

#include "base/names.h"
#include "base/status.h"
#include "store/store.h"
#include "time/timeline.h"

/* Is called from time to time. `total` is an estimate. */
typedef void export_progress_fn(void *context, uint64_t rows, uint64_t total);

struct export_report {
    uint64_t names;
    uint64_t reactions;
    uint64_t counters;
    uint64_t subjects;
    uint64_t comments;
    uint64_t bans;
    uint64_t notices; /* entries of inboxes */
    uint64_t future;  /* reactions whose time was later than now */
    int error;        /* errno, if writing failed */
};

/* How times are written: as times of the clock, and none later than now_s, which imports would refuse. */
struct export_times {
    struct timeline *timeline;
    uint32_t now_s;
};

/*
 * Writes to a file or a pipe, which belongs to the caller. Returns OK; IO_FAILED, with `error` in the
 * report; or an error of the store.
 */
enum status export_write(struct store *store, const struct names *names,
                         const struct export_times *times, int fd, export_progress_fn *progress,
                         void *context, struct export_report *report);

#endif

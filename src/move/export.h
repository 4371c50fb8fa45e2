/*
 * Everything a store has, as lines of JSON that an import takes: first the names, in the order of
 * their indices, then the reactions and the counters that are not kept by them, each in the order
 * of the store's keys. That order depends on nothing but the rows and the indices of names: the same
 * rows, taken over into an empty directory, come out as the same bytes.
 */
#ifndef LAUD_MOVE_EXPORT_H
#define LAUD_MOVE_EXPORT_H

#include <stdint.h>

#include "base/names.h"
#include "base/status.h"
#include "store/store.h"
#include "time/timeline.h"

/* Now and then; the total is an estimate. */
typedef void export_progress_fn(void *context, uint64_t rows, uint64_t total);

struct export_report {
    uint64_t names;
    uint64_t reactions;
    uint64_t counters;
    uint64_t future; /* reactions that were ahead of the clock */
    int error;       /* errno, if writing failed */
};

/* How times are written: as the clock said, but none is later than now, as no import would take it. */
struct export_times {
    struct timeline *timeline;
    uint32_t now_s;
};

/* To a file or a pipe, which is the caller's. OK; IO_FAILED with an error; or what the store says. */
enum status export_write(struct store_admin *admin, const struct names *names,
                         const struct export_times *times, int fd, export_progress_fn *progress,
                         void *context, struct export_report *report);

#endif

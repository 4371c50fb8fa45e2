/*
 * The journal in files: numbered, preallocated, append-only segments in one directory, written by
 * one thread that commits in groups. The format is described at the top of segment.c.
 */
#ifndef LAUD_JOURNAL_FILE_H
#define LAUD_JOURNAL_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "journal/log.h"

struct journal_file_options {
    const char *directory; /* made if absent */
    enum durability durability;
    uint64_t interval_ms;   /* DURABILITY_INTERVAL */
    uint64_t segment_bytes; /* of one segment */
};

/* What an acknowledgement meant to a run that wrote: as a segment's header has it. */
enum journal_promise {
    JOURNAL_PROMISE_UNKNOWN, /* an older version wrote it */
    JOURNAL_PROMISE_COMMIT,
    JOURNAL_PROMISE_INTERVAL,
    JOURNAL_PROMISE_NONE,
};

enum journal_promise journal_promise_of(enum durability durability);

/* What reading a journal found; filled as far as it got, also on failure. */
struct journal_report {
    uint64_t segments;
    uint64_t events;       /* in them */
    uint64_t visited;      /* of those, from journal_reading's `from` on */
    uint64_t bytes;        /* of records */
    uint64_t bytes_total;  /* of segment files, for progress; 0 until known */
    uint64_t bytes_read;   /* of segment files so far */
    uint64_t first;        /* position of the first record there is: older ones may have gone */
    uint64_t end;          /* position after the last good record */
    uint64_t durable_mark; /* the durable-through mark: nothing below it may be missing */
    uint64_t torn_bytes;   /* bytes of a torn tail (to be) cut off, 0 if none */
    uint64_t torn_offset;  /* where in the last segment */
    char torn_segment[32];
    uint32_t torn_promise; /* enum journal_promise of the run that wrote it */
    char problem[256];     /* on DAMAGED or IO_FAILED: one sentence naming segment and offset */
};

/*
 * Each event in order. NO_MEMORY and STOPPING end the reading as they are; any other status but OK
 * says that the event is wrong, and ends it with DAMAGED and a sentence that names it.
 */
typedef enum status journal_visit_fn(void *context, const struct event *event, uint64_t position,
                                     size_t size);
/* Called now and then while reading, at least every few MiB; may be NULL. */
typedef void journal_progress_fn(void *context, const struct journal_report *report);

#define JOURNAL_FROM_FIRST UINT64_MAX

/*
 * Events before `from` are not visited, and where whole segments hold only such, they are not read
 * beyond their headers. If the journal does not reach back to `from`, or not up to it, that is
 * DAMAGED. JOURNAL_FROM_FIRST: all events there are, wherever they begin; so it is without any
 * journal_reading.
 */
struct journal_reading {
    journal_visit_fn *visit;
    journal_progress_fn *progress;
    void *context;
    uint64_t from;
};

/*
 * Reads everything from `from` on, cuts off a torn tail, and opens for appending. OK, DAMAGED,
 * IO_FAILED or DISK_FULL, of which the report says more, or what the visitor said. The caller holds
 * the data directory's lock.
 */
enum status journal_file_open(const struct journal_file_options *options,
                              const struct journal_reading *reading, struct journal_report *report,
                              struct journal **out);

/* Whether what a torn tail held may have been acknowledged, as the end of a sentence. */
const char *journal_torn_meaning(uint32_t promise);

/* Reads and verifies without changing a byte; a torn tail is reported, not cut. */
enum status journal_file_verify(const char *directory, const struct journal_reading *reading,
                                struct journal_report *report);

/*
 * Removes segments that have only events before this position. Called by one thread at a time. OK or
 * IO_FAILED; then some of them are still there, which is harmless.
 */
enum status journal_file_forget(struct journal *journal, uint64_t position);

#endif

/*
 * The journal in files: numbered, preallocated, append-only segments in one directory. One thread
 * writes them and commits many events at once. The format is described at the top of segment.c.
 */
#ifndef LAUD_JOURNAL_FILE_H
#define LAUD_JOURNAL_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "journal/log.h"

struct journal_file_options {
    const char *directory; /* is created if it does not exist */
    enum durability durability;
    uint64_t interval_ms;   /* DURABILITY_INTERVAL */
    uint64_t segment_bytes; /* size of one segment */
};

/*
 * What an acknowledgement meant in the run that wrote a segment. The header of the segment has it.
 */
enum journal_promise {
    JOURNAL_PROMISE_UNKNOWN, /* an older version wrote it */
    JOURNAL_PROMISE_COMMIT,
    JOURNAL_PROMISE_INTERVAL,
    JOURNAL_PROMISE_NONE,
};

enum journal_promise journal_promise_of(enum durability durability);

/*
 * What the reading of a journal found. It is filled as far as the reading got, also after a
 * failure.
 */
struct journal_report {
    uint64_t segments;
    uint64_t events;       /* events in these segments */
    uint64_t visited;      /* visited events, from `from` of journal_reading on */
    uint64_t bytes;        /* bytes of records */
    uint64_t bytes_total;  /* size of all segment files, for progress; 0 at first */
    uint64_t bytes_read;   /* bytes of segment files read so far */
    uint64_t first;        /* position of the first record that was not removed */
    uint64_t end;          /* position after the last good record */
    uint64_t durable_mark; /* position in the file `mark`: nothing before it may be missing */
    uint64_t torn_bytes;   /* bytes of a torn tail that is or will be cut off; 0: none */
    uint64_t torn_offset;  /* offset of the torn tail in the last segment */
    char torn_segment[32];
    uint32_t torn_promise; /* enum journal_promise of the run that wrote it */
    /* After DAMAGED or IO_FAILED: one sentence that names segment and offset. */
    char problem[256];
};

/*
 * Called for each event in order. The body of a long event is valid only during the call. NO_MEMORY and STOPPING end the reading and are returned. Any
 * other status except OK means that the event is wrong: the reading ends with DAMAGED and a
 * sentence that names the event.
 */
typedef enum status journal_visit_fn(void *context, const struct event *event, uint64_t position,
                                     size_t size);
/* Called repeatedly while reading, at least every few MiB. May be NULL. */
typedef void journal_progress_fn(void *context, const struct journal_report *report);

#define JOURNAL_FROM_FIRST UINT64_MAX

/*
 * How to read a journal. Events before `from` are not visited, and of segments that have only such
 * events just the headers are read. If the journal begins after `from` or ends before it, the
 * result is DAMAGED. JOURNAL_FROM_FIRST: all events, wherever the journal begins; this is also the
 * meaning of NULL instead of a journal_reading.
 */
struct journal_reading {
    journal_visit_fn *visit;
    journal_progress_fn *progress;
    void *context;
    uint64_t from;
};

/*
 * Reads everything from `from` on, cuts off a torn tail, and opens the journal for appending. OK;
 * DAMAGED, IO_FAILED or DISK_FULL, which the report explains; or a status of the visitor. The
 * caller must hold the lock of the data directory.
 */
enum status journal_file_open(const struct journal_file_options *options,
                              const struct journal_reading *reading, struct journal_report *report,
                              struct journal **out);

/* Says whether the events of a torn tail may have been acknowledged, as the end of a sentence. */
const char *journal_torn_meaning(uint32_t promise);

/* Reads and verifies without changing anything. A torn tail is reported but not cut off. */
enum status journal_file_verify(const char *directory, const struct journal_reading *reading,
                                struct journal_report *report);

/*
 * Ends the current segment as soon as the next one is ready, so that journal_file_forget can remove it. A segment
 * without events stays. It does not wait. Any thread may call it.
 */
void journal_file_roll(struct journal *journal);

/*
 * Removes segments that have only events before this position. Only one thread at a time may call
 * it. IO_FAILED: some of these segments are still there, which is harmless.
 */
enum status journal_file_forget(struct journal *journal, uint64_t position);

#endif

/*
 * The inside of the file journal, shared by journal_file.c (the port), writer.c (the thread that
 * writes), spare.c (the thread that prepares) and forget.c (whoever forgets). Members are grouped by the thread that owns them.
 */
#ifndef LAUD_JOURNAL_FILE_PRIVATE_H
#define LAUD_JOURNAL_FILE_PRIVATE_H

#include <pthread.h>

#include "journal/file/await.h"
#include "journal/file/journal_file.h"
#include "journal/file/mark.h"
#include "journal/file/path.h"
#include "journal/file/ring.h"
#include "journal/file/segment.h"

#define JOURNAL_FILE_MAGIC 0x6a6f7572u

#define RING_BYTES_MIN  KIB(512)
#define RING_BYTES_MAX  MIB(4)
#define RESERVE_BYTES   MIB(1)
#define SPARE_RETRY_MS  1000
#define RING_LOW_FACTOR 4

/*
 * When a segment has less than RING_LOW_FACTOR rings left and no successor, nothing more is
 * admitted: all that was, at worst each record a batch of its own, still fits.
 */
_Static_assert((LIMIT_EVENT_BYTES_MIN + BATCH_HEADER_BYTES) <
                   LIMIT_EVENT_BYTES_MIN * RING_LOW_FACTOR,
               "a full ring in batches of one record fits what is left of a segment");

/* What tests set smaller or by hand; 0 means the usual. */
struct journal_tuning {
    size_t ring_bytes;
    size_t others_bytes; /* what other threads may append after one was admitted */
    uint64_t reserve_bytes;
    uint64_t retry_ms;
    uint64_t (*now_ns)(void *context);
    void *clock_context;
};

enum spare_state {
    SPARE_WORKING, /* being made */
    SPARE_READY,   /* there */
    SPARE_FULL,    /* no room on the disk; being tried again */
    SPARE_SHORT,   /* no file can be opened; likewise */
};

struct journal_file {
    struct journal port; /* first: the port's handle is this */
    uint32_t magic;

    /* Set at open, read by all */
    char directory[JOURNAL_DIRECTORY_MAX + 1];
    enum durability durability;
    uint64_t interval_ns;
    uint64_t segment_bytes;
    struct journal_tuning tuning; /* complete */
    char disk_full_reason[128];
    int directory_fd; /* kept open: syncing it must not depend on whether a file can be opened */

    struct ring ring;

    /* Told by the writer to all */
    alignas(CACHE_LINE) _Atomic uint64_t released;
    alignas(CACHE_LINE) _Atomic uint32_t gate; /* an enum status: what journal_admit says */
    char reason[256];                          /* set before the gate says READONLY, for good */
    struct {
        _Atomic uint64_t written;
        _Atomic uint64_t events;
        _Atomic uint64_t batches;
        _Atomic uint64_t syncs;
        _Atomic uint64_t sync_ns;
        _Atomic uint64_t bytes;  /* of all segments since open, forgotten ones too */
        _Atomic uint64_t number; /* of the newest segment; stored after it has its name */
        struct buckets batch_events;
        struct buckets sync_times; /* ns */
    } stats;

    struct await await; /* what is durable, and the sources that wait for more */

    /* Told by whoever forgets to all */
    struct {
        _Atomic uint64_t number; /* of the oldest segment there is */
        _Atomic uint64_t position;
        _Atomic uint64_t forgotten_bytes;
    } first;

    /* Told to the writer */
    alignas(CACHE_LINE) _Atomic uint32_t sleeping; /* 1 while it sleeps on this word */
    alignas(CACHE_LINE) _Atomic uint32_t kicked;   /* a batch of appends is complete */
    _Atomic uint32_t attention;                    /* the spare, the listener or `stopping` */
    _Atomic bool sync_wanted;                      /* what was appended before this was set */
    _Atomic bool stopping;
    journal_listen_fn *_Atomic listener;
    void *listener_context;

    /* The writer's own */
    alignas(CACHE_LINE) int fd; /* the current segment, -1 before there is one */
    int mark_fd;
    uint64_t number;  /* of the current segment, or of the last one */
    uint64_t size;    /* of its file */
    uint64_t used;    /* of it */
    uint64_t written; /* positions */
    uint64_t durable;
    uint64_t sync_to; /* someone wants all before it on disk */
    uint64_t events;
    uint64_t chain;
    uint64_t earlier_bytes;     /* of the segments before it */
    uint64_t unsynced_since_ns; /* when the oldest unsynced batch was written */
    struct mark mark;
    bool failed;

    /* Between the writer and the preparer, under the lock */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    _Atomic uint32_t spare;    /* enum spare_state; may be read without the lock */
    _Atomic uint64_t used_now; /* of the current segment; UINT64_MAX: there is none */
    _Atomic uint64_t pace;     /* the preparer waits for so much; UINT64_MAX: it does not */
    int spare_fd;              /* if READY */
    _Atomic bool unprepared;   /* the preparer failed, and makes nothing more */
    char unprepared_reason[256];
    bool preparer_stopping;
    bool settled; /* the first segment is there, or cannot be */

    pthread_t writer;
    pthread_t preparer;
};

/* As journal_file_open, with other sizes and another clock. */
enum status journal_file_open_tuned(const struct journal_file_options *options,
                                    const struct journal_tuning *tuning,
                                    const struct journal_reading *reading,
                                    struct journal_report *report, struct journal **out);

/* The two threads. */
void *writer_run(void *journal);
void *preparer_run(void *journal);

/* The journal whose port this is. */
struct journal_file *journal_file_of(struct journal *port);

/* Makes the writer look at `attention`, the tail and the time. */
void writer_wake(struct journal_file *journal);

#endif

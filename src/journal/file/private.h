/*
 * The struct of the file journal, shared by journal_file.c (the port), writer.c (the thread that
 * writes), spare.c (the thread that prepares segments) and forget.c (which removes segments).
 * Members are grouped by the thread that owns them.
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
#define RING_LONG_PART                                                                             \
    8 /* this part of the ring, without what admission keeps free, is for long events */

/*
 * When a segment has room for less than RING_LOW_FACTOR rings and there is no next segment, nothing
 * more is admitted: everything that was admitted still fits, even if each record becomes a batch of
 * its own.
 */
_Static_assert((LIMIT_EVENT_BYTES_MIN + BATCH_HEADER_BYTES) <
                   LIMIT_EVENT_BYTES_MIN * RING_LOW_FACTOR,
               "a full ring in batches of one record fits what is left of a segment");
_Static_assert(LIMIT_ADMIT_OTHERS + LIMIT_ADMIT_BYTES + 2 * LIMIT_EVENT_LONG < RING_BYTES_MIN,
               "any ring has room for short events and for two of the largest long ones");

/* Values that tests can change; 0 means the default. */
struct journal_tuning {
    size_t ring_bytes;
    size_t others_bytes; /* bytes that other threads may append after one was admitted */
    size_t long_bytes;   /* bytes of the ring for long events */
    size_t long_max;     /* most bytes that are reserved at once */
    uint64_t reserve_bytes;
    uint64_t retry_ms;
    uint64_t (*now_ns)(void *context);
    void *clock_context;
};

enum spare_state {
    SPARE_WORKING, /* the spare segment is being made */
    SPARE_READY,   /* the spare segment is complete */
    SPARE_FULL,    /* the disk is full; it is tried again */
    SPARE_SHORT,   /* no file can be opened; it is tried again */
};

struct journal_file {
    struct journal port; /* must be the first member: the port uses a pointer to it */
    uint32_t magic;

    /* Set when the journal is opened, then only read */
    char directory[JOURNAL_DIRECTORY_MAX + 1];
    enum durability durability;
    uint64_t interval_ns;
    uint64_t segment_bytes;
    struct journal_tuning tuning; /* with defaults filled in */
    char disk_full_reason[128];
    int directory_fd; /* kept open, so that a sync of the directory never lacks a descriptor */

    struct ring ring;

    /* Written by the writer, read by all threads */
    alignas(CACHE_LINE) _Atomic uint64_t released;
    alignas(CACHE_LINE) _Atomic uint32_t gate; /* the enum status that journal_admit returns */
    char reason[256];                          /* set once, before the gate becomes READONLY */
    struct {
        _Atomic uint64_t written;
        _Atomic uint64_t events;
        _Atomic uint64_t batches;
        _Atomic uint64_t syncs;
        _Atomic uint64_t sync_ns;
        _Atomic uint64_t bytes; /* size of all segments since opening, including removed ones */
        /* Number of the newest segment; stored after the file has its name. */
        _Atomic uint64_t number;
        struct buckets batch_events;
        struct buckets sync_times; /* ns */
    } stats;

    struct await await; /* the durable position, and the sources that wait for more */

    /* Written by the thread that removes segments, read by all threads */
    struct {
        _Atomic uint64_t number; /* number of the oldest segment */
        _Atomic uint64_t position;
        _Atomic uint64_t forgotten_bytes;
    } first;

    /* Written by other threads, read by the writer */
    alignas(CACHE_LINE) _Atomic uint32_t sleeping; /* 1 while the writer sleeps on this word */
    alignas(CACHE_LINE) _Atomic uint32_t kicked;   /* a batch of appends is complete */
    /* The spare, the listener or `stopping` has changed, or reserved room was given back. */
    _Atomic uint32_t attention;
    _Atomic uint32_t wanting; /* a reservation was refused because the room was used */
    /* Everything appended before this was set must be synced. */
    _Atomic bool sync_wanted;
    _Atomic bool roll_wanted; /* the current segment is to be ended */
    _Atomic bool stopping;
    journal_listen_fn *_Atomic listener;
    void *listener_context;

    /* Used only by the writer */
    alignas(CACHE_LINE) int fd; /* descriptor of the current segment; -1: there is none yet */
    int mark_fd;
    uint64_t number;  /* number of the current segment, or of the last one */
    uint64_t size;    /* size of the file of the current segment */
    uint64_t used;    /* bytes used in it */
    uint64_t written; /* `written` and `durable` are positions */
    uint64_t durable;
    uint64_t sync_to; /* everything before this position must be synced soon */
    uint64_t events;
    uint64_t chain;
    uint64_t earlier_bytes;     /* size of the segments before the current one */
    uint64_t unsynced_since_ns; /* when the oldest unsynced batch was written */
    struct mark mark;
    bool failed;

    /* Shared by the writer and the preparer, under the lock */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    _Atomic uint32_t spare;    /* enum spare_state; may be read without the lock */
    _Atomic uint64_t used_now; /* bytes used in the current segment; UINT64_MAX: there is none */
    /* The preparer waits for this value of used_now; UINT64_MAX: it does not wait. */
    _Atomic uint64_t pace;
    int spare_fd;            /* valid if the spare is READY */
    _Atomic bool unprepared; /* the preparer has failed and makes no more segments */
    char unprepared_reason[256];
    bool preparer_stopping;
    bool settled; /* the first segment exists, or cannot be made */

    pthread_t writer;
    pthread_t preparer;
};

/* Like journal_file_open, with other sizes and another clock. */
enum status journal_file_open_tuned(const struct journal_file_options *options,
                                    const struct journal_tuning *tuning,
                                    const struct journal_reading *reading,
                                    struct journal_report *report, struct journal **out);

/* The functions of the two threads. */
void *writer_run(void *journal);
void *preparer_run(void *journal);

/* The file journal that this port belongs to. */
struct journal_file *journal_file_of(struct journal *port);

/* Has the writer check the spare and call the listener. */
void writer_ask_attention(struct journal_file *journal);

/* Wakes the writer, so that it checks `attention`, the tail of the ring and the time. */
void writer_wake(struct journal_file *journal);

#endif

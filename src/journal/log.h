/*
 * The writing port of a journal: the log of events in the order in which they were decided, which is
 * the only truth. The hot tier appends while it holds its own lock, so the order of the log is the
 * order of the decisions. A reply is sent once the journal has released the position it depends on.
 * Only those who record events know this port: the hot tier, the recorder of names, and imports.
 * Those who read events know journal/source.h.
 *
 *     journal_admit   before deciding: may this thread append so many bytes of records now?
 *     journal_append  while deciding, under the shard lock: never fails, never blocks
 *     journal_kick    after a batch, or after a whole turn of them: write now
 *     journal_released / the listener: replies up to here may be sent
 *
 * A position is the number of record bytes since the journal began. Any thread may call any function
 * unless it says otherwise. journal/file implements the port; a Redis stream can.
 */
#ifndef LAUD_JOURNAL_LOG_H
#define LAUD_JOURNAL_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "base/buckets.h"
#include "base/status.h"
#include "journal/event.h"

enum durability {
    DURABILITY_COMMIT,   /* released when on disk (fdatasync) */
    DURABILITY_INTERVAL, /* released when with the kernel; on disk every interval_ms */
    DURABILITY_NONE,     /* released when with the kernel; on disk when the kernel pleases */
};

struct journal_stats {
    enum status state;  /* OK, READONLY, DISK_FULL or NO_FILES */
    const char *reason; /* why it is not OK, one sentence; "" otherwise */
    uint64_t appended;  /* positions */
    uint64_t written;
    uint64_t durable;
    uint64_t events;  /* events written since the journal began */
    uint64_t batches; /* written since start */
    uint64_t syncs;   /* since start */
    uint64_t sync_ns; /* spent in them */
    uint64_t bytes;   /* of all segments in use */
    uint64_t segments;
    uint64_t first;                    /* position of the oldest event still there */
    struct buckets_total batch_events; /* how many a batch had, since start */
    struct buckets_total sync_times;   /* ns, since start */
};

struct journal;

/*
 * Called by the journal's own thread whenever the released position moved or the state changed, and
 * once after it was set: that may have happened before.
 */
typedef void journal_listen_fn(void *context);

struct journal_ops {
    const char *name;
    enum status (*admit)(struct journal *journal, size_t bytes);
    uint64_t (*append)(struct journal *journal, const struct event *event);
    uint64_t (*appended)(struct journal *journal);
    uint64_t (*released)(struct journal *journal);
    uint64_t (*durable)(struct journal *journal);
    void (*sync)(struct journal *journal);
    void (*kick)(struct journal *journal);
    enum status (*state)(struct journal *journal);
    void (*listen)(struct journal *journal, journal_listen_fn *listener, void *context);
    void (*stats)(struct journal *journal, struct journal_stats *out);
    void (*close)(struct journal *journal);
};

/* The head of every implementation's own struct. */
struct journal {
    const struct journal_ops *ops;
};

/*
 * OK: this thread may now append events of up to `bytes` in all (event_bytes_max) before it asks
 * again; whatever it was admitted for before is void. At most LIMIT_ADMIT_BYTES at a time, which is
 * also what every other thread may be appending meanwhile. BLOCKED: there is no room; the listener is
 * called when there may be some. READONLY, DISK_FULL, NO_FILES: nothing can be recorded.
 */
static inline enum status journal_admit(struct journal *journal, size_t bytes)
{
    return journal->ops->admit(journal, bytes);
}

/* Returns the position after the record. Only after an OK from journal_admit. */
static inline uint64_t journal_append(struct journal *journal, const struct event *event)
{
    return journal->ops->append(journal, event);
}

/* Position after the newest record appended by anyone so far. */
static inline uint64_t journal_appended(struct journal *journal)
{
    return journal->ops->appended(journal);
}

/* Replies that depend on positions up to this one may leave. */
static inline uint64_t journal_released(struct journal *journal)
{
    return journal->ops->released(journal);
}

/* What is before this position is on disk. */
static inline uint64_t journal_durable(struct journal *journal)
{
    return journal->ops->durable(journal);
}

/* Asks that what has been appended be on disk soon, whatever the durability; does not wait. */
static inline void journal_sync(struct journal *journal)
{
    journal->ops->sync(journal);
}

/*
 * This thread's appends are complete for now: write them. Whoever appends must call it afterwards,
 * once for as many as it likes; the journal does not begin by itself. Cheap when the writer is busy.
 */
static inline void journal_kick(struct journal *journal)
{
    journal->ops->kick(journal);
}

/* OK, READONLY (for good: what was not released never will be), DISK_FULL or NO_FILES (for now). */
static inline enum status journal_state(struct journal *journal)
{
    return journal->ops->state(journal);
}

/* One listener. */
static inline void journal_listen(struct journal *journal, journal_listen_fn *listener,
                                  void *context)
{
    journal->ops->listen(journal, listener, context);
}

static inline void journal_stats(struct journal *journal, struct journal_stats *out)
{
    journal->ops->stats(journal, out);
}

/* Writes and syncs what was appended, then closes. No appends may be under way. */
static inline void journal_close(struct journal *journal)
{
    journal->ops->close(journal);
}

#endif

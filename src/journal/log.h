/*
 * The writing port of a journal: the log of all events in the order in which they were decided. The
 * journal is the only authoritative record of what happened. The hot tier appends while it holds
 * its own lock, so the order of the log is the order of the decisions. A reply is sent once the
 * journal has released the position that the reply depends on. Only code that records events uses
 * this port: the hot tier, the recorder of names, and imports. Code that reads events uses
 * journal/source.h.
 *
 *     journal_admit   before deciding: may this thread append so many bytes of records now?
 *     journal_reserve before deciding: may this thread append a long event of so many bytes?
 *     journal_append  while deciding, under the shard lock: never fails, never blocks
 *     journal_kick    after one or more batches, at the end of a turn: write now
 *     journal_released / the listener: replies up to this position may be sent
 *
 * A position is the number of record bytes since the journal began. Any thread may call any
 * function unless its comment says otherwise. journal/file implements the port; a Redis stream
 * could, too.
 */
#ifndef LAUD_JOURNAL_LOG_H
#define LAUD_JOURNAL_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "base/buckets.h"
#include "base/status.h"
#include "journal/event.h"

enum durability {
    DURABILITY_COMMIT,   /* released when it is on disk (fdatasync) */
    DURABILITY_INTERVAL, /* released when the kernel has it; on disk every interval_ms */
    /* Released when the kernel has it; the kernel decides when it is on disk. */
    DURABILITY_NONE,
};

struct journal_stats {
    enum status state;  /* OK, READONLY, DISK_FULL or NO_FILES */
    const char *reason; /* one sentence that says why the state is not OK; otherwise "" */
    uint64_t appended;  /* `appended`, `written` and `durable` are positions */
    uint64_t written;
    uint64_t durable;
    uint64_t events;  /* events written since the journal began */
    uint64_t batches; /* batches written since the start */
    uint64_t syncs;   /* since the start */
    uint64_t sync_ns; /* time spent in syncs */
    uint64_t bytes;   /* size of all segments in use */
    uint64_t segments;
    uint64_t first;                    /* position of the oldest event that was not removed */
    struct buckets_total batch_events; /* events per batch, since the start */
    struct buckets_total sync_times;   /* in nanoseconds, since the start */
};

struct journal;

/*
 * The journal's own thread calls this whenever the released position has advanced or the state has
 * changed, and once after the listener was set, because that may have happened before.
 */
typedef void journal_listen_fn(void *context);

struct journal_ops {
    const char *name;
    enum status (*admit)(struct journal *journal, size_t bytes);
    enum status (*reserve)(struct journal *journal, size_t bytes);
    void (*unreserve)(struct journal *journal, size_t bytes);
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

/* The first member of the struct of every implementation. */
struct journal {
    const struct journal_ops *ops;
};

/*
 * May this thread append short events? OK: it may append events of up to `bytes` bytes in total
 * (event_bytes_max) before it asks again; what remains of an earlier permission is void. `bytes` is
 * at most LIMIT_ADMIT_BYTES, because every other thread may append as much at the same time.
 * BLOCKED: there is no room now; the listener is called when there may be some. READONLY,
 * DISK_FULL, NO_FILES: nothing can be recorded.
 */
static inline enum status journal_admit(struct journal *journal, size_t bytes)
{
    return journal->ops->admit(journal, bytes);
}

/*
 * Reserves room for long events, which have a body. `bytes` is the sum of their event_bytes_max, at
 * most LIMIT_EVENT_LONG. OK: the room is reserved until the events are appended or journal_unreserve
 * is called. BLOCKED: there is no room now; the listener is called when there may be some. READONLY,
 * DISK_FULL, NO_FILES: nothing can be recorded.
 *
 * Long and short events have separate room, so neither keeps the other waiting, and no long event
 * waits for more room than any other: each is admitted when the largest would fit. So that there is
 * room again for others, a thread must not wait for anything that takes long, in particular not for
 * another reservation, while it has one.
 */
static inline enum status journal_reserve(struct journal *journal, size_t bytes)
{
    return journal->ops->reserve(journal, bytes);
}

/* Gives back room that was reserved and in which nothing was appended. */
static inline void journal_unreserve(struct journal *journal, size_t bytes)
{
    journal->ops->unreserve(journal, bytes);
}

/*
 * Appends an event and returns the position after its record. A short event needs an admission
 * (journal_admit). A long one needs a reservation, of which it uses exactly event_bytes_max bytes;
 * any thread may use it, not only the one that has reserved.
 */
static inline uint64_t journal_append(struct journal *journal, const struct event *event)
{
    return journal->ops->append(journal, event);
}

/* The position after the newest record of any thread. */
static inline uint64_t journal_appended(struct journal *journal)
{
    return journal->ops->appended(journal);
}

/* Replies that depend on positions up to this one may be sent. */
static inline uint64_t journal_released(struct journal *journal)
{
    return journal->ops->released(journal);
}

/* Everything before this position is on disk. */
static inline uint64_t journal_durable(struct journal *journal)
{
    return journal->ops->durable(journal);
}

/*
 * Requests that everything appended so far be written to disk soon, whatever the durability. It
 * does not wait.
 */
static inline void journal_sync(struct journal *journal)
{
    journal->ops->sync(journal);
}

/*
 * The appends of this thread are complete for now and should be written. A thread that appends must
 * call this afterwards, once for any number of appends, because the journal does not start writing
 * by itself. It is cheap while the writer is busy.
 */
static inline void journal_kick(struct journal *journal)
{
    journal->ops->kick(journal);
}

/*
 * OK, READONLY (until a restart: what was not released never will be), DISK_FULL or NO_FILES
 * (temporary).
 */
static inline enum status journal_state(struct journal *journal)
{
    return journal->ops->state(journal);
}

/* Sets the listener. There can be only one. */
static inline void journal_listen(struct journal *journal, journal_listen_fn *listener,
                                  void *context)
{
    journal->ops->listen(journal, listener, context);
}

static inline void journal_stats(struct journal *journal, struct journal_stats *out)
{
    journal->ops->stats(journal, out);
}

/*
 * Writes and syncs everything that was appended, then closes and frees the journal. No thread may
 * be appending.
 */
static inline void journal_close(struct journal *journal)
{
    journal->ops->close(journal);
}

#endif

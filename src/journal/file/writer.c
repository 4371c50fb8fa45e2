/*
 * The writer: the only thread that writes records from the ring to disk. In one round it takes
 * everything that is published, writes it in as few batches as possible, syncs once, writes the
 * file `mark` and releases the position. A round begins after a kick, which an I/O thread gives at
 * the end of its turn, so that one turn does not cause several syncs. While a sync runs, the
 * records of the next round gather in the ring. So the busier the server is, the larger are the
 * batches, with no timer and nothing to configure. A record that is reserved but not yet published
 * ends a round early; the thread that has reserved it will kick later.
 *
 * Failures and their consequences:
 *
 * - Any write or sync of a segment, of the file `mark` or of the directory: nothing is retried, and
 *   nothing more is written. The gate is READONLY, and what was not released never will be. ENOSPC
 *   is no exception: segments are allocated beforehand, so only a copy-on-write file system can
 *   report it for a write, and then it is unknown how much of the batch was written.
 *
 * - The next segment cannot be made for lack of space: nothing depends on it yet. The gate becomes
 *   DISK_FULL before anything is decided, everything that was admitted still fits into the current
 *   segment, and the gate opens again when the preparer has succeeded. If no file can be opened, it
 *   is the same, with NO_FILES.
 *
 * The order of stores matters in write_batch: the gate is stored before the `freed` of the ring, and
 * before what is `held` for long events. A thread that is admitted, or gets a reservation, because of
 * the new values also sees the new gate. So after the gate has closed, at most one ring of records can
 * still be appended, with what was reserved before (private.h: RING_LOW_FACTOR).
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "journal/file/private.h"

static void writer_tell(struct journal_file *journal)
{
    journal_listen_fn *listener = atomic_load(&journal->listener);
    if (listener != NULL)
        listener(journal->listener_context);
}

static void set_gate(struct journal_file *journal, enum status gate)
{
    if (atomic_load_explicit(&journal->gate, memory_order_relaxed) == (uint32_t)gate)
        return;
    atomic_store(&journal->gate, gate);
    if (gate != STATUS_BLOCKED) {
        pthread_mutex_lock(&journal->lock);
        journal->settled = true;
        pthread_cond_broadcast(&journal->changed);
        pthread_mutex_unlock(&journal->lock);
    }
    writer_tell(journal);
}

static void writer_fail_saying(struct journal_file *journal, const char *sentence)
{
    if (journal->failed)
        return;
    journal->failed = true;
    snprintf(journal->reason, sizeof journal->reason, "%s", sentence);
    set_gate(journal, STATUS_READONLY);
}

/* False: `result` is a failure, and the journal is now read-only, with a reason. */
static bool writer_check(struct journal_file *journal, int result, const char *what)
{
    if (result >= 0)
        return true;
    char sentence[sizeof journal->reason];
    snprintf(sentence, sizeof sentence, "%s failed in journal segment %010" PRIu64 ".seg: %s", what,
             journal->number, strerror(-result));
    writer_fail_saying(journal, sentence);
    return false;
}

/* The state of the gate while the next segment is needed but does not exist. */
static enum status waiting_for_spare(uint32_t spare)
{
    return spare == SPARE_FULL    ? STATUS_DISK_FULL
           : spare == SPARE_SHORT ? STATUS_NO_FILES
                                  : STATUS_BLOCKED;
}

static void update_gate(struct journal_file *journal)
{
    uint32_t spare = atomic_load(&journal->spare);
    uint64_t low = RING_LOW_FACTOR * journal->ring.size;
    if (journal->failed)
        return;
    if (journal->fd >= 0 && (spare == SPARE_READY || journal->size - journal->used >= low))
        set_gate(journal, STATUS_OK);
    else
        set_gate(journal, waiting_for_spare(spare));
}

static void update_stats(struct journal_file *journal)
{
    atomic_store_explicit(&journal->stats.written, journal->written, memory_order_relaxed);
    atomic_store_explicit(&journal->stats.events, journal->events, memory_order_relaxed);
    atomic_store_explicit(&journal->stats.bytes,
                          journal->earlier_bytes + (journal->fd >= 0 ? journal->size : 0),
                          memory_order_relaxed);
    /* Other threads rely on these two when they read the files. */
    await_advance(&journal->await, journal->durable);
    atomic_store_explicit(&journal->stats.number, journal->number, memory_order_release);
}

/* Everything that was written is on disk: writes this position to the file `mark`. */
static bool writer_mark(struct journal_file *journal)
{
    journal->durable = journal->written;
    return writer_check(
        journal, mark_write(journal->mark_fd, &journal->mark, journal->durable, journal->chain),
        "writing the file mark");
}

static bool writer_sync(struct journal_file *journal)
{
    uint64_t start = clock_monotonic_ns();
    if (!writer_check(journal, io_sync_data("segment.sync", journal->fd), "fdatasync"))
        return false;
    atomic_fetch_add_explicit(&journal->stats.syncs, 1, memory_order_relaxed);
    uint64_t took = clock_monotonic_ns() - start;
    atomic_fetch_add_explicit(&journal->stats.sync_ns, took, memory_order_relaxed);
    buckets_add(&journal->stats.sync_times, took, BUCKETS_SHIFT_NS, 1);
    return writer_mark(journal);
}

/* Cuts the current segment after its last batch and syncs it. */
static bool finish_segment(struct journal_file *journal)
{
    if (!writer_check(journal, io_truncate("segment.truncate", journal->fd, journal->used),
                      "truncating") ||
        !writer_check(journal, io_sync("segment.sync", journal->fd), "fsync") ||
        !writer_mark(journal) ||
        !writer_check(journal, io_sync_data("mark.sync", journal->mark_fd),
                      "syncing the file mark"))
        return false;
    io_close("segment.close", journal->fd);
    journal->fd = -1;
    journal->earlier_bytes += journal->used;
    return true;
}

/* Notifies the preparer how much of the current segment is used, if it waits for that. */
static void tell_pace(struct journal_file *journal)
{
    atomic_store(&journal->used_now, journal->used);
    if (journal->used < atomic_load(&journal->pace))
        return;
    pthread_mutex_lock(&journal->lock);
    pthread_cond_broadcast(&journal->changed);
    pthread_mutex_unlock(&journal->lock);
}

/* Takes the spare, so that the preparer can make another one. */
static int take_spare(struct journal_file *journal)
{
    pthread_mutex_lock(&journal->lock);
    int fd = journal->spare_fd;
    journal->spare_fd = -1;
    atomic_store(&journal->used_now, SEGMENT_HEADER_BYTES);
    atomic_store(&journal->spare, SPARE_WORKING);
    pthread_cond_broadcast(&journal->changed);
    pthread_mutex_unlock(&journal->lock);
    return fd;
}

/*
 * The header is written and synced before the segment gets its number, so a numbered segment always
 * has a good header.
 */
static bool start_segment(struct journal_file *journal)
{
    uint8_t bytes[SEGMENT_HEADER_BYTES];
    char name[SEGMENT_NAME_BYTES];
    char from[JOURNAL_PATH_BYTES];
    char to[JOURNAL_PATH_BYTES];
    struct segment_header header = {
        .number = journal->number + 1,
        .position = journal->written,
        .events = journal->events,
        .chain = journal->chain,
        .bytes = journal->segment_bytes,
        .promise = journal_promise_of(journal->durability),
    };
    pthread_mutex_lock(&journal->lock);
    int fd = journal->spare_fd;
    pthread_mutex_unlock(&journal->lock);
    journal->number = header.number;
    segment_header_encode(&header, bytes);
    segment_name(header.number, name);
    journal_path(from, journal->directory, "spare.seg");
    journal_path(to, journal->directory, name);
    if (!writer_check(journal, io_pwrite_all("segment.header", fd, bytes, sizeof bytes, 0),
                      "writing the header") ||
        !writer_check(journal, io_sync_data("segment.sync", fd), "syncing the header") ||
        !writer_check(journal, io_rename("segment.rename", from, to), "renaming the spare") ||
        !writer_check(journal, io_sync("directory.sync", journal->directory_fd),
                      "syncing the directory"))
        return false;
    journal->fd = take_spare(journal);
    journal->size = journal->segment_bytes;
    journal->used = SEGMENT_HEADER_BYTES;
    return true;
}

/*
 * Call it only when the spare is ready. The spare stays ready until it is taken, which only this
 * function does.
 */
static bool writer_roll(struct journal_file *journal)
{
    ASSERT(atomic_load(&journal->spare) == SPARE_READY);
    if (journal->fd >= 0 && !finish_segment(journal))
        return false;
    if (!start_segment(journal))
        return false;
    update_stats(journal);
    return true;
}

static bool write_batch(struct journal_file *journal, size_t bytes, uint32_t count)
{
    const uint8_t *records = ring_at(&journal->ring, journal->written);
    uint8_t head[BATCH_HEADER_BYTES];
    struct batch_header header = {
        .position = journal->written,
        .events = journal->events,
        .bytes = bytes,
        .durable = journal->durable,
        .chain = segment_chain(journal->chain, records, bytes),
        .wall_ms = clock_wall_ms(),
        .count = count,
    };
    batch_header_encode(&header, journal->number, head);
    struct iovec parts[2] = {
        {.iov_base = head, .iov_len = sizeof head},
        {.iov_base = (void *)(uintptr_t)records, .iov_len = bytes},
    };
    if (!writer_check(journal,
                      io_pwritev_all("segment.write", journal->fd, parts, 2, journal->used),
                      "writing a batch"))
        return false;
    if (journal->written == journal->durable)
        journal->unsynced_since_ns = journal->tuning.now_ns(journal->tuning.clock_context);
    journal->used += sizeof head + bytes;
    journal->written += bytes;
    journal->events += count;
    journal->chain = header.chain;
    atomic_fetch_add_explicit(&journal->stats.batches, 1, memory_order_relaxed);
    buckets_add(&journal->stats.batch_events, count, 0, 1);
    tell_pace(journal);
    update_gate(journal);
    ring_release(&journal->ring, bytes);
    return true;
}

/*
 * The bytes of records for the next batch of the current segment; 0: there are none, or a failure.
 */
static size_t next_batch(struct journal_file *journal, uint32_t *count)
{
    size_t bytes = ring_published(&journal->ring, journal->written, LIMIT_JOURNAL_BATCH, count);
    uint64_t left = journal->size - journal->used;
    if (bytes == 0 || BATCH_HEADER_BYTES + bytes <= left)
        return bytes;
    if (atomic_load(&journal->spare) == SPARE_READY)
        return writer_roll(journal) ? bytes : 0;
    ASSERT(left > BATCH_HEADER_BYTES);
    bytes = ring_published(&journal->ring, journal->written, left - BATCH_HEADER_BYTES, count);
    ASSERT(bytes > 0); /* because the gate closed in time */
    return bytes;
}

static bool sync_is_due(struct journal_file *journal)
{
    if (journal->written == journal->durable)
        return false;
    if (journal->durability == DURABILITY_COMMIT || journal->durable < journal->sync_to)
        return true;
    if (journal->durability == DURABILITY_NONE)
        return false;
    uint64_t now = journal->tuning.now_ns(journal->tuning.clock_context);
    return now - journal->unsynced_since_ns >= journal->interval_ns;
}

static void writer_release(struct journal_file *journal)
{
    uint64_t position =
        journal->durability == DURABILITY_COMMIT ? journal->durable : journal->written;
    update_stats(journal);
    if (position == atomic_load_explicit(&journal->released, memory_order_relaxed))
        return;
    atomic_store_explicit(&journal->released, position, memory_order_release);
    writer_tell(journal);
}

/*
 * Writes, syncs and releases everything that was published when the round began. False: there was
 * nothing.
 */
static bool writer_round(struct journal_file *journal)
{
    uint64_t start = journal->written;
    bool sync_wanted = atomic_exchange(&journal->sync_wanted, false);
    uint64_t target = atomic_load(&journal->ring.tail);
    if (sync_wanted)
        journal->sync_to = target;
    while (journal->written < target) {
        uint32_t count;
        size_t bytes = next_batch(journal, &count);
        if (bytes == 0 || !write_batch(journal, bytes, count))
            break;
    }
    if (journal->failed || (sync_is_due(journal) && !writer_sync(journal)))
        return false;
    writer_release(journal);
    return journal->written > start;
}

/* If the spare is not ready, the preparer asks for attention when it is. */
static void writer_roll_wanted(struct journal_file *journal)
{
    if (journal->failed || journal->fd < 0 || !atomic_load(&journal->roll_wanted) ||
        atomic_load(&journal->spare) != SPARE_READY)
        return;
    atomic_store(&journal->roll_wanted, false);
    if (journal->used > SEGMENT_HEADER_BYTES && writer_roll(journal))
        writer_release(journal); /* ending a segment has synced what was written */
}

/*
 * Checks the state of the preparer. A new listener is called once, because something may have
 * changed before it was set.
 */
static void writer_attend(struct journal_file *journal)
{
    if (atomic_load(&journal->unprepared))
        writer_fail_saying(journal, journal->unprepared_reason);
    if (atomic_load(&journal->spare) == SPARE_READY && journal->fd < 0 && !journal->failed)
        writer_roll(journal);
    writer_roll_wanted(journal);
    update_gate(journal);
    writer_tell(journal);
}

static uint64_t sleep_limit_ns(struct journal_file *journal)
{
    if (journal->failed || journal->durability != DURABILITY_INTERVAL ||
        journal->written == journal->durable)
        return UINT64_MAX;
    uint64_t now = journal->tuning.now_ns(journal->tuning.clock_context);
    uint64_t due = journal->unsynced_since_ns + journal->interval_ns;
    return due > now ? due - now : 0;
}

/*
 * Sleeps until it is woken or a sync is due. A thread that kicks sets `kicked` before it reads
 * `sleeping`, and the writer sets `sleeping` before it reads `kicked`. All four accesses are
 * sequentially consistent, so one of the two notices the other. The same holds for `attention`.
 */
static void writer_sleep(struct journal_file *journal)
{
    uint64_t limit = sleep_limit_ns(journal);
    struct timespec timeout = {(time_t)(limit / 1000000000), (long)(limit % 1000000000)};
    atomic_store(&journal->sleeping, 1);
    bool nothing = journal->failed || atomic_load(&journal->kicked) == 0;
    if (nothing && atomic_load(&journal->attention) == 0 && limit > 0)
        syscall(SYS_futex, &journal->sleeping, FUTEX_WAIT_PRIVATE, 1,
                limit == UINT64_MAX ? NULL : &timeout, NULL, 0);
    atomic_store(&journal->sleeping, 0);
}

void writer_wake(struct journal_file *journal)
{
    if (atomic_load(&journal->sleeping) == 1 && atomic_exchange(&journal->sleeping, 0) == 1)
        syscall(SYS_futex, &journal->sleeping, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void writer_ask_attention(struct journal_file *journal)
{
    atomic_store(&journal->attention, 1);
    writer_wake(journal);
}

static void writer_finish(struct journal_file *journal)
{
    if (journal->failed)
        return;
    if (atomic_load(&journal->gate) == STATUS_DISK_FULL) {
        char path[JOURNAL_PATH_BYTES];
        journal_path(path, journal->directory, "reserve");
        int result = io_unlink("reserve.unlink", path);
        if (result != -ENOENT && !writer_check(journal, result, "removing the reserve"))
            return;
    }
    if (journal->fd >= 0 && !finish_segment(journal))
        return;
    if (writer_check(journal, io_sync("directory.sync", journal->directory_fd),
                     "syncing the directory"))
        writer_release(journal);
}

void *writer_run(void *argument)
{
    struct journal_file *journal = argument;
    CHECK_MAGIC(journal, JOURNAL_FILE_MAGIC);
    pthread_setname_np(pthread_self(), "journal");
    update_stats(journal);
    for (;;) {
        /*
         * The order matters: the thread that stops the journal sets `stopping` first and then
         * `attention`.
         */
        bool attend = atomic_exchange(&journal->attention, 0) != 0;
        bool stopping = atomic_load(&journal->stopping);
        if (attend)
            writer_attend(journal);
        bool kicked = atomic_exchange(&journal->kicked, 0) != 0;
        if (!journal->failed && (kicked || stopping || sync_is_due(journal)))
            writer_round(journal);
        bool drained = atomic_load(&journal->ring.tail) == journal->written;
        if (stopping && (drained || journal->failed))
            break;
        if (!stopping)
            writer_sleep(journal);
    }
    writer_finish(journal);
    return NULL;
}

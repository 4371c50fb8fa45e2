/*
 * The functions of the port, and opening: read the journal, cut off a torn tail, write the file
 * `mark`, then start the two threads. The functions that every operation calls (admit, append,
 * kick) take a few loads and one fetch_add; everything else is done by the writer (writer.c) and
 * the preparer (spare.c).
 */
#include "journal/file/journal_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/io.h"
#include "journal/file/private.h"
#include "journal/file/read.h"

_Static_assert(JOURNAL_PROMISE_COMMIT == DURABILITY_COMMIT + 1 &&
                   JOURNAL_PROMISE_INTERVAL == DURABILITY_INTERVAL + 1 &&
                   JOURNAL_PROMISE_NONE == DURABILITY_NONE + 1,
               "promises are in the order of durabilities, and 0 stands for no promise");

enum journal_promise journal_promise_of(enum durability durability)
{
    return (enum journal_promise)(durability + 1);
}

const char *journal_torn_meaning(uint32_t promise)
{
    static const char *const meanings[] = {
        [JOURNAL_PROMISE_UNKNOWN] = "its events were never acknowledged, unless they were written "
                                    "with --durability interval or none",
        [JOURNAL_PROMISE_COMMIT] = "its events were never acknowledged",
        [JOURNAL_PROMISE_INTERVAL] =
            "its events may have been acknowledged, because they were written "
            "with --durability interval",
        [JOURNAL_PROMISE_NONE] =
            "its events may have been acknowledged, because they were written with "
            "--durability none",
    };
    return meanings[promise <= JOURNAL_PROMISE_NONE ? promise : JOURNAL_PROMISE_UNKNOWN];
}

struct journal_file *journal_file_of(struct journal *port)
{
    struct journal_file *journal = (struct journal_file *)port;
    CHECK_MAGIC(journal, JOURNAL_FILE_MAGIC);
    return journal;
}

/* The ring is checked before the gate: see writer.c about the order of its stores. */
static enum status file_admit(struct journal *port, size_t bytes)
{
    struct journal_file *journal = journal_file_of(port);
    ASSERT(bytes <= LIMIT_ADMIT_BYTES);
    bool room = ring_has_room(&journal->ring, bytes + journal->tuning.others_bytes);
    enum status gate = atomic_load_explicit(&journal->gate, memory_order_acquire);
    return gate == STATUS_OK && !room ? STATUS_BLOCKED : gate;
}

/*
 * `wanting` is set before it is tried again, and whoever gives room back lowers `held` before reading
 * `wanting`. All four accesses are sequentially consistent, so one of the two notices the other. Room
 * that the writer frees needs no such note, because then the listener is called anyway.
 */
static bool reserve_or_want(struct journal_file *journal, size_t bytes)
{
    if (ring_reserve(&journal->ring, bytes))
        return true;
    atomic_store(&journal->wanting, 1);
    return ring_reserve(&journal->ring, bytes);
}

static void file_unreserve(struct journal *port, size_t bytes)
{
    struct journal_file *journal = journal_file_of(port);
    ring_unreserve(&journal->ring, bytes);
    if (atomic_load(&journal->wanting) != 0 && atomic_exchange(&journal->wanting, 0) != 0)
        writer_ask_attention(journal);
}

/* The room is taken before the gate is checked: see writer.c about the order of its stores. */
static enum status file_reserve(struct journal *port, size_t bytes)
{
    struct journal_file *journal = journal_file_of(port);
    bool room = reserve_or_want(journal, bytes);
    enum status gate = atomic_load_explicit(&journal->gate, memory_order_acquire);
    if (gate == STATUS_OK)
        return room ? STATUS_OK : STATUS_BLOCKED;
    if (room)
        file_unreserve(port, bytes);
    return gate;
}

static uint64_t file_append(struct journal *port, const struct event *event)
{
    struct journal_file *journal = journal_file_of(port);
    return __builtin_expect(event_is_long(event), 0) ? ring_append_long(&journal->ring, event)
                                                     : ring_append(&journal->ring, event);
}

static uint64_t file_appended(struct journal *port)
{
    return atomic_load_explicit(&journal_file_of(port)->ring.tail, memory_order_acquire);
}

static uint64_t file_released(struct journal *port)
{
    return atomic_load_explicit(&journal_file_of(port)->released, memory_order_acquire);
}

static uint64_t file_durable(struct journal *port)
{
    return await_durable(&journal_file_of(port)->await);
}

static void file_kick(struct journal *port)
{
    struct journal_file *journal = journal_file_of(port);
    atomic_store(&journal->kicked, 1);
    writer_wake(journal);
}

static void file_sync(struct journal *port)
{
    atomic_store(&journal_file_of(port)->sync_wanted, true);
    file_kick(port);
}

static enum status file_state(struct journal *port)
{
    enum status gate = atomic_load_explicit(&journal_file_of(port)->gate, memory_order_acquire);
    return gate == STATUS_BLOCKED ? STATUS_OK : gate;
}

static void file_listen(struct journal *port, journal_listen_fn *listener, void *context)
{
    struct journal_file *journal = journal_file_of(port);
    ASSERT(atomic_load(&journal->listener) == NULL);
    journal->listener_context = context;
    atomic_store(&journal->listener, listener);
    writer_ask_attention(journal);
}

static void file_stats(struct journal *port, struct journal_stats *out)
{
    struct journal_file *journal = journal_file_of(port);
    enum status state = file_state(port);
    /* These are read before the sums that they are subtracted from: those only grow. */
    uint64_t forgotten =
        atomic_load_explicit(&journal->first.forgotten_bytes, memory_order_acquire);
    uint64_t first = atomic_load_explicit(&journal->first.number, memory_order_acquire);
    *out = (struct journal_stats){
        .state = state,
        .reason = state == STATUS_READONLY    ? journal->reason
                  : state == STATUS_DISK_FULL ? journal->disk_full_reason
                  : state == STATUS_NO_FILES
                      ? "no file can be opened for the next journal segment (ulimit -n)"
                      : "",
        .appended = file_appended(port),
        .written = atomic_load_explicit(&journal->stats.written, memory_order_relaxed),
        .durable = await_durable(&journal->await),
        .events = atomic_load_explicit(&journal->stats.events, memory_order_relaxed),
        .batches = atomic_load_explicit(&journal->stats.batches, memory_order_relaxed),
        .syncs = atomic_load_explicit(&journal->stats.syncs, memory_order_relaxed),
        .sync_ns = atomic_load_explicit(&journal->stats.sync_ns, memory_order_relaxed),
        .bytes = atomic_load_explicit(&journal->stats.bytes, memory_order_relaxed) - forgotten,
        .segments = atomic_load_explicit(&journal->stats.number, memory_order_relaxed) + 1 - first,
        .first = atomic_load_explicit(&journal->first.position, memory_order_relaxed),
    };
    buckets_read(&journal->stats.batch_events, &out->batch_events);
    buckets_read(&journal->stats.sync_times, &out->sync_times);
}

static void journal_file_free(struct journal_file *journal)
{
    if (journal->fd >= 0)
        io_close("segment.close", journal->fd);
    if (journal->mark_fd >= 0)
        io_close("mark.close", journal->mark_fd);
    if (journal->spare_fd >= 0)
        io_close("spare.close", journal->spare_fd);
    if (journal->directory_fd >= 0)
        io_close("directory.close", journal->directory_fd);
    ring_free(&journal->ring);
    await_free(&journal->await);
    pthread_cond_destroy(&journal->changed);
    pthread_mutex_destroy(&journal->lock);
    journal->magic = 0;
    free(journal);
}

static void stop_writer(struct journal_file *journal)
{
    atomic_store(&journal->stopping, true);
    writer_ask_attention(journal);
    pthread_join(journal->writer, NULL);
}

static void stop_preparer(struct journal_file *journal)
{
    pthread_mutex_lock(&journal->lock);
    journal->preparer_stopping = true;
    pthread_cond_broadcast(&journal->changed);
    pthread_mutex_unlock(&journal->lock);
    pthread_join(journal->preparer, NULL);
}

static void file_close(struct journal *port)
{
    struct journal_file *journal = journal_file_of(port);
    stop_writer(journal);
    stop_preparer(journal);
    journal_file_free(journal);
}

static const struct journal_ops file_ops = {
    .name = "file",
    .admit = file_admit,
    .reserve = file_reserve,
    .unreserve = file_unreserve,
    .append = file_append,
    .appended = file_appended,
    .released = file_released,
    .durable = file_durable,
    .sync = file_sync,
    .kick = file_kick,
    .state = file_state,
    .listen = file_listen,
    .stats = file_stats,
    .close = file_close,
};

static uint64_t usual_now(void *context)
{
    (void)context;
    return clock_monotonic_ns();
}

static size_t usual_ring_bytes(uint64_t segment_bytes)
{
    size_t size = RING_BYTES_MIN;
    while (size < RING_BYTES_MAX && size * 2 <= segment_bytes / 8)
        size *= 2;
    return size;
}

/* At least two of the largest long events, so that one can be reserved while another is written. */
static size_t usual_long_bytes(const struct journal_tuning *tuning)
{
    size_t kept = tuning->others_bytes + LIMIT_ADMIT_BYTES;
    size_t least = 2 * tuning->long_max;
    size_t part = tuning->ring_bytes > kept ? (tuning->ring_bytes - kept) / RING_LONG_PART : 0;
    return part > least ? part : least;
}

static struct journal_tuning complete_tuning(const struct journal_tuning *given,
                                             uint64_t segment_bytes)
{
    struct journal_tuning tuning = {0};
    if (given != NULL)
        tuning = *given;
    if (tuning.ring_bytes == 0)
        tuning.ring_bytes = usual_ring_bytes(segment_bytes);
    if (tuning.others_bytes == 0)
        tuning.others_bytes = LIMIT_ADMIT_OTHERS;
    if (tuning.long_max == 0)
        tuning.long_max = LIMIT_EVENT_LONG;
    if (tuning.long_bytes == 0)
        tuning.long_bytes = usual_long_bytes(&tuning);
    if (tuning.reserve_bytes == 0)
        tuning.reserve_bytes = RESERVE_BYTES;
    if (tuning.retry_ms == 0)
        tuning.retry_ms = SPARE_RETRY_MS;
    if (tuning.now_ns == NULL)
        tuning.now_ns = usual_now;
    return tuning;
}

static struct journal_file *journal_file_new(const struct journal_file_options *options,
                                             const struct journal_tuning *tuning)
{
    struct journal_file *journal = aligned_alloc(CACHE_LINE, sizeof *journal);
    if (journal == NULL)
        return NULL;
    memset(journal, 0, sizeof *journal);
    journal->port.ops = &file_ops;
    journal->magic = JOURNAL_FILE_MAGIC;
    snprintf(journal->directory, sizeof journal->directory, "%s", options->directory);
    snprintf(journal->disk_full_reason, sizeof journal->disk_full_reason,
             "the disk has no room for the next journal segment (%llu bytes)",
             (unsigned long long)options->segment_bytes);
    journal->durability = options->durability;
    journal->interval_ns = options->interval_ms * 1000000;
    journal->segment_bytes = options->segment_bytes;
    journal->tuning = *tuning;
    journal->fd = journal->mark_fd = journal->spare_fd = journal->directory_fd = -1;
    atomic_init(&journal->gate, STATUS_BLOCKED);
    atomic_init(&journal->spare, SPARE_WORKING);
    atomic_init(&journal->used_now, UINT64_MAX);
    atomic_init(&journal->pace, UINT64_MAX);
    await_make(&journal->await, 0);
    pthread_mutex_init(&journal->lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&journal->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    return journal;
}

static enum status open_failed(struct journal_report *report, const char *what, int error)
{
    snprintf(report->problem, sizeof report->problem, "%s failed: %s", what, strerror(-error));
    return error == -ENOSPC || error == -EDQUOT ? STATUS_DISK_FULL : STATUS_IO_FAILED;
}

static enum status make_directory(const char *directory, struct journal_report *report)
{
    char parent[JOURNAL_PATH_BYTES];
    journal_path(parent, directory, "..");
    int result = io_make_directory("journal.make", directory, 0777);
    if (result == 0)
        result = io_sync_directory("directory.sync", parent);
    return result == 0 ? STATUS_OK : open_failed(report, "creating the journal directory", result);
}

/* Removes files that a crash may have left incomplete; none of them has any events. */
static enum status remove_unfinished(const char *directory, struct journal_report *report)
{
    static const char *const names[] = {"spare.tmp", MARK_NAME ".tmp"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[JOURNAL_PATH_BYTES];
        journal_path(path, directory, names[i]);
        int result = io_unlink("unfinished.unlink", path);
        if (result < 0 && result != -ENOENT)
            return open_failed(report, "removing an unfinished file of the journal", result);
    }
    return STATUS_OK;
}

/* From now on the last segment ends with its last good batch, and all of it is on disk. */
static enum status cut_last(const char *directory, const struct journal_end *end,
                            struct journal_report *report)
{
    char name[SEGMENT_NAME_BYTES];
    char path[JOURNAL_PATH_BYTES];
    if (end->number == 0 || end->used == end->file_bytes)
        return STATUS_OK;
    segment_name(end->number, name);
    journal_path(path, directory, name);
    int fd = io_open("cut.open", path, O_RDWR, 0);
    if (fd < 0)
        return open_failed(report, "opening the last journal segment", fd);
    int result = io_truncate("cut.truncate", fd, end->used);
    if (result == 0)
        result = io_sync("cut.sync", fd);
    io_close("cut.close", fd);
    return result == 0 ? STATUS_OK
                       : open_failed(report, "cutting the last journal segment", result);
}

/*
 * The reading has synced the last segment, so everything that was read is on disk, and the file
 * `mark` may say so.
 */
static enum status renew_mark(struct journal_file *journal, const struct journal_end *end,
                              struct journal_report *report)
{
    int result = end->has_mark ? 0 : mark_make(journal->directory);
    if (result == 0)
        result = journal->mark_fd = mark_open(journal->directory);
    journal->mark = end->mark;
    if (!end->has_mark)
        journal->mark.sequence = 1;
    if (result >= 0)
        result = mark_write(journal->mark_fd, &journal->mark, end->position, end->chain);
    if (result >= 0)
        result = io_sync("mark.sync", journal->mark_fd);
    return result >= 0 ? STATUS_OK : open_failed(report, "writing the journal's file mark", result);
}

/* A last segment without batches is replaced by the next segment, which takes its number. */
static void continue_from(struct journal_file *journal, const struct journal_end *end)
{
    bool empty = end->number > 0 && end->used == SEGMENT_HEADER_BYTES;
    journal->number = empty ? end->number - 1 : end->number;
    journal->earlier_bytes = empty ? end->bytes - end->used : end->bytes;
    journal->written = journal->durable = end->position;
    journal->events = end->events;
    journal->chain = end->chain;
    atomic_init(&journal->released, end->position);
    await_advance(&journal->await, end->position);
    atomic_init(&journal->first.number, end->first_number);
    atomic_init(&journal->first.position, end->first);
}

/*
 * Starts both threads and waits until there is a segment to write to, or until it is clear that
 * none can be made.
 */
static enum status start_threads(struct journal_file *journal, struct journal_report *report)
{
    int error = pthread_create(&journal->preparer, NULL, preparer_run, journal);
    if (error != 0)
        return open_failed(report, "starting a journal thread", -error);
    error = pthread_create(&journal->writer, NULL, writer_run, journal);
    if (error != 0) {
        stop_preparer(journal);
        return open_failed(report, "starting a journal thread", -error);
    }
    pthread_mutex_lock(&journal->lock);
    while (!journal->settled)
        pthread_cond_wait(&journal->changed, &journal->lock);
    pthread_mutex_unlock(&journal->lock);
    if (atomic_load(&journal->gate) != STATUS_READONLY)
        return STATUS_OK;
    snprintf(report->problem, sizeof report->problem, "%s", journal->reason);
    stop_writer(journal);
    stop_preparer(journal);
    return STATUS_IO_FAILED;
}

static enum status open_at_end(struct journal_file *journal, const struct journal_end *end,
                               struct journal_report *report)
{
    enum status status = cut_last(journal->directory, end, report);
    if (status == STATUS_OK)
        status = renew_mark(journal, end, report);
    if (status != STATUS_OK)
        return status;
    journal->directory_fd =
        io_open("directory.open", journal->directory, O_RDONLY | O_DIRECTORY, 0);
    if (journal->directory_fd < 0)
        return open_failed(report, "opening the journal directory", journal->directory_fd);
    continue_from(journal, end);
    struct ring_sizes sizes = {.bytes = journal->tuning.ring_bytes,
                               .longs = journal->tuning.long_bytes,
                               .long_max = journal->tuning.long_max};
    int result = ring_make(&journal->ring, &sizes, end->position);
    if (result < 0)
        return open_failed(report, "allocating the journal's ring", result);
    return start_threads(journal, report);
}

enum status journal_file_open_tuned(const struct journal_file_options *options,
                                    const struct journal_tuning *given,
                                    const struct journal_reading *reading,
                                    struct journal_report *report, struct journal **out)
{
    struct journal_tuning tuning = complete_tuning(given, options->segment_bytes);
    struct journal_end end;
    *report = (struct journal_report){0};
    if (strlen(options->directory) > JOURNAL_DIRECTORY_MAX)
        return open_failed(report, "opening the journal directory", -ENAMETOOLONG);
    if (options->segment_bytes < SEGMENT_HEADER_BYTES + RING_LOW_FACTOR * tuning.ring_bytes ||
        tuning.others_bytes + tuning.long_bytes >= tuning.ring_bytes) {
        snprintf(report->problem, sizeof report->problem, "the journal's segments are too small");
        return STATUS_BAD_ARGUMENT;
    }
    enum status status = make_directory(options->directory, report);
    if (status == STATUS_OK)
        status = remove_unfinished(options->directory, report);
    if (status == STATUS_OK)
        status = journal_read(options->directory, true, reading, report, &end);
    if (status != STATUS_OK)
        return status;

    struct journal_file *journal = journal_file_new(options, &tuning);
    if (journal == NULL)
        return open_failed(report, "opening the journal", -ENOMEM);
    status = open_at_end(journal, &end, report);
    if (status == STATUS_OK)
        *out = &journal->port;
    else
        journal_file_free(journal);
    return status;
}

enum status journal_file_open(const struct journal_file_options *options,
                              const struct journal_reading *reading, struct journal_report *report,
                              struct journal **out)
{
    return journal_file_open_tuned(options, NULL, reading, report, out);
}

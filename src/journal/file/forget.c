/*
 * Removes segments from the front. A segment may be removed if its successor begins at or before
 * the position; this is read from the successor's own header, so only segments with a valid
 * successor are removed. Each removal is on disk before the next one, so after a crash there are no
 * gaps.
 *
 * Segments are removed and not used again: a complete segment has been cut, and its old contents
 * would have to be overwritten with zeros (segment.c, rule 1), which is as much work as making a
 * new spare.
 *
 * The thread that removes is not the writer. They share the number of the current segment, which
 * the writer publishes when the file has its name, and sums for the stats, each of which is written
 * by one thread only.
 */
#include "base/io.h"
#include "journal/file/private.h"
#include "journal/file/scan.h"

/* Does this segment begin at or before the position? Then all segments before it may be removed. */
static enum status begins_before(struct scan *scan, uint64_t number, uint64_t position,
                                 bool *before)
{
    enum status status = scan_open(scan, number, false);
    if (status == STATUS_OK)
        status = scan_header(scan);
    *before = status == STATUS_OK && scan->position <= position;
    return status;
}

/* Removes the first segment; the next one begins at `next`. */
static enum status forget_first(struct journal_file *journal, struct scan *scan, uint64_t next)
{
    char path[JOURNAL_PATH_BYTES];
    uint64_t number = atomic_load_explicit(&journal->first.number, memory_order_relaxed);
    enum status status = scan_open(scan, number, false);
    if (status != STATUS_OK)
        return status;
    uint64_t bytes = scan->size;
    scan_close(scan);
    journal_path(path, journal->directory, scan->name);
    if (io_unlink("forget.unlink", path) < 0)
        return STATUS_IO_FAILED;
    atomic_store_explicit(&journal->first.number, number + 1, memory_order_relaxed);
    atomic_store_explicit(&journal->first.position, next, memory_order_relaxed);
    atomic_fetch_add_explicit(&journal->first.forgotten_bytes, bytes, memory_order_release);
    return io_sync("forget.sync", journal->directory_fd) < 0 ? STATUS_IO_FAILED : STATUS_OK;
}

void journal_file_roll(struct journal *port)
{
    struct journal_file *journal = journal_file_of(port);
    pthread_mutex_lock(&journal->lock);
    atomic_store(&journal->roll_wanted, true);
    pthread_cond_broadcast(&journal->changed); /* the preparer need not keep pace any more */
    pthread_mutex_unlock(&journal->lock);
    writer_ask_attention(journal);
}

enum status journal_file_forget(struct journal *port, uint64_t position)
{
    struct journal_file *journal = journal_file_of(port);
    uint8_t window[SEGMENT_HEADER_BYTES];
    char problem[256];
    struct scan scan = {.directory = journal->directory,
                        .problem = problem,
                        .problem_bytes = sizeof problem,
                        .fd = -1,
                        .window = window,
                        .window_bytes = sizeof window};
    uint64_t number = atomic_load_explicit(&journal->first.number, memory_order_relaxed);
    uint64_t last = atomic_load_explicit(&journal->stats.number, memory_order_acquire);
    enum status status = STATUS_OK;
    bool before = true;
    while (status == STATUS_OK && before && number < last) {
        status = begins_before(&scan, ++number, position, &before);
        if (status == STATUS_OK && before)
            status = forget_first(journal, &scan, scan.position);
    }
    scan_close(&scan);
    return status == STATUS_OK ? STATUS_OK : STATUS_IO_FAILED;
}

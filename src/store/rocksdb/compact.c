/*
 * Rewrites all files, so that values that were removed or overwritten are in none of them.
 *
 * RocksDB keeps what a snapshot can still see, so this waits until all snapshots from before the call
 * are released. It deletes old files a little after the compaction, or when the last iterator over them
 * ends, so this waits until all files from before are gone. Both waits are bounded.
 *
 * Automatic compactions go on meanwhile: without them the number of sorted runs would reach the limit
 * at which writes stop. The keys of removed rows may stay in RocksDB's MANIFEST, which has the first and
 * the last key of each file, until the store is opened the next time; values are never there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/log.h"
#include "store/rocksdb/private.h"

enum { REWRITE_ALL = 2 /* BottommostLevelCompaction::kForce */, PAUSE_NS = 5000000 };
#define WAIT_NS 30000000000ULL

static uint64_t property(struct store_rocksdb *rocks, const char *name)
{
    uint64_t value = 0;
    rocksdb_property_int(rocks->database, name, &value);
    return value;
}

/* Calls `is_done` until it says so. False: it never did. */
static bool wait_until(bool (*is_done)(struct store_rocksdb *rocks, uint64_t argument),
                       struct store_rocksdb *rocks, uint64_t argument)
{
    uint64_t began_ns = clock_monotonic_ns();
    while (!is_done(rocks, argument)) {
        if (clock_monotonic_ns() - began_ns > WAIT_NS)
            return false;
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    }
    return true;
}

static bool snapshots_released(struct store_rocksdb *rocks, uint64_t sequence)
{
    return property(rocks, "rocksdb.num-snapshots") == 0 ||
           property(rocks, "rocksdb.oldest-snapshot-sequence") >= sequence;
}

struct listing {
    uint64_t newest; /* the highest number of a table file */
    uint64_t oldest; /* the lowest one */
};

static int look_at_file(void *context, const char *name)
{
    struct listing *listing = context;
    char *end;
    unsigned long long number = strtoull(name, &end, 10);
    if (end == name || strcmp(end, ".sst") != 0)
        return 0;
    if (number > listing->newest)
        listing->newest = number;
    if (number < listing->oldest)
        listing->oldest = number;
    return 0;
}

static struct listing list_files(struct store_rocksdb *rocks)
{
    struct listing listing = {.oldest = UINT64_MAX};
    int result = io_list("store.list", rocks->directory, look_at_file, &listing);
    if (result != 0) {
        log_warn("store: %s cannot be listed: %s", rocks->directory, strerror(-result));
        listing.oldest = 0;
    }
    return listing;
}

/*
 * Has RocksDB delete files that nobody uses any more. By itself it does so only at the end of a flush, of a
 * compaction or of an iterator; if the last user of an old file was a point read, the file would stay.
 */
static void delete_unused(struct store_rocksdb *rocks)
{
    char *problem = NULL;
    rocksdb_disable_file_deletions(rocks->database, &problem);
    if (problem == NULL)
        rocksdb_enable_file_deletions(rocks->database, 0, &problem);
    if (problem != NULL)
        log_warn("store: unused files cannot be deleted: %s", problem);
    rocksdb_free(problem);
}

/* Table files are numbered in the order in which they are made. */
static bool files_deleted(struct store_rocksdb *rocks, uint64_t newest)
{
    if (list_files(rocks).oldest > newest)
        return true;
    delete_unused(rocks);
    return list_files(rocks).oldest > newest;
}

/* A compaction needs as much space again; if it runs out of space, nothing can be written. */
static enum status check_room(struct store_rocksdb *rocks)
{
    uint64_t room;
    enum status status = rocksdb_free_space(rocks, &room);
    if (status != STATUS_OK)
        return status;
    uint64_t needed = property(rocks, "rocksdb.total-sst-files-size") + rocks->space_floor;
    return room < needed ? STATUS_DISK_FULL : STATUS_OK;
}

static enum status flush_memory(struct store_rocksdb *rocks)
{
    rocksdb_flushoptions_t *options = rocksdb_flushoptions_create();
    rocksdb_flushoptions_set_wait(options, 1);
    char *problem = NULL;
    rocksdb_flush(rocks->database, options, &problem);
    rocksdb_flushoptions_destroy(options);
    return problem_status(problem, "flushing");
}

/* The C interface does not return the error of a compaction; background errors say whether it failed. */
static enum status rewrite(struct store_rocksdb *rocks)
{
    uint64_t errors = property(rocks, "rocksdb.background-errors");
    rocksdb_compactoptions_t *options = rocksdb_compactoptions_create();
    rocksdb_compactoptions_set_exclusive_manual_compaction(options, 0);
    rocksdb_compactoptions_set_bottommost_level_compaction(options, REWRITE_ALL);
    rocksdb_compact_range_opt(rocks->database, options, NULL, 0, NULL, 0);
    rocksdb_compactoptions_destroy(options);
    return property(rocks, "rocksdb.background-errors") > errors ? STATUS_IO_FAILED : STATUS_OK;
}

static enum status rewrite_all(struct store_rocksdb *rocks)
{
    uint64_t sequence = rocksdb_get_latest_sequence_number(rocks->database);
    enum status status = check_room(rocks);
    if (status == STATUS_OK)
        status = flush_memory(rocks);
    if (status != STATUS_OK)
        return status;
    uint64_t newest = list_files(rocks).newest;
    if (!wait_until(snapshots_released, rocks, sequence))
        return STATUS_TOO_BUSY;
    status = rewrite(rocks);
    if (status == STATUS_OK && !wait_until(files_deleted, rocks, newest))
        status = STATUS_TOO_BUSY;
    return status;
}

enum status rocksdb_compact(struct store_admin *admin, store_progress_fn *progress, void *context)
{
    struct store_rocksdb *rocks = rocksdb_of(store_of_admin(admin));
    if (rocks->read_only)
        return STATUS_READONLY;
    struct store_report report = {.rows_total = property(rocks, "rocksdb.estimate-num-keys")};
    if (progress != NULL)
        progress(context, &report);
    enum status status = rewrite_all(rocks);
    report.rows = report.rows_total = property(rocks, "rocksdb.estimate-num-keys");
    if (progress != NULL && status == STATUS_OK)
        progress(context, &report);
    return status;
}

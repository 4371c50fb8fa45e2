/*
 * A memtable is an ordered list in which the position of each row must be found, and a flush writes
 * it to a file. Many ordered rows need neither: they are written directly to a table file, which
 * RocksDB then links into its tree in one step; this costs about a quarter. Small batches are still
 * written to the memtable, because each file is one more run to compact and to read.
 *
 * RocksDB slows writes down when compactions do not keep up, but it does not slow down the
 * ingestion of files. Therefore this waits before it begins a file while RocksDB has stopped
 * writes. The wait ends when a compaction ends, when background work has failed and RocksDB reports
 * it, or when the disk is full.
 *
 * A second file halves the time again if a core is idle: the first has all rows up to the position
 * row, the second the relation and by-user rows, which are about as many.
 *
 * A file is synced when RocksDB ingests it, so after a crash the position of the store may be after
 * the last flush; data and position agree as always.
 */
#include "store/rocksdb/sink.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/io.h"
#include "store/rocksdb/private.h"

static char *file_path(const char *directory, bool second)
{
    char *path;
    return asprintf(&path, "%s/%s", directory, second ? "BATCH2" : "BATCH") < 0 ? NULL : path;
}

static uint64_t property(struct store_rocksdb *rocks, const char *name)
{
    uint64_t value = 0;
    rocksdb_property_int(rocks->database, name, &value);
    return value;
}

/* After an error since the last successful write there may never be a compaction to wait for. */
static enum status wait_for_merges(struct store_rocksdb *rocks)
{
    uint64_t errors = atomic_load(&rocks->background_errors);
    enum status status = STATUS_OK;
    while (status == STATUS_OK && property(rocks, "rocksdb.is-write-stopped") != 0 &&
           property(rocks, "rocksdb.background-errors") == errors) {
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
        status = rocksdb_check_space(rocks);
    }
    return status;
}

/* Errors are noticed at the end. */
static void file_start(struct sink *sink, struct store_rocksdb *rocks)
{
    ASSERT(sink->batch == NULL && sink->file == NULL);
    char *path = file_path(rocks->directory, sink->second);
    sink->file = rocksdb_sstfilewriter_create(rocks->files, rocks->options);
    if (path != NULL)
        rocksdb_sstfilewriter_open(sink->file, path, &sink->problem);
    else
        sink->problem = strdup("Aborted: no memory");
    free(path);
}

enum status sink_start(struct sink *sink, struct store_rocksdb *rocks, size_t rows)
{
    *sink = (struct sink){0};
    if (rows < rocks->bulk_min) {
        sink->batch = rocks->batch;
        rocksdb_writebatch_clear(sink->batch);
        return STATUS_OK;
    }
    enum status status = wait_for_merges(rocks);
    if (status == STATUS_OK)
        file_start(sink, rocks);
    return status;
}

void sink_start_second(struct sink *second, struct store_rocksdb *rocks)
{
    *second = (struct sink){.second = true};
    file_start(second, rocks);
}

void sink_put(struct sink *sink, const uint8_t *key, size_t key_length, const uint8_t *value,
              size_t length)
{
    ASSERT((sink->batch == NULL) != (sink->file == NULL)); /* it writes to one of them */
    if (sink->batch != NULL)
        rocksdb_writebatch_put(sink->batch, (const char *)key, key_length, (const char *)value,
                               length);
    else if (sink->problem == NULL)
        rocksdb_sstfilewriter_put(sink->file, (const char *)key, key_length, (const char *)value,
                                  length, &sink->problem);
}

void sink_merge(struct sink *sink, const uint8_t *key, size_t key_length, const uint8_t *value,
                size_t length)
{
    ASSERT((sink->batch == NULL) != (sink->file == NULL)); /* it writes to one of them */
    if (sink->batch != NULL)
        rocksdb_writebatch_merge(sink->batch, (const char *)key, key_length, (const char *)value,
                                 length);
    else if (sink->problem == NULL)
        rocksdb_sstfilewriter_merge(sink->file, (const char *)key, key_length, (const char *)value,
                                    length, &sink->problem);
}

void sink_delete(struct sink *sink, const uint8_t *key, size_t key_length)
{
    ASSERT((sink->batch == NULL) != (sink->file == NULL)); /* it writes to one of them */
    if (sink->batch != NULL)
        rocksdb_writebatch_delete(sink->batch, (const char *)key, key_length);
    else if (sink->problem == NULL)
        rocksdb_sstfilewriter_delete(sink->file, (const char *)key, key_length, &sink->problem);
}

void sink_delete_range(struct sink *sink, const uint8_t *from, size_t from_length,
                       const uint8_t *to, size_t to_length)
{
    if (sink->batch != NULL)
        rocksdb_writebatch_delete_range(sink->batch, (const char *)from, from_length,
                                        (const char *)to, to_length);
    else if (sink->problem == NULL)
        rocksdb_sstfilewriter_delete_range(sink->file, (const char *)from, from_length,
                                           (const char *)to, to_length, &sink->problem);
}

/* If there was no space or quota for a file, RocksDB has never seen the file. */
static enum status file_end(struct sink *sink, enum status wanted)
{
    ASSERT(sink->file != NULL);
    if (wanted == STATUS_OK && sink->problem == NULL)
        rocksdb_sstfilewriter_finish(sink->file, &sink->problem);
    rocksdb_sstfilewriter_destroy(sink->file);
    enum status status = problem_peek(sink->problem);
    if (status == STATUS_DISK_FULL)
        free(sink->problem);
    else
        status = problem_status(sink->problem, "writing");
    return wanted != STATUS_OK ? wanted : status;
}

/* RocksDB ingests both files in one step. */
static enum status hand_over(struct store_rocksdb *rocks, bool both)
{
    char *paths[2] = {file_path(rocks->directory, false), file_path(rocks->directory, true)};
    char *problem = NULL;
    enum status status = STATUS_NO_MEMORY;
    if (paths[0] != NULL && paths[1] != NULL) {
        rocksdb_ingest_external_file(rocks->database, (const char *const *)paths, both ? 2 : 1,
                                     rocks->ingest, &problem);
        status = problem_status(problem, "writing");
    }
    free(paths[0]);
    free(paths[1]);
    return status;
}

static enum status finish_files(struct sink *sink, struct sink *second, struct store_rocksdb *rocks,
                                enum status wanted)
{
    enum status status = file_end(sink, wanted);
    if (second != NULL)
        status = file_end(second, status);
    if (status == STATUS_OK)
        status = hand_over(rocks, second != NULL);
    if (status != STATUS_OK)
        sink_clean(rocks->directory);
    return status;
}

enum status sink_finish(struct sink *sink, struct sink *second, struct store_rocksdb *rocks,
                        enum status wanted)
{
    ASSERT(second == NULL || sink->file != NULL);
    ASSERT(second == NULL || (second->second && second->file != NULL));
    if (sink->file != NULL)
        return finish_files(sink, second, rocks, wanted);
    if (wanted == STATUS_OK)
        rocksdb_write(rocks->database, rocks->write, sink->batch, &sink->problem);
    enum status status = problem_status(sink->problem, "writing");
    return wanted != STATUS_OK ? wanted : status;
}

static int file_clean(const char *directory, bool second)
{
    char *path = file_path(directory, second);
    if (path == NULL)
        return -ENOMEM;
    int result = io_unlink("store.batch.unlink", path);
    free(path);
    return result == -ENOENT ? 0 : result;
}

int sink_clean(const char *directory)
{
    int first = file_clean(directory, false);
    int second = file_clean(directory, true);
    return first != 0 ? first : second;
}

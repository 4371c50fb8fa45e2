/*
 * A memtable is a sorted list that each row must find its place in, and it is sorted once more into
 * a file when it is flushed. Rows that come sorted and in bulk need neither: written straight to a
 * table file, which RocksDB then links into its tree in one step, they cost about a quarter. Small
 * batches still go to the memtable, because each file is a run more to merge and to look into.
 *
 * RocksDB slows writers down when merging does not keep up, but not those who hand it files; so
 * before a file is begun, this waits while writes are stopped. It ends when a merge does, when the
 * background cannot go on and says so, or when the disk is full.
 *
 * The file is synced when RocksDB takes it, so after a crash the store may stand beyond the last
 * flush: data and position together, as ever.
 */
#include "store/rocksdb/sink.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/io.h"
#include "store/rocksdb/private.h"

#define FILE_NAME "BATCH"

static char *file_path(const char *directory)
{
    char *path;
    return asprintf(&path, "%s/" FILE_NAME, directory) < 0 ? NULL : path;
}

static uint64_t property(struct store_rocksdb *rocks, const char *name)
{
    uint64_t value = 0;
    rocksdb_property_int(rocks->database, name, &value);
    return value;
}

static enum status wait_for_merges(struct store_rocksdb *rocks)
{
    uint64_t errors = property(rocks, "rocksdb.background-errors");
    enum status status = STATUS_OK;
    while (status == STATUS_OK && property(rocks, "rocksdb.is-write-stopped") != 0 &&
           property(rocks, "rocksdb.background-errors") == errors) {
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
        status = rocksdb_check_space(rocks);
    }
    return status;
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
    char *path = status == STATUS_OK ? file_path(rocks->directory) : NULL;
    if (path == NULL)
        return status != STATUS_OK ? status : STATUS_NO_MEMORY;
    sink->file = rocksdb_sstfilewriter_create(rocks->files, rocks->options);
    rocksdb_sstfilewriter_open(sink->file, path, &sink->problem);
    free(path);
    return STATUS_OK;
}

void sink_put(struct sink *sink, const uint8_t *key, size_t key_length, const uint8_t *value,
              size_t length)
{
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
    if (sink->batch != NULL)
        rocksdb_writebatch_merge(sink->batch, (const char *)key, key_length, (const char *)value,
                                 length);
    else if (sink->problem == NULL)
        rocksdb_sstfilewriter_merge(sink->file, (const char *)key, key_length, (const char *)value,
                                    length, &sink->problem);
}

void sink_delete(struct sink *sink, const uint8_t *key, size_t key_length)
{
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

static void hand_over(struct sink *sink, struct store_rocksdb *rocks, const char *path)
{
    rocksdb_sstfilewriter_finish(sink->file, &sink->problem);
    if (sink->problem == NULL)
        rocksdb_ingest_external_file(rocks->database, &path, 1, rocks->ingest, &sink->problem);
}

static enum status finish_file(struct sink *sink, struct store_rocksdb *rocks, enum status wanted)
{
    char *path = file_path(rocks->directory);
    if (path == NULL && wanted == STATUS_OK)
        wanted = STATUS_NO_MEMORY;
    if (wanted == STATUS_OK && sink->problem == NULL)
        hand_over(sink, rocks, path);
    rocksdb_sstfilewriter_destroy(sink->file);
    enum status status = problem_status(sink->problem, "writing");
    free(path);
    status = wanted != STATUS_OK ? wanted : status;
    if (status != STATUS_OK)
        sink_clean(rocks->directory);
    return status;
}

enum status sink_finish(struct sink *sink, struct store_rocksdb *rocks, enum status wanted)
{
    if (sink->file != NULL)
        return finish_file(sink, rocks, wanted);
    if (wanted == STATUS_OK)
        rocksdb_write(rocks->database, rocks->write, sink->batch, &sink->problem);
    enum status status = problem_status(sink->problem, "writing");
    return wanted != STATUS_OK ? wanted : status;
}

int sink_clean(const char *directory)
{
    char *path = file_path(directory);
    if (path == NULL)
        return -ENOMEM;
    int result = io_unlink("store.batch.unlink", path);
    free(path);
    return result == -ENOENT ? 0 : result;
}

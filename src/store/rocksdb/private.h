/* Shared by the source files of the RocksDB store. No other module includes it. */
#ifndef LAUD_STORE_ROCKSDB_PRIVATE_H
#define LAUD_STORE_ROCKSDB_PRIVATE_H

#include <pthread.h>
#include <rocksdb/c.h>
#include <stdatomic.h>

#include "base/assert.h"
#include "store/rocksdb/crowded.h"
#include "store/rocksdb/keys.h"
#include "store/rocksdb/rows.h"
#include "store/rocksdb/store_rocksdb.h"
#include "store/store.h"

#define STORE_ROCKSDB_MAGIC 0x726f636b73746f72ULL

struct store_rocksdb {
    struct store store; /* must be the first member */
    uint64_t magic;
    char *directory;
    struct memory_budget *budget;
    uint64_t charged;
    uint64_t space_floor; /* If fewer bytes of disk are free, nothing is applied. */
    size_t ahead;         /* bytes that a scan prefetches in each file */
    size_t bulk_min;      /* Batches with more rows are ingested as a file, */
    bool bulk_apart;      /* or as two files. */
    bool read_only;

    /* created by tune.c, used by all threads */
    rocksdb_options_t *options;
    rocksdb_cache_t *cache;
    rocksdb_readoptions_t *read;
    rocksdb_writeoptions_t *write;
    rocksdb_envoptions_t *files;
    rocksdb_ingestexternalfileoptions_t *ingest;
    rocksdb_compactionfilter_t *expiring;
    rocksdb_t *database;
    rocksdb_column_family_handle_t *family;

    /* used only by the thread that applies and flushes */
    struct rows rows;
    struct rows rows_apart; /* for the second file */
    uint32_t *old_times;    /* see replaced.h */
    size_t old_times_capacity;
    rocksdb_writebatch_t *batch;
    struct store_place place; /* what the position row says */
    uint32_t format;          /* what the version row says */

    /* written by that thread, read by all threads */
    _Atomic uint64_t position;
    _Atomic uint64_t durable;
    _Atomic uint64_t reactions;
    _Atomic uint32_t newest_s;
    _Atomic uint32_t cleared_horizon_s; /* list_changes does not go back further. */
    _Atomic uint32_t expired_s;         /* Compactions remove what was cleared before this. */
    _Atomic uint64_t background_errors; /* RocksDB's number of them at the last successful write */
    _Atomic int failed;                 /* enum status of the last apply or flush */
    struct crowded crowded;             /* has a lock of its own */

    uint32_t rewrite_s; /* Files that are older are rewritten. */
    struct {            /* the thread of aging.c */
        pthread_t thread;
        pthread_mutex_t lock;
        pthread_cond_t stop;
        bool stopping; /* under the lock */
        bool runs;
    } aging;
};

static inline struct store_rocksdb *rocksdb_of(struct store *store)
{
    struct store_rocksdb *rocks = (struct store_rocksdb *)store;
    CHECK_MAGIC(rocks, STORE_ROCKSDB_MAGIC);
    return rocks;
}

struct store_snapshot {
    const rocksdb_snapshot_t *moment;
    rocksdb_readoptions_t *read;
};

/*
 * problem.c: the status that fits an error message of RocksDB. NULL is OK. problem_status frees the message
 * and logs it; `doing` says what failed. DISK_FULL: the operation may be tried again. NO_FILES: a read may
 * be tried again, but after a failed write RocksDB writes nothing more. problem_peek is for errors of files
 * that are not RocksDB's own.
 */
enum status problem_status(char *text, const char *doing);
enum status problem_peek(const char *text);

/* asserted.c: if RocksDB aborts while it opens a directory, print an error and exit with 1. */
struct sigaction;
void asserted_watch(const char *directory, struct sigaction *before);
void asserted_leave(const struct sigaction *before);

/* tune.c: all settings of RocksDB. NULL: RocksDB does not accept them. */
rocksdb_options_t *tune_options(const struct store_rocksdb_options *options, bool create,
                                rocksdb_cache_t *cache);
size_t tune_ahead(const struct store_rocksdb_options *options);
/* `ahead`: bytes to prefetch in each file, for a scan that bypasses the cache; else 0. */
rocksdb_readoptions_t *tune_read(const rocksdb_snapshot_t *snapshot, size_t ahead);

/*
 * mark.c: the position of the last flush, in a file next to RocksDB's files. They return -errno; -ENOENT:
 * there is no file, -EBADMSG: its checksum is wrong.
 */
#define MARK_NAME "DURABLE"
int store_mark_write(const char *directory, uint64_t position);
int store_mark_read(const char *directory, uint64_t *position);

/* read.c */
enum status rocksdb_read_reactions(struct store_reader *reader, struct store_reaction *keys,
                                   size_t count);
enum status rocksdb_read_items(struct store_reader *reader, const struct store_snapshot *snapshot,
                               struct store_item *items, size_t count, struct store_values *values);
struct store_snapshot *rocksdb_take_snapshot(struct store_reader *reader);
void rocksdb_drop_snapshot(struct store_reader *reader, struct store_snapshot *snapshot);
/* Reads one row, if there is one. At most `size` bytes are copied; *length is its full length. */
enum status rocksdb_read_row(struct store_rocksdb *rocks, rocksdb_readoptions_t *read,
                             const uint8_t *key, size_t key_length, uint8_t *value, size_t size,
                             size_t *length, bool *found);
enum status rocksdb_read_place(struct store_rocksdb *rocks, rocksdb_readoptions_t *read,
                               struct store_place *place, bool *found);

/* list.c */
enum status rocksdb_list_reactions(struct store_reader *reader, struct id user, uint8_t kind,
                                   uint16_t type, struct store_listed after,
                                   struct store_listed *out, size_t limit, size_t *count);
enum status rocksdb_list_reactors(struct store_reader *reader, struct item item, uint8_t kind,
                                  struct store_listed after, struct store_listed *out, size_t limit,
                                  size_t *count);
enum status rocksdb_list_user(struct store_reader *reader, struct id user,
                              const struct store_reaction *after, struct store_reaction *out,
                              size_t limit, size_t *count);

/* table.c */
enum status rocksdb_read_rows(struct store_reader *reader, enum store_table table,
                              const struct store_bytes *keys, size_t count,
                              struct store_bytes *values, struct store_arena *arena);
enum status rocksdb_scan_rows(struct store_reader *reader, const struct store_scan *scan,
                              struct store_row *rows, size_t *count, bool *more,
                              struct store_arena *arena);

/* changes.c */
enum status rocksdb_list_changes(struct store_reader *reader, struct id user, uint32_t since_s,
                                 struct store_listed after, struct store_listed *out, size_t limit,
                                 struct store_changed *changed);

/* expire.c: drops rows of what was cleared before *expired_s, which must outlive the filter. */
rocksdb_compactionfilter_t *expire_filter(const _Atomic uint32_t *expired_s);

/* apply.c */
enum status rocksdb_apply(struct store_applier *applier, const struct store_changes *changes);
enum status rocksdb_flush_all(struct store_applier *applier);
/* DISK_FULL: less than space_floor is free. */
enum status rocksdb_check_space(const struct store_rocksdb *rocks);
enum status rocksdb_free_space(const struct store_rocksdb *rocks, uint64_t *bytes);

/* checkpoint.c */
enum status rocksdb_checkpoint(struct store_admin *admin, const char *directory);

/* aging.c: a thread that makes RocksDB look for old files. False: it cannot be started. */
bool aging_start(struct store_rocksdb *rocks);
void aging_stop(struct store_rocksdb *rocks);
void aging_look(struct store_rocksdb *rocks);

/* visit.c, verify.c, compact.c */
enum status rocksdb_visit(struct store_admin *admin, const struct store_visitor *visitor);
enum status rocksdb_verify(struct store_admin *admin, store_progress_fn *progress, void *context,
                           struct store_report *report);
enum status rocksdb_compact(struct store_admin *admin, store_progress_fn *progress, void *context);

#endif

/* What the files of the RocksDB store share; nobody else includes it. */
#ifndef LAUD_STORE_ROCKSDB_PRIVATE_H
#define LAUD_STORE_ROCKSDB_PRIVATE_H

#include <pthread.h>
#include <rocksdb/c.h>
#include <stdatomic.h>

#include "base/assert.h"
#include "store/rocksdb/keys.h"
#include "store/rocksdb/rows.h"
#include "store/rocksdb/store_rocksdb.h"
#include "store/store.h"

#define STORE_ROCKSDB_MAGIC 0x726f636b73746f72ULL

struct store_rocksdb {
    struct store store; /* first: the port's functions get a pointer to it */
    uint64_t magic;
    char *directory;
    struct memory_budget *budget;
    uint64_t charged;
    uint64_t space_floor; /* free bytes of disk below which nothing is applied */
    size_t ahead;         /* bytes that a scan reads ahead in each file */
    size_t bulk_min;      /* rows of a batch that goes in as a file */
    bool bulk_apart;      /* and as two of them */
    bool read_only;

    /* made by tune.c, shared by all threads */
    rocksdb_options_t *options;
    rocksdb_cache_t *cache;
    rocksdb_readoptions_t *read;
    rocksdb_writeoptions_t *write;
    rocksdb_envoptions_t *files;
    rocksdb_ingestexternalfileoptions_t *ingest;
    rocksdb_compactionfilter_t *expiring;
    rocksdb_t *database;
    rocksdb_column_family_handle_t *family;

    /* of the thread that applies and flushes */
    struct rows rows;
    struct rows rows_apart; /* of the second file */
    uint32_t *old_times;    /* of changes whose reaction was live */
    size_t old_times_capacity;
    rocksdb_writebatch_t *batch;
    struct store_place place;

    /* written by that thread, read by any */
    _Atomic uint64_t position;
    _Atomic uint64_t durable;
    _Atomic uint64_t reactions;
    _Atomic uint32_t newest_s;
    _Atomic uint32_t cleared_horizon_s; /* what was cleared before this is not asked for */
    _Atomic uint32_t expired_s;         /* and before this is gone, or may go at any moment */
    _Atomic uint64_t background_errors; /* of RocksDB, that were over when a write last succeeded */
    _Atomic int failed;                 /* enum status of the last apply or flush */
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
 * problem.c: what RocksDB's text says; frees the text. OK for NULL. `doing` is for the log. DISK_FULL:
 * the same may be tried again. NO_FILES: a read may be, but RocksDB does not get over a file of its own
 * that it could not make. problem_peek is for what RocksDB was not writing in its own files.
 */
enum status problem_status(char *text, const char *doing);
enum status problem_peek(const char *text);

/* While RocksDB opens a directory: what aborts refuses it, and exits with 1. */
struct sigaction;
void asserted_watch(const char *directory, struct sigaction *before);
void asserted_leave(const struct sigaction *before);

/* tune.c: all settings in one place. */
rocksdb_options_t *tune_options(const struct store_rocksdb_options *options, bool create,
                                rocksdb_cache_t *cache);
size_t tune_ahead(const struct store_rocksdb_options *options);
/* With `ahead` bytes, of each file: for all rows of a sort, past the cache. 0: for some rows. */
rocksdb_readoptions_t *tune_read(const rocksdb_snapshot_t *snapshot, size_t ahead);

/* mark.c: what a flush reached, kept beside RocksDB's files; -errno. -ENOENT: there is none,
 * -EBADMSG: it does not verify. */
#define MARK_NAME "DURABLE"
int store_mark_write(const char *directory, uint64_t position);
int store_mark_read(const char *directory, uint64_t *position);

/* read.c */
enum status rocksdb_read_reactions(struct store *store, struct store_reaction *keys, size_t count);
enum status rocksdb_read_items(struct store *store, const struct store_snapshot *snapshot,
                               struct store_item *items, size_t count, struct store_values *values);
struct store_snapshot *rocksdb_take_snapshot(struct store *store);
void rocksdb_drop_snapshot(struct store *store, struct store_snapshot *snapshot);
/* One row; *found false: there is none. At most `size` bytes of it are copied, *length is all. */
enum status rocksdb_read_row(struct store_rocksdb *rocks, rocksdb_readoptions_t *read,
                             const uint8_t *key, size_t key_length, uint8_t *value, size_t size,
                             size_t *length, bool *found);
enum status rocksdb_read_place(struct store_rocksdb *rocks, rocksdb_readoptions_t *read,
                               struct store_place *place, bool *found);

/* list.c */
enum status rocksdb_list_reactions(struct store *store, struct id user, uint8_t kind, uint16_t type,
                                   struct store_listed after, struct store_listed *out,
                                   size_t limit, size_t *count);
enum status rocksdb_list_reactors(struct store *store, struct item item, uint8_t kind,
                                  struct store_listed after, struct store_listed *out, size_t limit,
                                  size_t *count);
enum status rocksdb_list_user(struct store *store, struct id user,
                              const struct store_reaction *after, struct store_reaction *out,
                              size_t limit, size_t *count);

/* changes.c */
enum status rocksdb_list_changes(struct store *store, struct id user, uint32_t since_s,
                                 struct store_listed after, struct store_listed *out, size_t limit,
                                 struct store_changed *changed);

/* expire.c: drops rows of what was cleared before *expired_s, which outlives it. */
rocksdb_compactionfilter_t *expire_filter(const _Atomic uint32_t *expired_s);

/* apply.c */
enum status rocksdb_apply(struct store *store, const struct store_changes *changes);
enum status rocksdb_flush_all(struct store *store);
enum status rocksdb_check_space(const struct store_rocksdb *rocks); /* or DISK_FULL, IO_FAILED */

/* visit.c, verify.c */
enum status rocksdb_visit(struct store *store, const struct store_visitor *visitor);
enum status rocksdb_verify(struct store *store, store_progress_fn *progress, void *context,
                           struct store_report *report);

#endif

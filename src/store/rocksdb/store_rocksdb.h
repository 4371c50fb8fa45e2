/*
 * The store on one machine: RocksDB behind the store port. Written without RocksDB's own log: the
 * journal is the log, so after a crash the store stands where it was last flushed, data and
 * position together, and what came after is applied again from the journal.
 *
 * Memtables, block cache and what a batch needs while it is applied are charged to the budget when
 * the store is opened and released when it is closed.
 */
#ifndef LAUD_STORE_ROCKSDB_H
#define LAUD_STORE_ROCKSDB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "store/store.h"

/* Zero means the default. */
struct store_rocksdb_options {
    const char *directory;               /* made if absent; nothing else may live in it */
    struct memory_budget *memory_budget; /* may be NULL: not counted anywhere */
    uint64_t cache_bytes;                /* of blocks read, indexes and filters; default 64 MiB */
    uint64_t write_buffer_bytes;         /* of all memtables together; default 64 MiB */
    uint32_t
        batch_max;     /* changes in one batch that memory is set aside for; larger ones work too */
    uint32_t bulk_min; /* rows of a batch that goes past the memtables; default 100,000 */
    bool bulk_apart;   /* such a batch is written as two files, by two threads: sooner, and a run
                          more to merge; for where nothing else is going on */
    bool read_only;    /* nothing is changed, not even made; needs the directory's lock */
};

/* NULL with one sentence in `problem` (size bytes). */
struct store *store_rocksdb_open(const struct store_rocksdb_options *options, char *problem,
                                 size_t size);

/* Was one ever made there? 1 also of one that is damaged, 0, or -errno. */
int store_rocksdb_exists(const char *directory);

#endif

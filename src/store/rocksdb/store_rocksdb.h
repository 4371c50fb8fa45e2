/*
 * The store port on RocksDB, for one machine. RocksDB's own log is not used, because the journal is the
 * log: after a crash the store has the data and the position of its last flush, and the projector applies
 * everything after that position again.
 *
 * Memory for memtables, block cache and the largest batch is charged to the budget when the store is
 * opened, and released when it is closed.
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
    const char *directory; /* is created if it does not exist; only this store uses it */
    struct memory_budget *memory_budget; /* NULL: memory is not charged */
    uint64_t cache_bytes;                /* block cache with indexes and filters; default 64 MiB */
    uint64_t write_buffer_bytes;         /* all memtables together; default 64 MiB */
    /* Memory is charged for batches with so many changes. Larger batches work too. */
    uint32_t batch_max;
    uint32_t bulk_min; /* Batches with more rows bypass the memtables; default 100,000. */
    /*
     * Such a batch is written as two files by two threads. This is faster, but makes more files to
     * compact, so it is for times when the machine has nothing else to do.
     */
    bool bulk_apart;
    /* Files that are older are rewritten without removed rows (tune.c); default 3 days. */
    uint32_t rewrite_s;
    bool read_only; /* Nothing is written or created. The caller holds the directory's lock. */
};

/* NULL: it failed, and `problem` (size bytes) has a sentence that says why. */
struct store *store_rocksdb_open(const struct store_rocksdb_options *options, char *problem,
                                 size_t size);

/* 1: a store was created there, which may be damaged. 0: there is none. Or -errno. */
int store_rocksdb_exists(const char *directory);

#endif

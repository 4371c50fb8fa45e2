/*
 * All settings of RocksDB, and the reasons for them.
 *
 * Universal compaction: the load consists of batches with keys from the whole range, each batch far
 * smaller than the database, and most rows never change again. Leveled compaction would write each
 * row about ten times. Sorted runs that are merged by size write it a few times, but a read has to
 * look into more runs. Reads are rare here, because the hot tier and its filters answer most
 * questions, and the bloom filters of the runs answer most of the others without reading a block.
 *
 * Two compactions at a time: a compaction of all runs takes minutes, and under load a new run is
 * added each second. Without a second compaction the number of runs would reach the limit at which
 * writes stop. RocksDB begins the second one only when there are many runs.
 *
 * Files are rewritten when they are older than rewrite_s: a removed text must not stay on disk for more
 * than 7 days, and RocksDB drops it only when all runs that have it and its deletion are merged. Under
 * universal compaction an old file starts a compaction of all runs, so removed bytes stay for one such
 * period. A merge of some runs can make the oldest one new again and so delay this by another period;
 * two periods of 3 days, and the time of the compaction itself, are within the 7 days. It costs writing
 * the whole store every 3 days, which is less than the load of a day on a busy server. See aging.c for
 * servers that are idle.
 *
 * The log is off, because the journal is the log, and flushes are atomic. Checks are as strict as
 * possible: a wrong answer is worse than none.
 */
#include <stdio.h>

#include "base/files.h"
#include "store/rocksdb/merge.h"
#include "store/rocksdb/private.h"

enum {
    BLOCK_BYTES = 8 * 1024,
    PART_BYTES = 32 * 1024, /* size of a block of an index or a filter */
    BLOOM_BITS = 10,
    MEMTABLES = 2,
    RUNS = 16,      /* sorted runs at which a compaction starts */
    RUNS_SLOW = 72, /* sorted runs at which writes are slowed down */
    RUNS_STOP = 96,
    MERGES = 2,      /* compactions at a time */
    LOG_NOTHING = 6, /* one more than the highest log level */
    AHEAD_MIN = 64 * 1024,
    AHEAD_MAX = 2 * 1024 * 1024,
    AHEAD_PART = 64, /* the write buffer is divided by this */
};

static void tune_tables(rocksdb_options_t *out, rocksdb_cache_t *cache)
{
    rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
    rocksdb_block_based_options_set_block_size(table, BLOCK_BYTES);
    rocksdb_block_based_options_set_filter_policy(
        table, rocksdb_filterpolicy_create_bloom_full(BLOOM_BITS));
    rocksdb_block_based_options_set_whole_key_filtering(table, 1);
    rocksdb_block_based_options_set_format_version(table, 5);
    rocksdb_block_based_options_set_block_cache(table, cache);
    /* Indexes and filters are in the cache, too, so memory stays within the configured size. */
    rocksdb_block_based_options_set_cache_index_and_filter_blocks(table, 1);
    rocksdb_block_based_options_set_cache_index_and_filter_blocks_with_high_priority(table, 1);
    /*
     * They are partitioned, so that a large file does not load a whole filter into a small cache.
     */
    rocksdb_block_based_options_set_index_type(
        table, rocksdb_block_based_table_index_type_two_level_index_search);
    rocksdb_block_based_options_set_partition_filters(table, 1);
    rocksdb_block_based_options_set_metadata_block_size(table, PART_BYTES);
    rocksdb_block_based_options_set_pin_top_level_index_and_filter(table, 1);
    rocksdb_options_set_block_based_table_factory(out, table);
    rocksdb_block_based_options_destroy(table);
}

/*
 * Read-ahead is needed for each file of a compaction or scan, so with little memory it has to be
 * small.
 */
size_t tune_ahead(const struct store_rocksdb_options *options)
{
    uint64_t bytes = options->write_buffer_bytes / AHEAD_PART;
    return bytes < AHEAD_MIN ? AHEAD_MIN : bytes > AHEAD_MAX ? AHEAD_MAX : bytes;
}

static void tune_compaction(rocksdb_options_t *out, const struct store_rocksdb_options *options)
{
    rocksdb_universal_compaction_options_t *universal =
        rocksdb_universal_compaction_options_create();
    rocksdb_universal_compaction_options_set_size_ratio(universal, 10);
    rocksdb_universal_compaction_options_set_min_merge_width(universal, 8);
    rocksdb_universal_compaction_options_set_max_size_amplification_percent(universal, 200);
    rocksdb_options_set_compaction_style(out, rocksdb_universal_compaction);
    rocksdb_options_set_universal_compaction_options(out, universal);
    rocksdb_universal_compaction_options_destroy(universal);
    rocksdb_options_set_level0_file_num_compaction_trigger(out,
                                                           options->bulk_apart ? 2 * RUNS : RUNS);
    rocksdb_options_set_level0_slowdown_writes_trigger(out, RUNS_SLOW);
    rocksdb_options_set_level0_stop_writes_trigger(out, RUNS_STOP);
    rocksdb_options_set_compression(out, rocksdb_lz4_compression);
    rocksdb_options_set_max_background_jobs(out, MERGES + 1);
    rocksdb_options_compaction_readahead_size(out, tune_ahead(options));
}

static void tune_threads(rocksdb_options_t *out)
{
    rocksdb_env_t *env = rocksdb_create_default_env();
    rocksdb_env_set_background_threads(env, MERGES);
    rocksdb_env_set_high_priority_background_threads(env, 1);
    rocksdb_env_lower_thread_pool_cpu_priority(env);
    rocksdb_env_lower_thread_pool_io_priority(env);
    rocksdb_options_set_env(out, env);
    rocksdb_env_destroy(env); /* frees only the wrapper; the threads belong to the process */
}

/* RocksDB's C interface has no function for this setting, but it can be given as text. */
static rocksdb_options_t *tune_age(rocksdb_options_t *base, uint32_t rewrite_s)
{
    char text[64];
    char *problem = NULL;
    rocksdb_options_t *aged = rocksdb_options_create();
    snprintf(text, sizeof(text), "periodic_compaction_seconds=%u", rewrite_s);
    rocksdb_get_options_from_string(base, text, aged, &problem);
    rocksdb_options_destroy(base);
    if (problem == NULL)
        return aged;
    (void)problem_status(problem, "opening"); /* logs it */
    rocksdb_options_destroy(aged);
    return NULL;
}

rocksdb_options_t *tune_options(const struct store_rocksdb_options *options, bool create,
                                rocksdb_cache_t *cache)
{
    rocksdb_options_t *out = rocksdb_options_create();
    rocksdb_options_set_create_if_missing(out, create);
    rocksdb_options_set_paranoid_checks(out, 1);
    rocksdb_options_set_atomic_flush(out, 1);
    rocksdb_options_set_merge_operator(out, counters_merge_operator());
    rocksdb_options_set_db_write_buffer_size(out, options->write_buffer_bytes);
    rocksdb_options_set_write_buffer_size(out, options->write_buffer_bytes / MEMTABLES);
    rocksdb_options_set_max_write_buffer_number(out, MEMTABLES);
    rocksdb_options_set_allow_concurrent_memtable_write(out, 0); /* only one thread writes */
    rocksdb_options_set_max_open_files(out, (int)files_of_store(files_allowed()));
    rocksdb_options_set_bytes_per_sync(out, 1024 * 1024);
    rocksdb_options_set_stats_dump_period_sec(out, 0);
    /*
     * RocksDB may abort when it cannot write to its own info log, so the level is set so that
     * nothing is logged. Errors are returned by the calls.
     */
    rocksdb_options_set_info_log_level(out, LOG_NOTHING);
    rocksdb_options_set_keep_log_file_num(out, 1);
    if (options->read_only)
        /* An empty path: the directory is not even created. */
        rocksdb_options_set_db_log_dir(out, "/dev/null");
    tune_tables(out, cache);
    tune_compaction(out, options);
    tune_threads(out);
    return tune_age(out, options->rewrite_s);
}

rocksdb_readoptions_t *tune_read(const rocksdb_snapshot_t *snapshot, size_t ahead)
{
    rocksdb_readoptions_t *out = rocksdb_readoptions_create();
    rocksdb_readoptions_set_verify_checksums(out, 1);
    if (snapshot != NULL)
        rocksdb_readoptions_set_snapshot(out, snapshot);
    if (ahead > 0) {
        rocksdb_readoptions_set_fill_cache(out, 0);
        rocksdb_readoptions_set_readahead_size(out, ahead);
    }
    return out;
}

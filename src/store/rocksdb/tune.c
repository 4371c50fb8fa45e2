/*
 * Every setting of RocksDB, and why.
 *
 * Universal compaction: the load is batches of keys all over the range, each one far smaller than
 * the base, and most rows are never touched again. Levels would write each row about ten times
 * over; sorted runs merged by size write it a few times, for more runs to look into on a read. Reads
 * are rare here (the hot tier and its filters stand before them) and the bloom filters of each run
 * answer most without touching a block.
 *
 * Two merges at a time: one of all runs takes minutes, and under load a new run comes each second. They
 * pass the bound where writes stop, unless they can be merged meanwhile. RocksDB begins the second only
 * when there are many.
 *
 * The log is off (the journal is one) and flushes are atomic. Checks are as strict as they go: a
 * wrong answer is worse than none.
 */
#include "base/files.h"
#include "store/rocksdb/merge.h"
#include "store/rocksdb/private.h"

enum {
    BLOCK_BYTES = 8 * 1024,
    PART_BYTES = 32 * 1024, /* of an index or a filter */
    BLOOM_BITS = 10,
    MEMTABLES = 2,
    RUNS = 16,      /* sorted runs that start a merge */
    RUNS_SLOW = 72, /* that slow writes down */
    RUNS_STOP = 96,
    MERGES = 2,      /* at a time */
    LOG_NOTHING = 6, /* one above the highest level there is */
    AHEAD_MIN = 64 * 1024,
    AHEAD_MAX = 2 * 1024 * 1024,
    AHEAD_PART = 64, /* of the write buffer */
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
    /* Indexes and filters live in the cache too: memory stays where it was set. */
    rocksdb_block_based_options_set_cache_index_and_filter_blocks(table, 1);
    rocksdb_block_based_options_set_cache_index_and_filter_blocks_with_high_priority(table, 1);
    /* In parts, so that a large file does not push a whole filter through a small cache. */
    rocksdb_block_based_options_set_index_type(
        table, rocksdb_block_based_table_index_type_two_level_index_search);
    rocksdb_block_based_options_set_partition_filters(table, 1);
    rocksdb_block_based_options_set_metadata_block_size(table, PART_BYTES);
    rocksdb_block_based_options_set_pin_top_level_index_and_filter(table, 1);
    rocksdb_options_set_block_based_table_factory(out, table);
    rocksdb_block_based_options_destroy(table);
}

/* Every file that is merged or scanned is read ahead, so what is large for one is much for a small
 * memory. */
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
    rocksdb_env_destroy(env); /* the wrapper; the threads are the process's own */
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
    rocksdb_options_set_allow_concurrent_memtable_write(out, 0); /* one thread writes */
    rocksdb_options_set_max_open_files(out, (int)files_of_store(files_allowed()));
    rocksdb_options_set_bytes_per_sync(out, 1024 * 1024);
    rocksdb_options_set_stats_dump_period_sec(out, 0);
    /* RocksDB may abort when it cannot write to its own log, so nothing is important enough for it.
     * What goes wrong comes back with the calls. */
    rocksdb_options_set_info_log_level(out, LOG_NOTHING);
    rocksdb_options_set_keep_log_file_num(out, 1);
    if (options->read_only)
        rocksdb_options_set_db_log_dir(out, "/dev/null"); /* no directory: not even made */
    tune_tables(out, cache);
    tune_compaction(out, options);
    tune_threads(out);
    return out;
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

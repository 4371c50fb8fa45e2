/*
 * Rows of what was cleared are sorted by user, so those that are too old lie all over the range and
 * cannot go as one. They go one by one when RocksDB merges the files they are in, which costs
 * nothing that is not done anyway.
 *
 * A merge asks for no snapshot and cannot be taken back by a crash, so it goes by the horizon that
 * is on disk already (expired_s), never by one that a crash could lower again: else a cursor between
 * the two would be taken, and find rows missing. Whoever reads makes sure of the horizon once its
 * iterator stands, which keeps the files as they were (changes.c).
 */
#include "store/rocksdb/private.h"

static unsigned char is_expired(void *state, int level, const char *key, size_t key_length,
                                const char *value, size_t value_length, char **new_value,
                                size_t *new_length, unsigned char *changed)
{
    (void)level, (void)value, (void)value_length, (void)new_value;
    const _Atomic uint32_t *expired_s = state;
    uint32_t time_s = key_cleared_time((const uint8_t *)key, key_length);
    *changed = 0; /* a row stays as it is, or goes */
    *new_length = 0;
    return time_s != 0 && time_s < atomic_load_explicit(expired_s, memory_order_relaxed);
}

static void nothing(void *state)
{
    (void)state;
}

static const char *filter_name(void *state)
{
    (void)state;
    return "laud.cleared.1";
}

rocksdb_compactionfilter_t *expire_filter(const _Atomic uint32_t *expired_s)
{
    rocksdb_compactionfilter_t *filter = rocksdb_compactionfilter_create(
        (void *)(uintptr_t)expired_s, nothing, is_expired, filter_name);
    rocksdb_compactionfilter_set_ignore_snapshots(filter, 1);
    return filter;
}

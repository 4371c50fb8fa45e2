/*
 * Rows of cleared reactions are ordered by user, so rows that are too old are scattered and cannot
 * be deleted as one range. Each is removed when RocksDB compacts the file that has it, which costs
 * nothing extra.
 *
 * A compaction does not respect snapshots and cannot be undone by a crash. Therefore it uses the
 * horizon that is already on disk (expired_s), never one that a crash could lower again: otherwise
 * a cursor between the two horizons would be accepted although rows are missing. A reader checks
 * the horizon after it has made its iterator, which keeps the files as they were (changes.c).
 */
#include "store/rocksdb/private.h"

static unsigned char is_expired(void *state, int level, const char *key, size_t key_length,
                                const char *value, size_t value_length, char **new_value,
                                size_t *new_length, unsigned char *changed)
{
    (void)level, (void)value, (void)value_length, (void)new_value;
    const _Atomic uint32_t *expired_s = state;
    uint32_t time_s = key_cleared_time((const uint8_t *)key, key_length);
    *changed = 0; /* a row is kept unchanged or removed */
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

/*
 * Counters in RocksDB. A value is a list of counters ordered by name. Each has one byte of name and
 * a varint of up to ten bytes (seven bits per byte, the lowest first; a set upper bit means that
 * more follow) with the number in zigzag form (0, -1, 1, -2 …). A single like on an item takes two
 * bytes.
 *
 * Sums are computed in two's complement, so their order and grouping do not matter; therefore
 * RocksDB may merge operands before it sees a value. Sums of 0 are never written: as an operand 0
 * adds nothing, and a counter of 0 is never shown. The result may be empty; then the item has no
 * counters.
 *
 * The result is passed to RocksDB in a buffer of the calling thread, and RocksDB copies it at once:
 * merging never allocates memory, so it cannot fail for lack of it.
 */
#include "store/rocksdb/merge.h"

#include <string.h>

#include "base/assert.h"

enum { NAMES = 256 };

struct sums {
    uint64_t there[NAMES / 64]; /* a bit for each name that has a sum */
    uint64_t sum[NAMES];
};

size_t counter_write(uint8_t *out, uint8_t name, int64_t value)
{
    uint64_t bits = (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
    size_t length = 0;
    out[length++] = name;
    while (bits >= 0x80) {
        out[length++] = (uint8_t)(bits | 0x80);
        bits >>= 7;
    }
    out[length++] = (uint8_t)bits;
    ASSERT(length <= COUNTER_BYTES_MAX);
    return length;
}

bool counter_read(const uint8_t **at, const uint8_t *end, uint8_t *name, int64_t *value)
{
    const uint8_t *next = *at;
    if (end - next < 2)
        return false;
    *name = *next++;
    uint64_t bits = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (next == end)
            return false;
        uint8_t byte = *next++;
        if (shift == 63 && byte > 1)
            return false;
        bits |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *value = (int64_t)(bits >> 1 ^ (0 - (bits & 1)));
            ASSERT(next <= end);
            *at = next;
            return true;
        }
    }
    return false;
}

static bool sums_add(struct sums *sums, const char *bytes, size_t length)
{
    const uint8_t *at = (const uint8_t *)bytes;
    const uint8_t *end = at + length;
    while (at != end) {
        uint8_t name;
        int64_t value;
        if (!counter_read(&at, end, &name, &value))
            return false;
        uint64_t bit = 1ULL << (name & 63);
        if (!(sums->there[name >> 6] & bit))
            sums->sum[name] = 0;
        sums->there[name >> 6] |= bit;
        sums->sum[name] += (uint64_t)value;
    }
    return true;
}

static size_t sums_write(const struct sums *sums, uint8_t *out)
{
    size_t length = 0;
    for (unsigned word = 0; word < NAMES / 64; word++)
        for (uint64_t set = sums->there[word]; set != 0; set &= set - 1) {
            unsigned name = word * 64 + (unsigned)__builtin_ctzll(set);
            if (sums->sum[name] != 0)
                length += counter_write(out + length, (uint8_t)name, (int64_t)sums->sum[name]);
        }
    return length;
}

static char *merge_all(const char *value, size_t value_length, const char *const *operands,
                       const size_t *lengths, int count, unsigned char *success, size_t *length)
{
    static _Thread_local uint8_t out[NAMES * COUNTER_BYTES_MAX];
    struct sums sums;
    memset(sums.there, 0, sizeof(sums.there));
    bool good = value == NULL || sums_add(&sums, value, value_length);
    for (int i = 0; good && i < count; i++)
        good = sums_add(&sums, operands[i], lengths[i]);
    *success = good;
    *length = good ? sums_write(&sums, out) : 0;
    ASSERT(*length <= sizeof(out));
    return (char *)out;
}

static char *merge_full(void *state, const char *key, size_t key_length, const char *value,
                        size_t value_length, const char *const *operands, const size_t *lengths,
                        int count, unsigned char *success, size_t *length)
{
    (void)state, (void)key, (void)key_length;
    return merge_all(value, value_length, operands, lengths, count, success, length);
}

static char *merge_partial(void *state, const char *key, size_t key_length,
                           const char *const *operands, const size_t *lengths, int count,
                           unsigned char *success, size_t *length)
{
    (void)state, (void)key, (void)key_length;
    return merge_all(NULL, 0, operands, lengths, count, success, length);
}

static void nothing(void *state)
{
    (void)state;
}

static void keep_value(void *state, const char *value, size_t length)
{
    (void)state, (void)value, (void)length;
}

static const char *merge_name(void *state)
{
    (void)state;
    return "laud.counters.1";
}

rocksdb_mergeoperator_t *counters_merge_operator(void)
{
    return rocksdb_mergeoperator_create(NULL, nothing, merge_full, merge_partial, keep_value,
                                        merge_name);
}

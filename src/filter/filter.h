/*
 * A cuckoo filter of 64-bit keys: 16-bit fingerprints, four in a bucket of 8 bytes. It may answer
 * "maybe" for a key that is not in it, but never "no" for a key that is. It grows by adding a
 * larger segment to those it has, so it is never copied as a whole and nobody waits. Keys are
 * hashes: all of their bits must be random.
 *
 * One thread at a time adds and removes. At the same time any thread may ask, without a lock and
 * without waiting. Memory is charged to the budget. A filter that cannot grow any more, because
 * budget or memory is used up, is *open*: it answers "maybe" for everything, which is slower but
 * never wrong.
 */
#ifndef LAUD_FILTER_FILTER_H
#define LAUD_FILTER_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"

struct filter;

struct filter_stats {
    uint64_t keys;
    uint64_t slots;
    uint64_t bytes;
    uint32_t segments;
    bool open; /* the filter answers "maybe" for everything */
};

/*
 * `first_keys`: the number of keys for which the first segment is made; 0: the default. NULL: there
 * is no memory.
 */
struct filter *filter_new(struct memory_budget *budget, uint64_t first_keys);
void filter_free(struct filter *filter);

/* Any thread may call these. */
bool filter_may_have(const struct filter *filter, uint64_t key);
void filter_prefetch(const struct filter *filter, uint64_t key);
void filter_stats(const struct filter *filter, struct filter_stats *out);

/* Only the writing thread calls these. A key that was added n times must be removed n times. */
void filter_add(struct filter *filter, uint64_t key);
/*
 * The key must have been added. Removing any other key may remove the entry of a third key, or do
 * nothing.
 */
void filter_remove(struct filter *filter, uint64_t key);

#endif

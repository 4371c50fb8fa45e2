/*
 * A cuckoo filter over 64-bit keys: 16-bit fingerprints, four to a bucket of 8 bytes. It may say
 * "maybe" of a key that is not in it, never "no" of one that is. It grows by adding a larger
 * segment beside those it has, so nothing is ever moved as a whole and nobody waits. Keys are
 * hashes: all their bits are taken as random.
 *
 * One thread at a time adds and removes; any thread may ask at the same time, without a lock and
 * without waiting.
 * Memory is charged to the budget. A filter that cannot grow any more (budget, memory) says
 * "maybe" to everything from then on and counts as open: slower, never wrong.
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
    bool open; /* says maybe to everything */
};

/* `first_keys`: how many the first segment is made for, 0: the usual. NULL: no memory. */
struct filter *filter_new(struct memory_budget *budget, uint64_t first_keys);
void filter_free(struct filter *filter);

/* Any thread. */
bool filter_may_have(const struct filter *filter, uint64_t key);
void filter_prefetch(const struct filter *filter, uint64_t key);
void filter_stats(const struct filter *filter, struct filter_stats *out);

/* The writing thread. A key added n times must be removed n times. */
void filter_add(struct filter *filter, uint64_t key);
/* Only a key that was added: anything else may take another key's place away, or do nothing. */
void filter_remove(struct filter *filter, uint64_t key);

#endif

/*
 * What is known of reactions and counters while a batch of rows is brought to what it changes: a
 * table of entries, in the order they came up, found by hash. Its size is fixed when it is made.
 *
 * Used by one thread.
 */
#ifndef LAUD_MOVE_KNOWN_H
#define LAUD_MOVE_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"

struct known_entry {
    struct id user; /* of a counter: 0 */
    struct item item;
    uint8_t name; /* kind or counter */
    bool is_counter;
    int64_t value; /* of a counter; of a reaction its time, 0: not live */
};

struct known {
    struct known_entry *entries;
    uint64_t *slots; /* 0: empty; else hash in the upper half, 1 + index in the lower */
    uint32_t used;
    uint32_t capacity;
    uint32_t mask;
    uint64_t seed;
};

/* Bytes of a table for so many entries. */
size_t known_bytes(uint32_t capacity);

/* False: no memory. `seed`: so that nobody can choose ids that all look alike. */
bool known_init(struct known *known, uint32_t capacity, uint64_t seed);
void known_free(struct known *known);
void known_clear(struct known *known);

/* `key` needs no value. NULL: not there. */
struct known_entry *known_find(const struct known *known, const struct known_entry *key);
void known_prefetch(const struct known *known, const struct known_entry *key);

/* Finds or adds, without a value; the index. There must be room. */
uint32_t known_take(struct known *known, const struct known_entry *key);

#endif

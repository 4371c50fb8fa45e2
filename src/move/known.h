/*
 * The state of reactions and counters while a batch of rows is decided: a hash table of entries, which are
 * kept in the order in which they were added. Its size is fixed when it is made.
 *
 * One thread uses it. The table owns its memory.
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
    int64_t value; /* the value of a counter; the time of a reaction, 0: it is not set */
};

struct known {
    struct known_entry *entries;
    uint64_t *slots; /* 0: empty; otherwise the hash in the upper half, 1 + index in the lower */
    uint32_t used;
    uint32_t capacity;
    uint32_t mask;
    uint64_t seed;
};

/* How many bytes a table for so many entries uses. */
size_t known_bytes(uint32_t capacity);

/* False: no memory. The seed prevents a source from having ids whose hashes collide. */
bool known_init(struct known *known, uint32_t capacity, uint64_t seed);
void known_free(struct known *known);
void known_clear(struct known *known);

/* The value of `key` is not used. NULL: there is no such entry. */
struct known_entry *known_find(const struct known *known, const struct known_entry *key);
void known_prefetch(const struct known *known, const struct known_entry *key);

/* Finds an entry, or adds it without a value, and returns its index. The table must have room. */
uint32_t known_take(struct known *known, const struct known_entry *key);

#endif

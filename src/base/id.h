/*
 * Ids and items. An id is an unsigned 64-bit decimal number ("narrow") or a UUID ("wide"), kept in
 * 128 bits. No id is both: a narrow id has an upper half of zero, and a UUID whose first 64 bits
 * are all zero is not accepted as an id. (The nil UUID is the only such UUID of RFC 9562.)
 *
 * Leading zeros of a decimal number and the case of a UUID do not matter. Replies have the
 * canonical text: no leading zeros, lower case. Any thread may call.
 */
#ifndef LAUD_BASE_ID_H
#define LAUD_BASE_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/limits.h"

struct id {
    uint64_t hi; /* 0 for a narrow id */
    uint64_t lo;
};

struct item {
    struct id id;
    uint16_t type; /* index in the table of types, see names.h */
};

/* False if the text is not an id. */
bool id_parse(const char *text, size_t length, struct id *out);

/* Writes the canonical text without a terminator and returns its length. */
size_t id_format(struct id id, char out[LIMIT_ID_TEXT]);

static inline bool id_equal(struct id a, struct id b)
{
    return a.hi == b.hi && a.lo == b.lo;
}

static inline bool id_is_wide(struct id id)
{
    return id.hi != 0;
}

/*
 * The hash for tables. The seed is mixed in before the halves are multiplied. Otherwise a client
 * could choose ids that make one factor zero, and all of those would have the same hash.
 */
static inline uint64_t id_hash(struct id id, uint64_t seed)
{
    return hash_3(id.lo ^ seed, id.hi ^ (seed << 32 | seed >> 32), seed);
}

static inline bool item_equal(struct item a, struct item b)
{
    return a.type == b.type && id_equal(a.id, b.id);
}

static inline uint64_t item_hash(struct item item, uint64_t seed)
{
    return hash_3(item.id.lo ^ seed, item.id.hi ^ (seed << 32 | seed >> 32), seed + item.type);
}

#endif

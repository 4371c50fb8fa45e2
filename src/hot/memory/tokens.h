/*
 * The idempotency tokens of one item shard: which additions and comments were made lately. A token can have a
 * value, which a repeated write answers: the id of a comment. Times are recorded times,
 * which never go backwards.
 *
 * The memory comes from the shard's slab. All functions are called under the shard's lock. The caller
 * counts the tokens of all shards together.
 */
#ifndef LAUD_HOT_MEMORY_TOKENS_H
#define LAUD_HOT_MEMORY_TOKENS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slab.h"
#include "base/table.h"

/* About how much memory one token uses: its cell and its share of the table. A value takes 8 bytes more. */
#define TOKEN_BYTES 40

struct tokens {
    struct table table;
    uint32_t oldest; /* a chain of cells in the order in which they were added */
    uint32_t newest;
};

void tokens_init(struct tokens *tokens, struct slab *slab);
void tokens_destroy(struct tokens *tokens);

/* Removes up to `most` tokens that are older than ttl_s; returns how many. */
uint64_t tokens_expire(struct tokens *tokens, uint32_t now_s, uint32_t ttl_s, uint64_t most);

/* Was this token added at most ttl_s ago? */
bool tokens_has(const struct tokens *tokens, const uint64_t token[2], uint32_t now_s,
                uint32_t ttl_s);

/* The value of such a token; 0: there is no such token, or it has no value. */
uint64_t tokens_value(const struct tokens *tokens, const uint64_t token[2], uint32_t now_s,
                      uint32_t ttl_s);

/*
 * Reserves a cell for a token with this value; 0: no memory. The caller then calls tokens_release or
 * tokens_add, with the same value. A value of 0 means that the token has none.
 */
uint32_t tokens_reserve(struct tokens *tokens, const uint64_t token[2], uint64_t value);
void tokens_release(struct tokens *tokens, uint32_t cell, uint64_t value);
/* Tokens are added in the order of their times, except before the first request: then in any order. */
void tokens_add(struct tokens *tokens, uint32_t cell, const uint64_t token[2], uint32_t time_s,
                uint64_t value);

/* Copies the cells in retiring pages of the slab to other pages; false: no memory for this. */
bool tokens_relocate(struct tokens *tokens);

#endif

/*
 * The idempotency tokens of one item shard: which additions were made lately. Times are recorded times,
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

/* About how much memory one token uses: its cell and its share of the table. */
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

/* Reserves a cell for a token; 0: no memory. The caller then calls tokens_release or tokens_add. */
uint32_t tokens_reserve(struct tokens *tokens, const uint64_t token[2]);
void tokens_release(struct tokens *tokens, uint32_t cell);
/* Tokens are added in the order of their times, except before the first request: then in any order. */
void tokens_add(struct tokens *tokens, uint32_t cell, const uint64_t token[2], uint32_t time_s);

/* Copies the cells in retiring pages of the slab to other pages; false: no memory for this. */
bool tokens_relocate(struct tokens *tokens);

#endif

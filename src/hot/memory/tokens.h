/*
 * The idempotency tokens of one item shard: which additions were made lately. Times are recorded ones,
 * which never fall.
 *
 * Cells come from the shard's slab; used under the shard's lock. How many there are over all
 * shards is the owner's to count.
 */
#ifndef LAUD_HOT_MEMORY_TOKENS_H
#define LAUD_HOT_MEMORY_TOKENS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slab.h"
#include "base/table.h"

/* Memory that one takes, about: its cell, and its part of the table. */
#define TOKEN_BYTES 40

struct tokens {
    struct table table;
    uint32_t oldest; /* chain of cells in the order they came */
    uint32_t newest;
};

void tokens_init(struct tokens *tokens, struct slab *slab);
void tokens_destroy(struct tokens *tokens);

/* Lets go of up to `most` that are older than ttl_s; returns how many. */
uint64_t tokens_expire(struct tokens *tokens, uint32_t now_s, uint32_t ttl_s, uint64_t most);

/* Was it added at most ttl_s ago? */
bool tokens_has(const struct tokens *tokens, const uint64_t token[2], uint32_t now_s,
                uint32_t ttl_s);

/* A cell for one more, 0 past the budget; then one of the two with it. */
uint32_t tokens_reserve(struct tokens *tokens, const uint64_t token[2]);
void tokens_release(struct tokens *tokens, uint32_t cell);
/* Before the first request in any order, then in that of their times. */
void tokens_add(struct tokens *tokens, uint32_t cell, const uint64_t token[2], uint32_t time_s);

/* Moves what lies in retiring pages of the slab; false: no memory for it. */
bool tokens_relocate(struct tokens *tokens);

#endif

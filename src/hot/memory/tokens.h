/*
 * The idempotency tokens of one item shard: which additions were made lately. Time is that of the
 * requests; small steps back are ignored, and a large one (a clock that was set back) neither
 * forgets a token nor keeps the ones after it longer than they should be.
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

/* Threads read the clock at their own moments; steps back up to this are not steps. */
#define TOKEN_CLOCK_SLACK_S 60

/* Memory that one takes, about: its cell, and its part of the table. */
#define TOKEN_BYTES 40

struct tokens {
    struct table table;
    uint32_t oldest; /* chain of cells in the order they came */
    uint32_t newest;
    uint32_t seen_s; /* time of the requests, as last believed */
    uint32_t age_s;  /* seconds that have passed, as the requests told it; never goes back */
};

void tokens_init(struct tokens *tokens, struct slab *slab);
void tokens_destroy(struct tokens *tokens);

/* Takes note of the time, lets go of up to `most` that are older than ttl_s; returns how many. */
uint64_t tokens_expire(struct tokens *tokens, uint32_t time_s, uint32_t ttl_s, uint64_t most);

/* Was it added at most ttl_s ago? */
bool tokens_has(const struct tokens *tokens, const uint64_t token[2], uint32_t ttl_s);

/* A cell for one more, 0 past the budget; then one of the three with it. */
uint32_t tokens_reserve(struct tokens *tokens, const uint64_t token[2]);
void tokens_release(struct tokens *tokens, uint32_t cell);
void tokens_add(struct tokens *tokens, uint32_t cell, const uint64_t token[2]);
/* One that came at time_s: before the first request, in any order. */
void tokens_restore(struct tokens *tokens, uint32_t cell, const uint64_t token[2], uint32_t time_s);

/* Moves what lies in retiring pages of the slab; false: no memory for it. */
bool tokens_relocate(struct tokens *tokens);

#endif

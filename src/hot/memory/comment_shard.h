/*
 * The comments and subjects of one item shard that are in memory. Entries that the store does not have yet stay
 * until they are clean; clean ones are a cache: those that were not used for the longest time go first.
 *
 * What is changed by a decision must be in the tables before: a worker puts what it has read from the store
 * there (kept_cache_…), and then decides. Everything that can fail is done before the event is recorded:
 * kept_make_… makes the new cell, and kept_replace or kept_insert only links it.
 *
 * All functions are called under the lock of the item shard, except those on the counters of bytes.
 */
#ifndef LAUD_HOT_MEMORY_COMMENT_SHARD_H
#define LAUD_HOT_MEMORY_COMMENT_SHARD_H

#include <stdatomic.h>

#include "base/table.h"
#include "hot/memory/comment_cells.h"

/* What all shards share: how much memory comments use, and may use. */
struct kept_budget {
    _Atomic uint64_t bytes;
    uint64_t limit;
};

struct comment_shard {
    struct table subjects;
    struct table comments;
    struct table changed; /* comment_changed.h */
    uint32_t newest;      /* the list of all subjects and comments, by their last use */
    uint32_t oldest;
    uint64_t bytes; /* of this shard */
    struct kept_budget *budget;
};

void comment_shard_init(struct comment_shard *shard, struct slab *slab, struct kept_budget *budget);
void comment_shard_destroy(struct comment_shard *shard);

/* Cells; 0: not in memory. A found one counts as used. `hash` is that of the item. */
uint32_t kept_find_comment(struct comment_shard *shard, uint64_t hash, uint64_t id);
uint32_t kept_find_subject(struct comment_shard *shard, uint64_t hash, struct item item);

/* Room in the table for a comment that is not there yet. False: no memory. */
bool kept_reserve(struct comment_shard *shard, uint64_t hash);
/* Links a new cell after kept_reserve. */
void kept_insert(struct comment_shard *shard, uint64_t hash, uint32_t cell, uint64_t position);
/* Replaces the old cell, which is freed, by a new one. */
void kept_replace(struct comment_shard *shard, uint64_t hash, uint32_t old_cell, uint32_t cell,
                  uint64_t position);
/* Frees a clean cell. */
void kept_evict(struct comment_shard *shard, uint64_t hash, uint32_t cell);
/* Copies a cell out of a page that retires. False: no memory. */
bool kept_relocate(struct comment_shard *shard, uint64_t hash, uint32_t cell);

/* Puts what was read from the store into memory, if it is not there. False: no memory. */
bool kept_cache_comment(struct comment_shard *shard, uint64_t hash, const struct comment *comment,
                        struct kept_bytes content);
bool kept_cache_subject(struct comment_shard *shard, uint64_t hash, const struct subject *subject,
                        bool fresh);

/* Is there more in memory than comments may use? */
static inline bool kept_is_over(struct kept_budget *budget)
{
    return atomic_load_explicit(&budget->bytes, memory_order_relaxed) > budget->limit;
}

/* The cell that was not used for the longest time and is clean; 0: none of the oldest is. */
uint32_t kept_oldest_clean(const struct comment_shard *shard, uint64_t clean);

#endif

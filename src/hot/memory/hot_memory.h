/*
 * The hot tier in memory: users with their shelves on one side, item rows with their counters on
 * the other, each in shards with a lock of their own. A write holds its user's shard and, inside
 * that, its item's; nothing else is locked, and no two shards of one side are ever held together.
 */
#ifndef LAUD_HOT_MEMORY_H
#define LAUD_HOT_MEMORY_H

#include "base/memory.h"
#include "hot/exclusive.h"
#include "hot/hot.h"
#include "journal/journal.h"
#include "store/store.h"

struct hot_memory_options {
    struct memory_budget *budget;
    struct store *store;               /* exact for what a shelf no longer holds */
    const struct exclusive *exclusive; /* may be NULL; read only, outlives the hot tier */
    uint32_t shelf_max;                /* reactions kept on one shelf */
    uint32_t token_ttl_s;              /* how long an idempotency token is remembered */
    uint64_t token_max;                /* and how many at most */
    uint64_t seed;                     /* of the hash tables: random in a server, fixed in tests */
};

struct hot *hot_memory_open(const struct hot_memory_options *options); /* NULL: no memory */

/* Where decisions are recorded; set once, after replay and before the first hot_run. */
void hot_memory_set_journal(struct hot *hot, struct journal *journal);

/*
 * Applies recorded events (not DEFINE) in order, deciding nothing: the way of recovery. Tokens
 * older than now_s - token_ttl_s are left out. NO_MEMORY past the budget. DAMAGED for an event
 * that contradicts the state (clearing what is not there).
 */
enum status hot_memory_apply(struct hot *hot, const struct event *events, size_t count,
                             uint32_t now_s);

#endif

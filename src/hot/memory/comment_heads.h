/*
 * Heads: the first QUERY_HEAD rows of an order of a parent, as the store has them, cached in memory. A page that
 * is within the head needs no scan of the store.
 *
 * A head is right as long as no window of the projector has changed rows of its parent. So the projector
 * discards the heads of these parents after it has applied a window and before it publishes the window's
 * position. Whoever reads a head has asked the tier for the changed comments before; until the position is
 * published these contain everything that the head lacks. A head that is being read from the store while its
 * parent is discarded is given to those who were waiting for it, and is not kept; whoever asks after that
 * reads again.
 *
 * However many threads ask for a head, one of them reads the store, and the others wait for it.
 *
 * Any thread may call. The memory is charged to a share of the budget; heads that were not used for the
 * longest time make room for others, and go when the tier needs the memory (heads_shrink).
 */
#ifndef LAUD_HOT_MEMORY_COMMENT_HEADS_H
#define LAUD_HOT_MEMORY_COMMENT_HEADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "base/memory.h"
#include "base/status.h"
#include "comment/order.h"
#include "store/store.h"

struct heads;

struct heads_stats {
    uint64_t heads;     /* that are cached */
    uint64_t bytes;     /* that they use */
    uint64_t hits;      /* answers from the cache */
    uint64_t loads;     /* reads of the store */
    uint64_t shared;    /* answers that waited for the read of another thread */
    uint64_t discarded; /* by the projector */
    uint64_t evicted;   /* to make room */
};

/* The heads use at most `most_bytes` of the budget. NULL: no memory. */
struct heads *heads_new(struct memory_budget *budget, uint64_t most_bytes, uint64_t seed);
void heads_free(struct heads *heads); /* NULL is fine; no thread may be using it */

/*
 * Reads the head of an order: an enum comment_order or ROWS_HELD (comment/rows.h; its entries have neither
 * key nor floor). *count: in: the most entries that are wanted, at most QUERY_HEAD; out: how many there are in
 * `out`. *complete: the order has no more entries. Returns OK; BLOCKED if `may_wait` is false and the head is
 * not cached; or a failure of the store, DAMAGED among them. A thread that waits must hold no lock.
 */
enum status heads_read(struct heads *heads, struct store_reader *store, struct item parent,
                       uint8_t order, bool may_wait, struct comment_entry *out, size_t *count,
                       bool *complete);

/* Rows of these parents have changed in the store. Called before the new position is published. */
void heads_discard(struct heads *heads, const struct item *parents, size_t count);

/* Frees heads that were not used for the longest time: at least so many bytes, or all. Returns how many. */
uint64_t heads_shrink(struct heads *heads, uint64_t bytes);

void heads_collect(struct heads *heads, struct heads_stats *out);

#endif

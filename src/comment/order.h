/*
 * The orders of comments. Each order has a key that is computed from the numbers of likes and dislikes
 * and the time of posting, never from the present time; so an entry changes its rank only if it is voted
 * on. Higher keys come first; of two equal keys the older comment (lower floor) comes first. *new* and
 * *old* have no key: they are the floors themselves.
 *
 *   top            likes
 *   best           Wilson's lower bound of likes / (likes + dislikes), z = 1.2816, in 16 bits
 *   hot            t + 45000 · sign(u − d) · log10(max(|u − d|, 1)), the logarithm in steps of 1/64
 *   controversial  log2 of (u + d) ^ (min / max), in 16 bits; 0 if either is 0
 *
 * The same inputs must give the same key on every machine, because keys are kept on disk and old rows
 * are removed by them: see order.c for how that is ensured.
 *
 * The functions have no state; any thread may call.
 */
#ifndef LAUD_COMMENT_ORDER_H
#define LAUD_COMMENT_ORDER_H

#include <stdint.h>

#include "comment/comment.h"

/* Negative counters count as 0. */
struct comment_votes {
    int64_t likes;
    int64_t dislikes;
    int64_t reports;
};

/* The key in an order that has keys (not NEW, not OLD). */
uint64_t comment_order_key(enum comment_order order, const struct comment_votes *votes,
                           uint32_t time_s);

static inline bool comment_order_has_key(enum comment_order order)
{
    return order != ORDER_NEW && order != ORDER_OLD;
}

/* One entry of an order, as pages and cursors use it. In NEW and OLD the key is 0. */
struct comment_entry {
    uint64_t key;
    uint64_t id;
    uint32_t floor;
};

/* Less than 0: a comes before b in this order. Entries of one parent have different floors. */
static inline int comment_entry_order(enum comment_order order, const struct comment_entry *a,
                                      const struct comment_entry *b)
{
    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    int by_floor = a->floor < b->floor ? -1 : a->floor > b->floor;
    return order == ORDER_NEW ? -by_floor : by_floor;
}

#endif

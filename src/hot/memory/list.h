/*
 * Lists, newest first: a user's reactions of a kind on a type of items, from memory as far as that
 * is exact, else merged with the store's; and the users that have a reaction on an item, which only
 * the store lists.
 */
#ifndef LAUD_HOT_MEMORY_LIST_H
#define LAUD_HOT_MEMORY_LIST_H

#include "hot/memory/hot_memory_priv.h"

/* What is asked for: up to `want` of what comes behind `after`. */
struct list_wish {
    struct id user;
    uint64_t hash; /* the user's */
    uint8_t kind;
    uint16_t type;
    bool any_order; /* they are all wanted, or too many: no need to sort them */
    uint32_t want;
    struct store_listed after;
};

/*
 * Appends them to scratch->listed. OK, NO_MEMORY, what the store said; BLOCKED: it takes the store,
 * and who asks is no worker (LOAD_NOBODY).
 */
enum status list_take(struct hot_memory *hot, const struct list_wish *wish, unsigned worker,
                      struct hot_scratch *scratch);

/* Puts scratch->listed[first …) in order and leaves up to `most` of them. */
void list_sort(struct hot_scratch *scratch, uint32_t first, uint32_t most);
/* Room for so many more; false: no memory. */
bool list_reserve(struct hot_scratch *scratch, size_t count);

/*
 * For a worker: has the store brought up to a position of the journal, or to the journal's end if that
 * is before it. OK, LAGGING (it does not get there in time) or STORE_FAILED (never). And the position at which it has all
 * there is on an item.
 */
enum status list_catch_up(struct hot_memory *hot, uint64_t position);
/* Is it there already? Any thread. */
bool list_store_has(struct hot_memory *hot, uint64_t position);
uint64_t list_item_position(struct hot_memory *hot, struct item item);

/* HOT_LIST_…; false: it takes a worker. */
hot_action_fn hot_memory_list_reactions;
hot_action_fn hot_memory_list_reactors;

#endif

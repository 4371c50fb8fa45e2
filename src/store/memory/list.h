/* A page of a list over the table of rows, for a caller that holds its lock. */
#ifndef LAUD_STORE_MEMORY_LIST_H
#define LAUD_STORE_MEMORY_LIST_H

#include "store/memory/rows.h"

/* What reactions on one list have in common: all of this but the user, or but the item's id. */
struct memory_list {
    const struct store_reaction *common;
    bool of_user;
};

/* Fills up to `limit` of `out`; how many. */
size_t memory_list_page(const struct memory_rows *rows, const struct memory_list *list,
                        struct store_listed after, struct store_listed *out, size_t limit);

/* The same of everything a user has. */
size_t memory_list_user(const struct memory_rows *rows, struct id user,
                        const struct store_reaction *after, struct store_reaction *out,
                        size_t limit);

#endif

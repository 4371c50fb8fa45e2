/* Reads pages of lists from the table of rows. The caller holds the lock of the table. */
#ifndef LAUD_STORE_MEMORY_LIST_H
#define LAUD_STORE_MEMORY_LIST_H

#include "store/memory/rows.h"

/*
 * Which list it is. The list of a user has one user, kind and type, and lists ids of items. The list of an
 * item has one item and kind, and lists users.
 */
struct memory_list {
    const struct store_reaction *common; /* what all reactions on the list have in common */
    bool of_user;
};

/* Writes at most `limit` entries after `after` to `out`, and returns how many. */
size_t memory_list_page(const struct memory_rows *rows, const struct memory_list *list,
                        struct store_listed after, struct store_listed *out, size_t limit);

/* The same for store_list_user. */
size_t memory_list_user(const struct memory_rows *rows, struct id user,
                        const struct store_reaction *after, struct store_reaction *out,
                        size_t limit);
/* The same for store_list_changes. */
size_t memory_changes_page(const struct memory_rows *rows, struct id user, uint32_t since_s,
                           struct store_listed after, struct store_listed *out, size_t limit);

#endif

/*
 * Doubly linked lists whose links are members of the listed structs. A list is a ring with a
 * separate head, so that adding and removing have no special cases. A link that is in no list is
 * all zero. A list has no lock: its owner must protect it.
 */
#ifndef LAUD_BASE_LIST_H
#define LAUD_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/assert.h"

struct list {
    struct list *next, *previous;
};

/* The struct that has this link as a member. */
#define LIST_OF(link, type, member) ((type *)((char *)(link)-offsetof(type, member)))

static inline void list_init(struct list *head)
{
    head->next = head->previous = head;
}

static inline bool list_is_empty(const struct list *head)
{
    return head->next == head;
}

/* Is the link in any list? */
static inline bool list_has(const struct list *link)
{
    return link->next != NULL;
}

/* The link must not be in a list. */
static inline void list_add_last(struct list *head, struct list *link)
{
    ASSERT(!list_has(link));
    link->next = head;
    link->previous = head->previous;
    head->previous->next = link;
    head->previous = link;
}

/* Does nothing if the link is in no list. */
static inline void list_remove(struct list *link)
{
    if (!list_has(link))
        return;
    link->previous->next = link->next;
    link->next->previous = link->previous;
    link->next = link->previous = NULL;
}

static inline void list_move_last(struct list *head, struct list *link)
{
    list_remove(link);
    list_add_last(head, link);
}

#endif

/*
 * Comments: what a comment and its subject are, and the rules that everything else follows. A
 * *subject* is any item that has comments. A *root* is a comment on a subject; a *reply* belongs to the
 * *thread* of its root and says which comment of the thread it answers. A comment is itself an item, of
 * the type `comment`, so reactions, counters and boards work on it.
 *
 * The *state* of a comment has two fields: its moderation, and whether it is deleted. From them follows
 * what is counted and what is listed:
 *
 *     open(x)        moderation is visible, not deleted
 *     thread(root)   the root's moderation is visible, deleted or not
 *     n(root)        how many of its replies are open (comment.open_replies)
 *     counted        root: open(root);  reply: open(reply) and thread(root)
 *     listed         root: thread(root) and (open or n > 0);  reply: counted
 *
 * The counter `comment` of a subject is the number of its counted comments. The counter `comment` of a
 * root is n(root) if thread(root), and otherwise 0.
 *
 * These are plain values without pointers; any thread may call the functions.
 */
#ifndef LAUD_COMMENT_COMMENT_H
#define LAUD_COMMENT_COMMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"

#define COMMENT_TYPE_NAME "comment" /* the type of the items that are comments */
#define COMMENT_NONE      0         /* no comment has this id */

/* The numbers of these enums are part of rows and events on disk and never change. */
enum comment_moderation {
    COMMENT_VISIBLE = 0,
    COMMENT_PENDING = 1, /* waits for a moderator */
    COMMENT_HIDDEN = 2,  /* a moderator has hidden it */
    COMMENT_SHADOW = 3,  /* only its author sees it, and it looks visible */
};

enum subject_mode {
    SUBJECT_OPEN = 0,
    SUBJECT_HELD = 1,     /* new comments are pending */
    SUBJECT_READONLY = 2, /* new comments are refused */
    SUBJECT_CLOSED = 3,   /* lists are refused, too */
};

enum comment_order {
    ORDER_TOP = 0,
    ORDER_NEW = 1,
    ORDER_OLD = 2,
    ORDER_BEST = 3,
    ORDER_HOT = 4,
    ORDER_CONTROVERSIAL = 5,
    ORDER_TOTAL = 6,
};

struct comment {
    uint64_t id;
    struct item subject;
    uint64_t root;     /* COMMENT_NONE: this comment is a root */
    uint64_t reply_to; /* the comment that it answers; COMMENT_NONE for a root */
    struct id author;
    struct id reply_to_user; /* the author of reply_to at that time */
    uint32_t floor;        /* among the roots of its subject, or the replies of its root; from 1 */
    uint32_t time_s;       /* recorded time at which it was posted */
    uint32_t edited_s;     /* recorded time of the last edit; 0: it was never edited */
    uint32_t open_replies; /* n(root); 0 for a reply */
    uint32_t next_floor;   /* of a root: the floor of its next reply; 0 for a reply */
    uint32_t versions;     /* how many earlier texts there were; the history has the last ones */
    uint32_t reviewed;     /* so many reports were there when a moderator last made it visible */
    uint8_t moderation;    /* enum comment_moderation */
    bool deleted;          /* its text is gone for good */
    bool anonymous;        /* its author was forgotten; `author` is all zero */
    bool was_open;         /* it has been open at some time: notices were written to inboxes */
};

#define SUBJECT_PINS 3

struct subject {
    struct item item;
    struct id owner; /* only if has_owner */
    bool has_owner;
    uint8_t mode; /* enum subject_mode */
    uint8_t pin_count;
    uint32_t next_floor;    /* of the next root; from 1 */
    uint32_t dropped_floor; /* roots up to this floor, and their replies, were dropped (DROP) */
    uint64_t roots;         /* how many roots are listed */
    uint64_t pins[SUBJECT_PINS];
};

/* A subject that nobody has commented on or configured. It needs no row. */
static inline struct subject subject_new(struct item item)
{
    return (struct subject){.item = item, .next_floor = 1};
}

static inline bool comment_is_root(const struct comment *comment)
{
    return comment->root == COMMENT_NONE;
}

static inline bool comment_is_open(const struct comment *comment)
{
    return comment->moderation == COMMENT_VISIBLE && !comment->deleted;
}

static inline bool comment_has_thread(const struct comment *root)
{
    return root->moderation == COMMENT_VISIBLE;
}

/* `root` is the comment's root; it is not used, and may be NULL, if the comment is a root itself. */
static inline bool comment_is_counted(const struct comment *comment, const struct comment *root)
{
    return comment_is_open(comment) && (comment_is_root(comment) || comment_has_thread(root));
}

/*
 * Is there a row of this comment in the orders of its parent? For a reply this does not depend on its
 * root: if the thread is not shown, none of its replies is looked for.
 */
static inline bool comment_is_listed(const struct comment *comment)
{
    return comment_is_root(comment) ? comment_has_thread(comment) &&
                                          (comment_is_open(comment) || comment->open_replies > 0)
                                    : comment_is_open(comment);
}

/* The value of the counter `comment` of a root. */
static inline int64_t comment_root_count(const struct comment *root)
{
    return comment_has_thread(root) ? (int64_t)root->open_replies : 0;
}

/* Was the comment dropped together with its subject? `root` is the comment itself if it is a root. */
static inline bool comment_is_dropped(const struct comment *root, const struct subject *subject)
{
    return root->floor <= subject->dropped_floor;
}

static inline bool subject_has_pin(const struct subject *subject, uint64_t id)
{
    for (unsigned i = 0; i < subject->pin_count; i++)
        if (subject->pins[i] == id)
            return true;
    return false;
}

/* "visible", "pending", "hidden", "shadow"; "open", "held", "readonly", "closed"; "top" and so on. */
const char *comment_moderation_text(enum comment_moderation moderation);
const char *subject_mode_text(enum subject_mode mode);
const char *comment_order_text(enum comment_order order);

#endif

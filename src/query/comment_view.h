/*
 * What the queries about comments share: who looks, what this reader may see, and the entries of an order
 * as they are now. Used by one thread for one request; all memory is in the scratch.
 *
 * Everybody sees open comments. A reader (FOR) also sees the own pending and shadow comments; the
 * latter look visible to this reader. A moderator who asks for all (ALL) sees everything that
 * is not deleted.
 */
#ifndef LAUD_QUERY_COMMENT_VIEW_H
#define LAUD_QUERY_COMMENT_VIEW_H

#include "comment/comment_id.h"
#include "hot/comments.h"
#include "query/tier.h"

struct comment_view {
    struct query_tier *tier;
    struct hot_scratch *scratch;
    bool has_reader;
    bool all;
    struct id reader;
    const struct hot_detail *detail; /* of the request */
    bool own_read;                   /* `own` was read from the store */
    struct query_comment *own;       /* pending and shadow comments of the reader on this subject */
    size_t own_count;
};

/* What a reader gets to see of a comment. */
enum comment_sight {
    SIGHT_NONE,        /* nothing: as if it did not exist */
    SIGHT_PLACEHOLDER, /* that there was a comment */
    SIGHT_FULL,
};

/* `root` is the root of a reply; it is ignored for a root. */
enum comment_sight comment_sight(const struct comment_view *view, const struct comment *comment,
                                 const struct comment *root);

/* Is it a pending or shadow comment of the reader, which others do not see? */
bool comment_is_own_held(const struct comment_view *view, const struct comment *comment);

/* Memory of the scratch's arena, aligned for any type; NULL: there is none. */
void *view_take(struct comment_view *view, size_t count, size_t bytes);

/* Which entries of an order are wanted. */
struct entries_query {
    struct item parent;
    struct item subject; /* of the parent, or the parent itself */
    enum comment_order order;
    uint32_t limit;
    struct hot_mark after; /* is_set: the entries after it or, if `back`, before it */
    bool inclusive;        /* with the entry at the point itself */
    bool
        own_only; /* only own comments: the thread is not shown, but its root is the reader's own */
    uint32_t dropped_floor; /* roots up to this floor were dropped; their rows may still be there */
};

struct entries {
    struct comment_entry *entries; /* in the order, also if they are before a point */
    size_t count;
    bool more; /* there are more after the last one or, if `back`, before the first one */
};

/*
 * The entries that the reader may see. BLOCKED: the tier may not wait, and the store is needed. The
 * orders NEW and OLD have the own comments of the reader, or all for a moderator, at their floors.
 */
enum status comment_entries(struct comment_view *view, const struct entries_query *query,
                            struct entries *out);

/*
 * In the other orders such comments stand before the first page, newest first: at most LIMIT_OWN_COMMENTS.
 */
enum status comment_entries_before(struct comment_view *view, const struct subject *on,
                                   struct entries *out);

/* The present key of a comment in an order. */
enum status comment_present_keys(struct comment_view *view, const struct comment *comments,
                                 size_t count, enum comment_order order, uint64_t *keys);

/* Runs requests that read: with waiting if the tier may wait. OK, BLOCKED or the first failure. */
enum status view_run(struct comment_view *view, struct hot_request *requests, size_t count);

#endif

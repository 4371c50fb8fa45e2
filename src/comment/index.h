/*
 * What follows from a comment and its votes: in which lists it is, and its rows there. The projector writes these
 * rows, and `laud check` looks for them. Plain functions without state; any thread may call.
 */
#ifndef LAUD_COMMENT_INDEX_H
#define LAUD_COMMENT_INDEX_H

#include "comment/comment.h"
#include "comment/order.h"
#include "comment/rows.h"

/* What the projector must have written to the other tables for this comment. */
struct comment_index comment_index_of(const struct comment *comment,
                                      const struct comment_votes *votes);

/* The rows that a comment can have besides its own, its content and its history. */
enum comment_slot {
    COMMENT_SLOT_FLOOR,
    COMMENT_SLOT_UNLISTED,
    COMMENT_SLOT_TOP,
    COMMENT_SLOT_BEST,
    COMMENT_SLOT_HOT,
    COMMENT_SLOT_CONTROVERSIAL,
    COMMENT_SLOT_HELD,
    COMMENT_SLOT_WRITTEN,
    COMMENT_SLOT_QUEUED,
    COMMENT_SLOT_REPORTED,
    COMMENT_SLOTS,
};

struct comment_row {
    enum store_table table;
    bool has_id;     /* its value is the id of the comment; otherwise it has no value */
    uint32_t length; /* of the key; 0: the comment does not have this row */
    uint8_t key[ROW_KEY_MAX];
};

/* The rows of a comment of which this is the index. `type` is that of the items of comments. */
void comment_index_rows(const struct comment *comment, const struct comment_index *index,
                        uint16_t type, struct comment_row rows[COMMENT_SLOTS]);

/* The subject of a root, the item of the root of a reply. */
struct item comment_parent(const struct comment *comment, uint16_t type);

/* For messages: "the list by floor", "the order top" and so on. */
const char *comment_slot_text(enum comment_slot slot);

#endif

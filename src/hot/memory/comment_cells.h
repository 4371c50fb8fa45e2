/*
 * How a comment and a subject are kept in memory: each is one cell of the shard's slab, followed by its content. A
 * cell has only what the comment has: a root with ids of 64 bits takes 64 bytes, a reply 80, plus the content. A
 * content for which one cell is too small is in a chain of further cells.
 *
 * A cell never changes in place, except for its links: a change makes a new cell and frees the old one. Only
 * subjects, which always have the same size, are overwritten.
 *
 * All functions are called under the lock of the item shard.
 */
#ifndef LAUD_HOT_MEMORY_COMMENT_CELLS_H
#define LAUD_HOT_MEMORY_COMMENT_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slab.h"
#include "comment/comment.h"

/* Where the content of a comment is. */
enum kept_content {
    KEPT_NONE,   /* it has none: it was deleted */
    KEPT_HERE,   /* with the comment */
    KEPT_STORED, /* only in the store, and unchanged there; after a start */
};

enum {
    KEPT_SUBJECT = 1, /* the cell is a subject */
    KEPT_GONE = 2,    /* the rows of the comment were removed (DROP); there is no such comment */
    KEPT_FRESH = 4,   /* the subject has no row and no event yet */
    KEPT_USED = 8,    /* it was used since the keeper looked at it */
};

/* The beginning of each cell; the rest is described in comment_cells.c. */
struct kept_cell {
    uint64_t position; /* the journal's position after its last change; 0: it is as in the store */
    uint32_t newer;    /* the list of all cells of the shard, by their last use */
    uint32_t older;
    uint32_t units : 10;          /* its size */
    uint32_t content_length : 14; /* of a comment whose content is KEPT_HERE */
    uint32_t flags : 8;           /* KEPT_… */
    uint16_t type;                /* of the subject */
    uint8_t form;                 /* which optional fields it has, and where its content is */
    uint8_t state;                /* the small fields of the comment or subject */
    uint64_t words[];             /* a comment: its id first */
};

/* A comment as it was read from its cell. */
struct kept {
    struct comment comment;
    uint64_t position;
    uint32_t content_length; /* if the content is KEPT_HERE */
    uint8_t content;         /* enum kept_content */
    bool gone;
};

/* The content that a new cell gets. */
struct kept_bytes {
    enum kept_content where;
    const uint8_t *bytes; /* KEPT_HERE; NULL: those of the cell `from` */
    uint32_t length;
    uint32_t from;
};

static inline struct kept_cell *kept_at(const struct slab *slab, uint32_t cell)
{
    return slab_at(slab, cell);
}

/* Makes a cell that is in no table and no list. 0: no memory. */
uint32_t kept_make_comment(struct slab *slab, const struct comment *comment, uint8_t flags,
                           struct kept_bytes content);
uint32_t kept_make_subject(struct slab *slab, const struct subject *subject, uint8_t flags);
void kept_free(struct slab *slab, uint32_t cell);

uint64_t kept_id(const struct kept_cell *cell);                 /* of a comment */
struct item kept_item(const struct kept_cell *cell);            /* of a subject */
void kept_read(const struct kept_cell *cell, struct kept *out); /* a comment */
void kept_read_subject(const struct kept_cell *cell, struct subject *out);
void kept_write_subject(struct kept_cell *cell, const struct subject *subject);

/* Copies a content that is KEPT_HERE to `out`, which has room for it. */
void kept_copy_content(const struct slab *slab, const struct kept_cell *cell, uint8_t *out);

/* Bytes of all cells of this one. */
size_t kept_size(const struct slab *slab, const struct kept_cell *cell);

/* Is any of its cells in a page that retires? */
bool kept_is_retiring(const struct slab *slab, uint32_t cell);
/* A copy of all its cells; the old ones stay. 0: no memory. */
uint32_t kept_copy(struct slab *slab, uint32_t cell);

#endif

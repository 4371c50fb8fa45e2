/*
 * Which comments were changed lately, so that the store may not have them in their present form: those that were
 * posted, edited, moderated or voted on. They are listed by gene, because a vote knows nothing of a
 * comment but its id. A page merges them with the rows of the store (query/comment_entries.c).
 *
 * At most LIMIT_CHANGED comments are listed for a gene. If there are more, or there is no memory, the gene
 * remembers the position up to which its list is not complete, and a page has to wait until the store has
 * reached that position.
 *
 * All functions are called under the lock of the item shard to which the gene belongs.
 */
#ifndef LAUD_HOT_MEMORY_COMMENT_CHANGED_H
#define LAUD_HOT_MEMORY_COMMENT_CHANGED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "comment/comment_id.h"
#include "hot/memory/comment_shard.h"

#define COMMENT_EXPIRE_MOST 4 /* entries that are removed for each new one: lists become shorter */

/* What the tier keeps of a gene. All zero: there were no comments. */
struct comment_gene {
    struct comment_clock clock; /* of the ids of its comments */
    _Atomic uint64_t point;     /* the position of the last change of any of its comments */
    uint64_t incomplete;        /* the list lacks changes up to this position; 0: none */
    uint32_t oldest;            /* the list, in the order of positions */
    uint32_t newest;
    uint32_t count;
};

#define CHANGED_NO_PARENT 0 /* the tier does not have the parent of the comment */
#define CHANGED_PLAIN     1 /* there is no comment with this id, only an item */

/* A comment of the list. */
struct changed_comment {
    uint64_t id;
    uint64_t position;
    uint64_t parent; /* hash of its parent (changed_parent), or one of the values above */
};

/* A hash of a parent that is neither of these values. Equal hashes do not prove equal parents. */
uint64_t changed_parent(struct item parent);

/* A comment was changed by the event that ends at this position. `hash` is that of its item. */
void changed_note(struct comment_shard *shard, struct comment_gene *gene, uint64_t hash,
                  uint64_t id, uint64_t position, uint64_t parent);

/* Sets the parent of a comment that is on the list; otherwise does nothing. */
void changed_set_parent(struct comment_shard *shard, uint64_t hash, uint64_t id, uint64_t parent);

/* Removes up to `most` of those that the store has when it has reached this position. */
void changed_expire(struct comment_shard *shard, struct comment_gene *gene, uint64_t applied,
                    uint32_t most);

/* Copies the list, oldest first, to `out`, which has room for LIMIT_CHANGED. */
size_t changed_read(const struct comment_shard *shard, const struct comment_gene *gene,
                    struct changed_comment *out);

/* Copies a cell of the table out of a page that retires; false: no memory. */
bool changed_relocate(struct comment_shard *shard, struct comment_gene *gene, uint32_t cell);
uint64_t changed_id(const struct comment_shard *shard, uint32_t cell);

#endif

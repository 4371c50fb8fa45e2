/*
 * What is shared by the files that decide comments: comments.c, comments_subjects.c (subjects and pins)
 * and comments_users.c (bans and inboxes). comments_rows.c reads and sets rows.
 */
#ifndef LAUD_MOVE_COMMENTS_PRIVATE_H
#define LAUD_MOVE_COMMENTS_PRIVATE_H

#include "move/comments.h"
#include "move/overlay.h"
#include "move/private.h"

/* Memory for deciding comments. It is made at the first of them. */
struct import_comments {
    struct overlay *overlay;
    bool has_type;
    uint16_t type; /* the index of the type `comment` */
    uint8_t content[COMMENT_CONTENT_BYTES];
    uint8_t body[COMMENT_BODY_BYTES];
};

/* Begins a row: makes room for it. Another status than OK: no row can be added any more. */
enum status import_begin_comment(struct import *import);

/* Refuses a row: BAD_ARGUMENT. */
enum status import_refuse(struct import *import, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Begins a row about a subject and parses its item, which cannot be a comment. */
enum status import_subject_item(struct import *import, struct text text, struct item *item);

/* Read rows. OK, or the import has failed. */
enum status import_read_subject(struct import *import, struct item item, struct subject *out);
enum status import_read_comment(struct import *import, uint64_t id, struct comment *out,
                                bool *found, bool *here);
/* The comment with this floor; COMMENT_NONE: there is none. */
enum status import_read_floor(struct import *import, struct item parent, uint32_t floor,
                              uint64_t *id);
enum status import_read_row(struct import *import, enum store_table table, const uint8_t *key,
                            size_t length, struct store_bytes *value);
enum status import_damaged(struct import *import);

void import_set_subject(struct import *import, const struct subject *subject);
void import_set_comment(struct import *import, const struct comment *comment);
void import_set_floor(struct import *import, struct item parent, uint32_t floor, uint64_t id);

/* Appends an event. `user` and `item` may be all zero. */
enum status import_record(struct import *import, enum comment_event kind, struct id user,
                          struct item item, const struct comment_body *body);

static inline struct item import_parent(const struct import *import, const struct comment *comment)
{
    return comment_is_root(comment)
               ? comment->subject
               : (struct item){.id = {.lo = comment->root}, .type = import->comments->type};
}

#endif

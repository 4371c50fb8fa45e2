/*
 * Importing comments, with everything about them. As with reactions, a row is decided here and recorded as an
 * event, and what the directory has already is never overwritten: a comment that is there stays as it is,
 * however it was changed since, and an id that belongs to another comment is refused.
 *
 * Nobody is notified of an imported comment. Inboxes are imported as they are, entry by entry.
 *
 * The counters `comment`, the numbers of open replies and of listed roots are computed, so they are
 * right whatever the source says. A subject comes before its comments and a root before its replies.
 *
 * All functions are called by the thread that adds rows (import.h), and return what import_reaction
 * returns. All times are times of the clock.
 */
#ifndef LAUD_MOVE_COMMENTS_H
#define LAUD_MOVE_COMMENTS_H

#include "comment/comment.h"
#include "comment/content.h"
#include "comment/rows.h"
#include "move/import.h"

/*
 * A comment. `subject`, `open_replies` and, of a reply, `next_floor` are not used. If the floor is 0, the
 * comment gets the next one. If the id is COMMENT_NONE, it gets an id that follows from its time, its subject
 * and `source`, so the same comment gets the same id again.
 */
struct moved_comment {
    struct comment comment;
    bool has_content; /* Only a deleted comment has none. */
    struct comment_content content;
    uint32_t history_count;                /* at most LIMIT_VERSIONS */
    const struct comment_content *history; /* earlier contents, the oldest first */
    uint64_t source;
};

/* Sets owner, mode and the next floor of a subject, as far as they are not the usual ones. */
enum status import_subject(struct import *import, struct text item, const struct subject *subject);

/* Adds a comment; *id is its id, also if it was there already, and may be NULL. */
enum status import_comment(struct import *import, struct text subject,
                           const struct moved_comment *moved, uint64_t *id);

/* Pins a comment that is there already. */
enum status import_pin(struct import *import, struct text subject, uint64_t id);

/* Bans a user; UINT32_MAX as the time means for ever. */
enum status import_ban(struct import *import, struct id user, const struct user_ban *ban);

/* An entry of an inbox. Those of a user come in the order of their numbers. */
enum status import_notice(struct import *import, struct id user, const struct inbox_notice *notice);

/* The state of an inbox, after its entries. */
enum status import_inbox(struct import *import, struct id user, const struct inbox_state *state);

#endif

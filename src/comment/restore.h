/*
 * What a start reads of comments from the store: the bans, and above which time ids are new. Everything else is
 * read when it is needed.
 */
#ifndef LAUD_COMMENT_RESTORE_H
#define LAUD_COMMENT_RESTORE_H

#include <stdint.h>

#include "base/id.h"
#include "base/status.h"
#include "comment/body.h"
#include "comment/rows.h"
#include "store/store.h"

/* Anything but OK ends the visit with that status. */
typedef enum status comment_ban_fn(void *context, struct id user, struct user_ban ban);

/*
 * Calls the function for every ban that the store has, expired ones included, in no particular order. DAMAGED: a
 * row cannot be read.
 */
enum status comment_restore_bans(struct store_admin *admin, comment_ban_fn *ban, void *context);

/*
 * The highest milliseconds (comment_id_ms) of all ids that were ever given and that the store knows of; 0:
 * none. An id with higher milliseconds is new.
 */
enum status comment_restore_ms(struct store_reader *reader, uint64_t *ms);

/*
 * The kinds with which the keys of all comments were computed; *found is false if there were no comments yet. A
 * server whose options name other kinds must refuse to start.
 */
enum status comment_restore_kinds(struct store_reader *reader, struct comment_kinds *kinds,
                                  bool *found);

#endif

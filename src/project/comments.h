/*
 * Comments in a window: collects the events about comments, in their order, and makes the rows of the store
 * (comment/rows.h) that they change. An event has after-images, so applying it is copying; what has
 * to be computed is everything that follows from a comment and its counters: whether it is listed, its keys in the
 * orders, and its rows of lists, queues and inboxes.
 *
 * Comments that were voted on in the window get new keys. Their rows and counters, and those of all comments that
 * the events concern, are read from the store once a window. The result depends only on the events and on the
 * rows before the window, so it does not matter how events are divided into windows. Old rows are removed
 * by what the row of the comment has recorded (struct comment_index) and never by computing again.
 *
 * All four orders with keys are kept for every subject, so that an option that allows an order does not have
 * to build it first.
 *
 * One thread owns and uses it. Its memory is bounded by what fold.h allows in one window.
 */
#ifndef LAUD_PROJECT_COMMENTS_H
#define LAUD_PROJECT_COMMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/names.h"
#include "base/status.h"
#include "comment/body.h"
#include "journal/event.h"
#include "store/store.h"

/* Everything must outlive whoever gets it. */
struct comments_options {
    /*
     * The names that exist. A name may be defined later: then it is found here, or its definition is among the
     * events. NULL: comments are not projected; their events count as bytes only.
     */
    const struct names *names;
    const char *dislike; /* the kinds that count as dislike and as report; NULL: none does */
    const char *report;
    struct store_reader *reader; /* of the store that the windows are applied to */
};

struct comments;

/* NULL: there is no memory. */
struct comments *comments_new(const struct comments_options *options);
void comments_free(struct comments *comments); /* NULL is fine */

/* Learns a name from its definition; called for every EVENT_DEFINE. */
void comments_define(struct comments *comments, const struct event *event);

/* The index of the type `comment`; UINT16_MAX: there is no such type yet. */
uint16_t comments_type(struct comments *comments);

/* What an event changes besides rows. Items are only set if the difference is not 0. */
struct comments_effect {
    struct item subject;
    struct item root;
    int64_t subject_delta; /* of the counter `comment` of the subject */
    int64_t root_delta;    /* of the counter `comment` of the root */
    bool has_token;
    uint64_t token[2];
    uint64_t comment; /* the value of the token */
};

/* About how many bytes of memory an event takes until its window is applied. */
size_t comments_cost(const struct event *event);

/* The same for a comment that is voted on. */
#define COMMENTS_VOTE_COST 2048

/*
 * Adds an event of type EVENT_COMMENT; its body is copied. NO_MEMORY: it was not added. DAMAGED: its body is none
 * of its kind.
 */
enum status comments_add(struct comments *comments, const struct event *event,
                         struct comments_effect *effect);

/*
 * Makes the rows of the window, in addition to the counters in `changes`, and puts them into `changes`. They are
 * valid until comments_clear. It may be called again after a failure, as long as the store is the same. OK;
 * NO_MEMORY; DAMAGED: an event contradicts the rows, and `problem` says how; or a failure of the store.
 */
enum status comments_make_rows(struct comments *comments, struct store_changes *changes,
                               char *problem, size_t size);

/*
 * The parents whose rows in FLOOR and ORDER the window changes: subjects, and the items of roots. Valid from
 * comments_make_rows to comments_clear.
 */
const struct item *comments_parents(const struct comments *comments, size_t *count);

void comments_clear(struct comments *comments);

#endif

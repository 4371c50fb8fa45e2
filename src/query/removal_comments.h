/*
 * The steps of FORGET and DROP that are about comments, for removal.c. They come before those about reactions.
 *
 * FORGET walks over the store's list of what the user has written. Each comment is one decision, which removes
 * its author and deletes it. Then what is kept of the user goes: inbox and ban.
 *
 * DROP begins with one decision, after which no comment of the subject exists for anybody, and the next
 * one continues with the next floor. Then the rows of the dropped comments are removed: the replies
 * of a root, and then the root. Whoever is killed in between has removed each comment either completely or
 * not at all, and calls DROP again: it finds the roots that are still there by the floor up to which they
 * were dropped.
 *
 * A walk begins after the store has everything that was decided so far, so it finds all that is left and
 * nothing that was removed before. The steps are done when a walk, in this call, has reached the end.
 *
 * Used by one thread for one request.
 */
#ifndef LAUD_QUERY_REMOVAL_COMMENTS_H
#define LAUD_QUERY_REMOVAL_COMMENTS_H

#include "comment/rows.h"
#include "query/tier.h"

/* A walk over the lists of a parent by floor: those that are listed, and then those that are not. */
struct removal_floors {
    bool second;    /* the walk is in the second list */
    uint32_t floor; /* the last one of the present list; 0: it begins */
};

/* The state of these steps within one call. All zero at first. */
struct removal_comments {
    bool begun;
    bool done;
    /* FORGET: the last row of the list of the user; length 0: the walk begins. */
    uint8_t last[ROW_KEY_MAX];
    uint32_t last_length;
    /* DROP: */
    uint32_t dropped_floor; /* roots up to this floor were dropped */
    uint64_t root; /* whose replies are removed; COMMENT_NONE: the next one is looked for */
    struct removal_floors roots;
    struct removal_floors replies;
};

/*
 * Takes the next step: examines up to `room` (at most LIMIT_BATCH) comments. *removed and *examined are added to. OK,
 * BLOCKED if the time of the request is used up, or the reason why not.
 */
enum status removal_comments_step(struct removal_comments *walk, struct query_tier *tier,
                                  const struct hot_request *request, uint32_t room,
                                  uint32_t *removed, uint32_t *examined);

#endif

/*
 * A submission: requests that hot_try could not finish, on their way from the loop that sent them to
 * whoever answers them, and back. It owns copies of the requests and their items, so it does not
 * need the connection that they came from, and may outlive it.
 *
 * Its life, each step in this order:
 *
 *   submission_new      by the sender, which fills in `answered`, `done` and `mailbox`
 *   hot_submit          true: it belongs to the hot tier until `done`; false: it is still the sender's
 *   answered            called by the tier once, where the answers are: on a worker thread, or on the
 *                       sender's own thread, even inside hot_submit. The answers and the scratch are
 *                       valid only during this call, so the sender renders its replies here. It must
 *                       not free the submission, and touches nothing that the loop uses meanwhile.
 *   submission_finish   by the tier, on any thread: puts it into its mailbox and wakes the loop
 *   done                called by mailbox_drain, on the loop's thread and never inside hot_submit: the
 *                       submission is the sender's again, which frees it here
 *
 * A tier may put submissions of its own into a mailbox as well, to run on the loop's thread in the next
 * turn, as long as it has at least one submission of that loop.
 *
 * A sender embeds `struct hot_submission` as the first member of its own struct.
 */
#ifndef LAUD_HOT_SUBMISSION_H
#define LAUD_HOT_SUBMISSION_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "hot/hot.h"

/*
 * Finished submissions that the loop which sent them has not taken yet. It belongs to the loop and
 * outlives all submissions that name it.
 */
struct mailbox {
    pthread_mutex_t lock; /* of the queue */
    struct hot_submission *first, *last;
    void (*wake)(void *context); /* by any thread: the loop has to call mailbox_drain soon */
    void *context;
};

struct hot_submission {
    struct hot_submission *next; /* in the queue of whoever has it */
    struct mailbox *mailbox;
    void (*answered)(struct hot_submission *submission, const struct hot_scratch *scratch);
    void (*done)(struct hot_submission *submission);
    struct memory_budget *budget; /* all of its memory is charged to it, as of a connection */
    size_t bytes;                 /* of this allocation */
    uint64_t deadline_ns; /* monotonic: what nobody has begun by then is TOO_BUSY; 0: no deadline */
    uint64_t retry_ns; /* out: when to ask again for what was refused; 0: the tier does not say */
    uint32_t count;
    bool writes;                  /* some of the requests do */
    struct hot_request *requests; /* count of them, and behind them their items */
};

/*
 * Allocates `size` bytes of the sender's own struct, all zero but for its first member, which is the
 * submission; copies requests and items. NULL: no memory.
 */
void *submission_new(size_t size, const struct hot_request *requests, uint32_t count,
                     struct memory_budget *budget);
void submission_free(struct hot_submission *submission);

/* For hot tiers: it was answered, and goes back to the loop that sent it. */
void submission_finish(struct hot_submission *submission);

/* For hot tiers: none of the requests is run. All are TOO_BUSY, and retry_ns is set. */
void submission_refuse(struct hot_submission *submission);

int mailbox_init(struct mailbox *mailbox, void (*wake)(void *context),
                 void *context); /* 0, errno */
void mailbox_destroy(struct mailbox *mailbox);
/*
 * By the loop's thread: calls `done` of each that is there, in their order. What is put into the mailbox
 * meanwhile waits for the next call.
 */
void mailbox_drain(struct mailbox *mailbox);

#endif

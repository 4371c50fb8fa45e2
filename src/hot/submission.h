/*
 * A submission carries requests that hot_try could not finish from the loop that sends them to a thread
 * that answers them, and back. It owns copies of the requests, their items, and their details with all
 * texts (hot/comments.h), so it does not need the connection that they came from, and may outlive the
 * connection.
 *
 * The life of a submission has these steps, in this order:
 *
 *   submission_new      called by the sender, which then sets `answered`, `done` and `mailbox`
 *   hot_submit          true: the submission belongs to the hot tier until `done`; false: it still
 *                       belongs to the sender
 *   answered            called by the tier once, on the thread that has the answers: a worker thread, or
 *                       the sender's own thread, even inside hot_submit. The answers and the scratch are
 *                       valid only during this call, so the sender renders its replies here. `answered`
 *                       must not free the submission, and must not touch data that the loop may use.
 *   submission_finish   called by the tier on any thread: puts the submission into its mailbox and wakes
 *                       the loop
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
 * The queue of finished submissions that their loop has not drained yet. A mailbox belongs to the loop
 * and outlives all submissions that name it.
 */
struct mailbox {
    pthread_mutex_t lock; /* protects the queue */
    struct hot_submission *first, *last;
    void (*wake)(
        void *context); /* any thread calls it, so that the loop soon calls mailbox_drain */
    void *context;
};

struct hot_submission {
    struct hot_submission *next; /* in the queue that the submission is in, if any */
    struct mailbox *mailbox;
    void (*answered)(struct hot_submission *submission, const struct hot_scratch *scratch);
    void (*done)(struct hot_submission *submission);
    struct memory_budget *budget; /* its memory is charged to this budget */
    size_t bytes;                 /* of this allocation */
    uint64_t
        deadline_ns;   /* monotonic; if it was not begun by then, it is TOO_BUSY; 0: no deadline */
    uint64_t retry_ns; /* out: after how long to retry what was refused; 0: the tier does not say */
    uint32_t count;
    bool writes;                  /* at least one of the requests writes */
    struct hot_request *requests; /* `count` requests; items and details follow them in memory */
};

/*
 * Allocates the sender's own struct, which has `size` bytes and begins with the submission, and copies
 * requests, items and details. Everything in it after the submission is zero. NULL: no memory.
 */
void *submission_new(size_t size, const struct hot_request *requests, uint32_t count,
                     struct memory_budget *budget);
void submission_free(struct hot_submission *submission);

/* For hot tiers: the submission was answered, and is returned to the loop that sent it. */
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

/*
 * Admission of writes, for the hot tier over a journal and a store: writes pass while the journal
 * takes them, the store keeps up, the clock is not wrong and the tier is not stopping. Reads need no
 * admission.
 *
 * The lag is the number of journal bytes that the store has not applied yet. Up to lag_slow writes go
 * at full speed; from there on each thread has to let more and more time pass between them, so that
 * the projector can catch up; above lag_max they are refused.
 *
 * Whoever wants to know that something changed (hot_listen) is told from here: by the journal's
 * thread about released positions and the journal's state, by the projector's about the lag.
 *
 * Any thread may ask; each has a pacer of its own. Time is the caller's, except in functions that
 * wait, which are for worker threads.
 */
#ifndef LAUD_HOT_MEMORY_ADMISSION_H
#define LAUD_HOT_MEMORY_ADMISSION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/status.h"
#include "hot/hot.h"
#include "hot/submission.h"
#include "journal/log.h"
#include "time/timeline.h"

/* How long LIMIT_BATCH writes take where the lag reaches lag_max. */
#define ADMISSION_STEP_MAX_NS 20000000
/* Unused time that a thread may save up, so that writes that had to wait run in one go. */
#define ADMISSION_BURST_NS 10000000
/* The shortest wait: few large turns cost less than many small ones. */
#define ADMISSION_PAUSE_NS 5000000

struct admission {
    struct journal *journal;
    struct timeline *timeline;  /* NULL: the clock is not looked at */
    uint64_t lag_slow;          /* set once, before the first write */
    uint64_t lag_max;           /* likewise; 0: no bound, and no slowing down */
    uint64_t pieces_ns;         /* how long a FORGET or DROP may go on; set once */
    _Atomic uint64_t projected; /* position of the journal that the store has reached */
    atomic_bool store_failed;   /* for good: it catches up only after a restart */
    atomic_bool stopping;
    char store_failure[384];     /* written once, before store_failed is true */
    enum status told;            /* the journal's state as it was last logged; its thread's */
    _Atomic(hot_listen_fn *) fn; /* the listener; NULL: there is none yet */
    void *context;               /* written before fn */
};

void admission_init(struct admission *admission, struct timeline *timeline);

/* The store has reached this position; called by one thread at a time. Tells the listener. */
void admission_projected(struct admission *admission, uint64_t position);

/* The projector failed for good, for this reason; by its thread, and once. */
void admission_store_failed(struct admission *admission, const char *why);

/* The sentence for a client: the usual one of this status, or with the cause where it is known. */
const char *admission_sentence(const struct admission *admission, enum status status);

/* Sets the one listener, and logs the journal's state if it is not OK. hot_listen. */
void admission_listen(struct admission *admission, hot_listen_fn *fn, void *context);

/* The lag in bytes; 0 where there is no bound. */
static inline uint64_t admission_lag(struct admission *admission)
{
    if (admission->lag_max == 0)
        return 0;
    uint64_t projected = atomic_load_explicit(&admission->projected, memory_order_acquire);
    uint64_t appended = journal_appended(admission->journal);
    return appended > projected ? appended - projected : 0;
}

/* How long LIMIT_BATCH writes have to take at this lag. */
uint64_t admission_step_ns(const struct admission *admission, uint64_t lag);

/* How long this thread has to wait now before it writes; hot_wait_ns. */
uint64_t admission_wait_ns(struct admission *admission, const struct hot_pacer *pacer,
                           uint64_t now_ns);

/* This thread has made so many writes; hot_spend. */
void admission_spend(struct admission *admission, struct hot_pacer *pacer, uint32_t writes,
                     uint64_t now_ns);

/*
 * May this thread run a batch with writes in it? OK, BLOCKED (wait for the listener, or for as long
 * as admission_wait_ns says), or the reason why not. Asking takes nothing. hot_admit.
 */
enum status admission_admit(struct admission *admission, const struct hot_pacer *pacer,
                            uint64_t now_ns);

/* The same for a worker, which sleeps while it is BLOCKED: OK or the reason why not. */
enum status admission_await(struct admission *admission, const struct hot_pacer *pacer);

/*
 * FORGET and DROP make more writes than one admission is for, so they are admitted piece by piece,
 * each of up to LIMIT_BATCH writes, and only for pieces_ns: others wait for the same worker, and
 * whoever wants the rest removed asks again. The first piece may begin at any time, because the
 * store may have been waited for.
 */
struct admission_pieces {
    struct admission *admission;
    struct hot_pacer *pacer;
    uint64_t until_ns;
    bool begun;
};

struct admission_pieces admission_pieces_begin(struct admission *admission,
                                               struct hot_pacer *pacer);
/* OK; BLOCKED: its time is over; any other status: why not. By a worker that holds no lock. */
enum status admission_piece(struct admission_pieces *pieces, uint32_t writes);

/* Runs requests with no admission of its own but for FORGET and DROP, as `worker`. */
typedef void admission_run_fn(void *context, unsigned worker, struct hot_request *requests,
                              size_t count, struct hot_scratch *scratch);

/*
 * Runs a submission on a worker: waits for admission if it writes, refuses what writes if that is
 * refused, and runs the rest in order. FORGET and DROP run alone and take their own admission.
 */
void admission_run(struct admission *admission, struct hot_pacer *pacer, unsigned worker,
                   struct hot_submission *submission, struct hot_scratch *scratch,
                   admission_run_fn *run, void *context);

#endif

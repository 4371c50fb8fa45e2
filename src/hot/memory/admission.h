/*
 * Admission of writes, for the hot tier over a journal and a store: writes are admitted while the journal
 * can take them, the lag is not too large, the clock is right and the tier is not stopping. Reads need
 * no admission.
 *
 * The lag is the number of journal bytes that the store has not applied yet. Up to lag_slow, writes run
 * at full speed. From there on each thread has to wait longer and longer between its writes, so that the
 * projector can catch up. Above lag_max, writes are refused.
 *
 * The listener (hot_listen) is called from this module: by the journal's thread when released positions
 * or the journal's state change, and by the projector's thread when the lag changes.
 *
 * Any thread may ask; each has its own pacer. The caller gives the time, except in functions that wait.
 * Only worker threads may call those.
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

/* How long LIMIT_BATCH writes take when the lag reaches lag_max. */
#define ADMISSION_STEP_MAX_NS 20000000
/* How much unused time a thread may save, so that writes that had to wait can run together. */
#define ADMISSION_BURST_NS 10000000
/* The longest wait, also after a write of many bytes. */
#define ADMISSION_DEBT_NS 1000000000
/* The shortest wait: few large turns cost less than many small ones. */
#define ADMISSION_PAUSE_NS 5000000

struct admission {
    struct journal *journal;
    struct timeline *timeline; /* NULL: the clock is not checked */
    uint64_t lag_slow;         /* set once, before the first write */
    uint64_t lag_max;          /* set once, as lag_slow; 0: writes are neither slowed nor refused */
    uint64_t pieces_ns;        /* how long one FORGET or DROP may take; set once */
    _Atomic uint64_t projected; /* position of the journal that the store has reached */
    atomic_bool store_failed; /* the projector failed; the store catches up only after a restart */
    atomic_bool stopping;
    char store_failure[384];     /* written once, before store_failed is true */
    enum status logged;          /* the journal's state as it was last logged; used by its thread */
    _Atomic(hot_listen_fn *) fn; /* the listener; NULL: there is none yet */
    void *context;               /* written before fn */
};

void admission_init(struct admission *admission, struct timeline *timeline);

/* The store has reached this position. Calls the listener. One thread at a time may call this. */
void admission_projected(struct admission *admission, uint64_t position);

/* The projector failed, for this reason, and will not continue. Its thread calls this once. */
void admission_store_failed(struct admission *admission, const char *why);

/* The sentence for a client: the usual one of this status, or one with the cause; hot_sentence. */
const char *admission_sentence(const struct admission *admission, enum status status);

/* Sets the one listener, and logs the journal's state if it is not OK; hot_listen. */
void admission_listen(struct admission *admission, hot_listen_fn *fn, void *context);

/* The lag in bytes; 0 if there is no bound. */
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

/* Notes that this thread has made so many writes; hot_spend. */
void admission_spend(struct admission *admission, struct hot_pacer *pacer, uint32_t writes,
                     uint64_t now_ns);

/*
 * May this thread run a batch with writes? Returns OK, BLOCKED (wait for the listener, or for the time
 * of admission_wait_ns), or the reason why not. The question reserves nothing; hot_admit.
 */
enum status admission_admit(struct admission *admission, const struct hot_pacer *pacer,
                            uint64_t now_ns);

/* The same for a worker, which sleeps while it would be BLOCKED: OK or the reason why not. */
enum status admission_await(struct admission *admission, const struct hot_pacer *pacer);

/*
 * Reserves room in the journal for a long event (journal_reserve), for a thread that was admitted before.
 * It never waits: an I/O thread that is BLOCKED submits its request, and a worker waits with
 * admission_reserve_await. Returns OK, BLOCKED or the reason why not. The caller appends the event, or
 * calls admission_unreserve, and then gives hot_spend the bytes (hot_writes_of).
 */
enum status admission_reserve(struct admission *admission, size_t bytes);
void admission_unreserve(struct admission *admission, size_t bytes);

/*
 * The same for a worker that holds no lock: it sleeps while it would be BLOCKED, also because of the lag.
 * Returns OK; BLOCKED if the monotonic clock has reached `until_ns`; or the reason why not. OK also
 * admits this thread for LIMIT_BATCH short writes, and its pacer has been given the bytes already.
 */
enum status admission_reserve_await(struct admission *admission, struct hot_pacer *pacer,
                                    size_t bytes, uint64_t until_ns);

/*
 * FORGET and DROP make more writes than one admission allows, so they are admitted in pieces of up to
 * LIMIT_BATCH writes. They are admitted for pieces_ns only, because other requests wait for the same
 * worker; a client that wants the rest removed asks again. The first piece is admitted even later than
 * that, because the request may have had to wait for the store first.
 */
struct admission_pieces {
    struct admission *admission;
    struct hot_pacer *pacer;
    uint64_t until_ns;
    bool begun;
};

struct admission_pieces admission_pieces_begin(struct admission *admission,
                                               struct hot_pacer *pacer);
/*
 * Returns OK; BLOCKED if the request has used up its time; or another status, which is the reason why
 * not. Called by a worker that holds no lock.
 */
enum status admission_piece(struct admission_pieces *pieces, uint32_t writes);

/*
 * Runs requests as the worker with this number. The caller was admitted for their writes, except for
 * those of FORGET and DROP, which this function admits itself.
 */
typedef void admission_run_fn(void *context, unsigned worker, struct hot_request *requests,
                              size_t count, struct hot_scratch *scratch);

/*
 * Runs a submission on a worker. If it writes, this first waits for admission; if that is refused, the
 * requests that write get the reason as their status. The other requests run in order. FORGET and DROP
 * run alone and are admitted in pieces.
 */
void admission_run(struct admission *admission, struct hot_pacer *pacer, unsigned worker,
                   struct hot_submission *submission, struct hot_scratch *scratch,
                   admission_run_fn *run, void *context);

#endif

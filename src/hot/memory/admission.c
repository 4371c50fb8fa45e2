/*
 * How writes are slowed down. LIMIT_BATCH writes take one step of time, and the step grows with the lag:
 * from 0 at lag_slow to ADMISSION_STEP_MAX_NS at lag_max. So the speed of the writers settles at the
 * projector's speed at some lag between the two, whether writes come one by one or in pipelines, and
 * writes are refused only if that is not enough.
 *
 * A thread only pays for writes that were admitted, at most one batch before it asks again. So it waits
 * no longer than a step, and not at all once the lag is below lag_slow again. A long event counts as many
 * writes (hot_writes_of); after it a thread may have to wait for many steps, but at most
 * ADMISSION_DEBT_NS.
 *
 * A worker may simply sleep until it is admitted: the journal makes room by itself once it is kicked.
 * Stopping ends such a wait, because then writes are refused.
 */
#include "hot/memory/admission.h"

#include <stdio.h>
#include <time.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/log.h"

#define NAP_MIN_NS 100000
#define NAP_MAX_NS 2000000

void admission_init(struct admission *admission, struct timeline *timeline)
{
    *admission =
        (struct admission){.timeline = timeline, .pieces_ns = LIMIT_REMOVAL_MS * 1000000ULL};
}

static void tell(struct admission *admission)
{
    hot_listen_fn *fn = atomic_load(&admission->fn);
    if (fn != NULL)
        fn(admission->context);
}

void admission_projected(struct admission *admission, uint64_t position)
{
    atomic_store_explicit(&admission->projected, position, memory_order_release);
    tell(admission);
}

void admission_store_failed(struct admission *admission, const char *why)
{
    ASSERT(!atomic_load(&admission->store_failed));
    snprintf(admission->store_failure, sizeof admission->store_failure, "%s: %s",
             status_sentence(STATUS_STORE_FAILED), why);
    atomic_store(&admission->store_failed, true);
}

const char *admission_sentence(const struct admission *admission, enum status status)
{
    bool has_cause = status == STATUS_STORE_FAILED && atomic_load(&admission->store_failed);
    return has_cause ? admission->store_failure : status_sentence(status);
}

/* Operators need to see in the log when the server becomes read-only, and when writes work again. */
static void log_state(struct admission *admission)
{
    struct journal_stats stats;
    enum status state = journal_state(admission->journal), before = admission->logged;
    if (state == before)
        return;
    admission->logged = state;
    journal_stats(admission->journal, &stats);
    if (state == STATUS_OK)
        log_info("%s, writes resume", before == STATUS_NO_FILES ? "files can be opened again"
                                                                : "the disk has room again");
    else
        log_error("read-only: %s", stats.reason);
}

static void on_journal(void *context)
{
    struct admission *admission = context;
    log_state(admission);
    tell(admission);
}

void admission_listen(struct admission *admission, hot_listen_fn *fn, void *context)
{
    ASSERT(atomic_load(&admission->fn) == NULL);
    admission->context = context;
    atomic_store(&admission->fn, fn);
    log_state(admission); /* safe: the journal's thread calls this only after the next line */
    journal_listen(admission->journal, on_journal, admission);
}

uint64_t admission_step_ns(const struct admission *admission, uint64_t lag)
{
    uint64_t slow = admission->lag_slow, max = admission->lag_max;
    if (lag <= slow || max == 0)
        return 0;
    if (lag >= max)
        return ADMISSION_STEP_MAX_NS;
    return (uint64_t)(ADMISSION_STEP_MAX_NS * ((double)(lag - slow) / (double)(max - slow)));
}

static uint64_t wait_at(const struct admission *admission, const struct hot_pacer *pacer,
                        uint64_t lag, uint64_t now_ns)
{
    bool slow = admission_step_ns(admission, lag) > 0;
    if (!slow || pacer->free_ns <= now_ns)
        return 0;
    uint64_t wait_ns = pacer->free_ns - now_ns;
    return wait_ns < ADMISSION_PAUSE_NS ? ADMISSION_PAUSE_NS : wait_ns;
}

uint64_t admission_wait_ns(struct admission *admission, const struct hot_pacer *pacer,
                           uint64_t now_ns)
{
    return wait_at(admission, pacer, admission_lag(admission), now_ns);
}

void admission_spend(struct admission *admission, struct hot_pacer *pacer, uint32_t writes,
                     uint64_t now_ns)
{
    uint64_t step_ns = admission_step_ns(admission, admission_lag(admission));
    if (step_ns == 0)
        return;
    if (pacer->free_ns + ADMISSION_BURST_NS < now_ns)
        pacer->free_ns = now_ns - ADMISSION_BURST_NS;
    pacer->free_ns += step_ns * writes / LIMIT_BATCH;
    if (pacer->free_ns > now_ns + ADMISSION_DEBT_NS)
        pacer->free_ns = now_ns + ADMISSION_DEBT_NS;
}

enum status admission_admit(struct admission *admission, const struct hot_pacer *pacer,
                            uint64_t now_ns)
{
    if (atomic_load_explicit(&admission->stopping, memory_order_relaxed))
        return STATUS_STOPPING;
    enum status status = journal_admit(admission->journal, LIMIT_ADMIT_BYTES);
    if (status != STATUS_OK && status != STATUS_BLOCKED)
        return status; /* first: if the journal failed, it is useless to wait for the store */
    if (admission->timeline != NULL && timeline_state(admission->timeline) != STATUS_OK)
        return timeline_state(admission->timeline);
    uint64_t lag = admission_lag(admission);
    if (lag > admission->lag_slow) {
        if (lag > admission->lag_max)
            return atomic_load(&admission->store_failed) ? STATUS_STORE_FAILED : STATUS_LAGGING;
        if (wait_at(admission, pacer, lag, now_ns) > 0)
            return STATUS_BLOCKED;
    }
    return status;
}

static void nap(struct admission *admission, const struct hot_pacer *pacer)
{
    uint64_t wait_ns = admission_wait_ns(admission, pacer, clock_monotonic_ns());
    wait_ns = wait_ns < NAP_MIN_NS ? NAP_MIN_NS : wait_ns > NAP_MAX_NS ? NAP_MAX_NS : wait_ns;
    nanosleep(&(struct timespec){.tv_nsec = (long)wait_ns}, NULL);
}

enum status admission_await(struct admission *admission, const struct hot_pacer *pacer)
{
    enum status status;
    while ((status = admission_admit(admission, pacer, clock_monotonic_ns())) == STATUS_BLOCKED) {
        journal_kick(admission->journal);
        nap(admission, pacer);
    }
    return status;
}

enum status admission_reserve(struct admission *admission, size_t bytes)
{
    if (atomic_load_explicit(&admission->stopping, memory_order_relaxed))
        return STATUS_STOPPING;
    return journal_reserve(admission->journal, bytes);
}

void admission_unreserve(struct admission *admission, size_t bytes)
{
    journal_unreserve(admission->journal, bytes);
}

enum status admission_reserve_await(struct admission *admission, struct hot_pacer *pacer,
                                    size_t bytes, uint64_t until_ns)
{
    for (;;) {
        uint64_t now_ns = clock_monotonic_ns();
        enum status status = admission_admit(admission, pacer, now_ns);
        if (status == STATUS_OK)
            status = admission_reserve(admission, bytes);
        if (status == STATUS_OK)
            admission_spend(admission, pacer, hot_writes_of(bytes), now_ns);
        if (status != STATUS_BLOCKED || now_ns >= until_ns)
            return status;
        journal_kick(admission->journal);
        nap(admission, pacer);
    }
}

struct admission_pieces admission_pieces_begin(struct admission *admission, struct hot_pacer *pacer)
{
    return (struct admission_pieces){.admission = admission,
                                     .pacer = pacer,
                                     .until_ns = clock_monotonic_ns() + admission->pieces_ns};
}

enum status admission_piece(struct admission_pieces *pieces, uint32_t writes)
{
    struct admission *admission = pieces->admission;
    ASSERT(writes > 0 && writes <= LIMIT_BATCH);
    journal_kick(admission->journal); /* commits the writes of the piece before */
    if (pieces->begun && clock_monotonic_ns() >= pieces->until_ns)
        return STATUS_BLOCKED;
    pieces->begun = true;
    enum status status = admission_await(admission, pieces->pacer);
    if (status == STATUS_OK)
        admission_spend(admission, pieces->pacer, writes, clock_monotonic_ns());
    return status;
}

/* May the request run in a batch with others, under one admission for all? */
static bool is_ordinary(const struct hot_request *request, enum status writes)
{
    return writes == STATUS_OK ? !hot_request_removes(request) : !hot_request_writes(request);
}

/* The number of writes among the requests that run under one admission. */
static uint32_t ordinary_writes(const struct hot_submission *submission)
{
    uint32_t writes = 0;
    for (uint32_t i = 0; i < submission->count; i++)
        writes += hot_request_writes(&submission->requests[i]) &&
                  !hot_request_removes(&submission->requests[i]);
    return writes;
}

void admission_run(struct admission *admission, struct hot_pacer *pacer, unsigned worker,
                   struct hot_submission *submission, struct hot_scratch *scratch,
                   admission_run_fn *run, void *context)
{
    struct hot_request *requests = submission->requests;
    uint32_t count = submission->count;
    enum status first = submission->writes ? admission_await(admission, pacer) : STATUS_OK;
    enum status writes = first;
    for (uint32_t from = 0, to = 0; from < count; from = to) {
        while (to < count && is_ordinary(&requests[to], writes))
            to++;
        if (to > from)
            run(context, worker, requests + from, to - from, scratch);
        if (to == count)
            break;
        struct hot_request *request = &requests[to++];
        if (writes == STATUS_OK) {
            run(context, worker, request, 1, scratch);
            writes = to < count ? admission_await(admission, pacer) : STATUS_OK;
        } else {
            request->status = writes;
        }
    }
    if (submission->writes && first == STATUS_OK) {
        journal_kick(admission->journal);
        admission_spend(admission, pacer, ordinary_writes(submission), clock_monotonic_ns());
    }
}

/*
 * The thread and the public functions. The thread waits on its source until there are enough events
 * for a full window, until the last window began long enough ago, or until another thread wants a
 * position reached or stops the projector. Whoever changes `wanted` or `stopping` wakes the source.
 */
#include "project/projector.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "project/private.h"

#define TIDY_MS     1    /* interval for checking whether the filters need work */
#define TAIL_MS     1    /* interval for checking the source for its last events when stopping */
#define RETRY_MS    1000 /* pause before a failed step is tried again */
#define FINISH_MS   5000 /* time for the remaining events when stopping */
#define NICE        19   /* threads that answer clients have priority */
#define EVENT_BYTES 32   /* bytes of a typical event: a like with narrow ids */

static bool projector_init(struct projector *projector, char *problem, size_t size)
{
    const struct projector_options *options = &projector->options;
    uint64_t position = store_position(options->applier);
    projector->wall_ms = clock_wall_ms;
    projector->window_bytes = options->window_events * EVENT_BYTES;
    projector->filter_position = options->filter_position;
    projector->trend_position = options->trend_position;
    projector->checkpoint_next = options->filter_position + options->checkpoint_bytes;
    projector->oldest_ms = projector_now_ms(projector);
    projector->stats = (struct projector_stats){.state = PROJECTOR_OK,
                                                .sentence = projector_state_text(PROJECTOR_OK),
                                                .position = position,
                                                .checkpoint = projector_saved(projector)};
    ASSERT(options->filter_position <= position && options->trend_position <= position);
    ASSERT(options->trends == NULL || trends_position(options->trends) == position);
    const struct window_options window = {
        .source = options->source,
        .budget = options->budget,
        .events_max = options->window_events,
        .token_ttl_s = options->token_ttl_s,
        .changes_ttl_s = options->changes_ttl_s,
        .seed = options->seed,
        .comments = options->comments,
    };
    if (window_open(&projector->window, &window, position, problem, size) != STATUS_OK)
        return false;
    uint32_t next_s = window_peek(&projector->window);
    if (next_s != 0)
        projector->oldest_ms = next_s * 1000ULL;
    return true;
}

struct projector *projector_new(const struct projector_options *options, char *problem, size_t size)
{
    ASSERT(options->window_events > 0 && options->checkpoint_bytes > 0);
    ASSERT(options->source != NULL && options->applier != NULL && options->filters != NULL);
    struct projector *projector = calloc(1, sizeof(*projector));
    if (projector == NULL) {
        snprintf(problem, size, "there is no memory for the projector");
        return NULL;
    }
    projector->magic = PROJECTOR_MAGIC;
    projector->options = *options;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&projector->reached, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&projector->lock, NULL);
    if (projector_init(projector, problem, size))
        return projector;
    projector_free(projector);
    return NULL;
}

void projector_free(struct projector *projector)
{
    CHECK_MAGIC(projector, PROJECTOR_MAGIC);
    window_close(&projector->window);
    pthread_cond_destroy(&projector->reached);
    pthread_mutex_destroy(&projector->lock);
    projector->magic = 0;
    free(projector);
}

static uint64_t now_ms(void)
{
    return clock_monotonic_ns() / 1000000;
}

static bool is_stopping(struct projector *projector)
{
    pthread_mutex_lock(&projector->lock);
    bool stopping = projector->stopping;
    pthread_mutex_unlock(&projector->lock);
    return stopping;
}

static bool is_wanted(struct projector *projector, uint64_t position)
{
    pthread_mutex_lock(&projector->lock);
    bool wanted = projector->wanted > position;
    pthread_mutex_unlock(&projector->lock);
    return wanted;
}

bool projector_is_requested(struct projector *projector)
{
    pthread_mutex_lock(&projector->lock);
    bool requested = projector->requested;
    pthread_mutex_unlock(&projector->lock);
    return requested;
}

/* Waits until this time or until the projector has to stop. True: it has to stop. */
static bool wait_until(struct projector *projector, uint64_t until_ms)
{
    while (!is_stopping(projector) && now_ms() < until_ms)
        source_wait(projector->options.source, UINT64_MAX, until_ms * 1000000);
    return is_stopping(projector);
}

static bool wait_for_stop(struct projector *projector)
{
    while (!is_stopping(projector))
        source_wait(projector->options.source, UINT64_MAX, UINT64_MAX);
    return true;
}

/* Waits until the next window should begin (false) or until the projector has to stop (true). */
static bool wait_for_window(struct projector *projector, uint64_t began_ms)
{
    uint64_t due_ms = began_ms + projector->options.window_ms;
    uint64_t position = projector->stats.position;
    while (!is_stopping(projector)) {
        struct source_view view;
        source_view(projector->options.source, &view);
        bool full = projector->window.more || view.available >= position + projector->window_bytes;
        projector_tidy(projector, full);
        bool wanted = is_wanted(projector, position);
        uint64_t now = now_ms();
        if (full || now >= due_ms || (wanted && view.available > position) ||
            projector_is_requested(projector))
            return false;
        uint64_t until_ms = projector->tidying && now + TIDY_MS < due_ms ? now + TIDY_MS : due_ms;
        uint64_t beyond = wanted ? position : position + projector->window_bytes - 1;
        source_wait(projector->options.source, beyond, until_ms * 1000000);
    }
    return true;
}

/* Are there events that are not available yet but will be? */
static bool is_tail_coming(const struct projector *projector)
{
    struct source_view view;
    source_view(projector->options.source, &view);
    return view.available < view.appended && view.advancing;
}

/*
 * Applies everything that was appended, then makes a checkpoint. Unless the journal syncs with each
 * commit, it is asked only now for its last events (projector_step), so this loop waits for them.
 * Before each step it checks whether more events are expected: if that step then finds nothing to
 * apply, everything has been applied. With the check after the step, events that became durable
 * between the two would be missed until the next start. The time for stopping is limited: what
 * remains is in the journal and is replayed at the next start.
 */
void projector_finish(struct projector *projector)
{
    const struct timespec pause = {.tv_nsec = TAIL_MS * 1000000L};
    uint64_t until_ms = now_ms() + FINISH_MS;
    enum projector_step step;
    bool coming;
    do {
        coming = is_tail_coming(projector);
        step = projector_step(projector);
        if (step == STEP_IDLE && coming)
            nanosleep(&pause, NULL);
    } while ((step == STEP_MOVED || (step == STEP_IDLE && coming)) && now_ms() < until_ms);
    if (projector->pending || projector->failed)
        return;
    if (projector_has_unsaved(projector))
        projector_checkpoint(projector);
}

static void *projector_run(void *argument)
{
    struct projector *projector = argument;
    CHECK_MAGIC(projector, PROJECTOR_MAGIC);
    pthread_setname_np(pthread_self(), "projector");
    /* If this is refused, the thread has normal priority. */
    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), NICE);
    for (bool stopping = false; !stopping;) {
        uint64_t began_ms = now_ms();
        enum projector_step step = projector_step(projector);
        if (step == STEP_FAILED)
            stopping = wait_for_stop(projector);
        else if (step == STEP_WAIT)
            stopping = wait_until(projector, began_ms + RETRY_MS);
        else
            stopping = wait_for_window(projector, began_ms);
    }
    projector_finish(projector);
    return NULL;
}

struct projector *projector_start(const struct projector_options *options, char *problem,
                                  size_t size)
{
    struct projector *projector = projector_new(options, problem, size);
    if (projector == NULL)
        return NULL;
    if (pthread_create(&projector->thread, NULL, projector_run, projector) != 0) {
        snprintf(problem, size, "the projector's thread could not be started");
        projector_free(projector);
        return NULL;
    }
    return projector;
}

void projector_stats(struct projector *projector, struct projector_stats *out)
{
    CHECK_MAGIC(projector, PROJECTOR_MAGIC);
    struct source_view view;
    source_view(projector->options.source, &view);
    uint64_t now = projector_now_ms(projector);
    pthread_mutex_lock(&projector->lock);
    *out = projector->stats;
    ASSERT(out->checkpoint <= out->position && out->sentence != NULL);
    uint64_t bytes = projector->event_bytes;
    uint64_t oldest_ms = projector->oldest_ms;
    pthread_mutex_unlock(&projector->lock);
    if (view.written <= out->position)
        return;
    out->lag_bytes = view.written - out->position;
    out->lag_events = out->events == 0 ? out->lag_bytes / EVENT_BYTES
                                       : out->lag_bytes / ((bytes + out->events - 1) / out->events);
    out->lag_ms = now > oldest_ms ? now - oldest_ms : 0;
}

/* Under the lock. */
static bool can_reach(const struct projector *projector)
{
    return !projector->stopping && projector->stats.state == PROJECTOR_OK;
}

bool projector_reach(struct projector *projector, uint64_t position, unsigned timeout_ms)
{
    CHECK_MAGIC(projector, PROJECTOR_MAGIC);
    uint64_t until_ns = clock_monotonic_ns() + timeout_ms * 1000000ULL;
    struct timespec until = {(time_t)(until_ns / 1000000000), (long)(until_ns % 1000000000)};
    source_hurry(projector->options.source);
    pthread_mutex_lock(&projector->lock);
    projector->waiting++;
    if (projector->wanted < position)
        projector->wanted = position;
    source_wake(projector->options.source);
    while (projector->stats.position < position && can_reach(projector) &&
           pthread_cond_timedwait(&projector->reached, &projector->lock, &until) == 0)
        ;
    bool reached = projector->stats.position >= position;
    if (--projector->waiting == 0)
        projector->wanted = 0;
    pthread_mutex_unlock(&projector->lock);
    return reached;
}

void projector_request_checkpoint(struct projector *projector)
{
    CHECK_MAGIC(projector, PROJECTOR_MAGIC);
    pthread_mutex_lock(&projector->lock);
    projector->requested = true;
    pthread_mutex_unlock(&projector->lock);
    source_wake(projector->options.source);
}

void projector_stop(struct projector *projector)
{
    CHECK_MAGIC(projector, PROJECTOR_MAGIC);
    ASSERT(!projector->stopping);
    pthread_mutex_lock(&projector->lock);
    projector->stopping = true;
    pthread_cond_broadcast(&projector->reached);
    pthread_mutex_unlock(&projector->lock);
    source_wake(projector->options.source);
    pthread_join(projector->thread, NULL);
    projector_free(projector);
}

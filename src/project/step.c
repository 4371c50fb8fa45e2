/*
 * What the projector does, in the order that makes it safe to be killed anywhere:
 *
 *   a window   read and fold, filters_before, apply (data and position together), filters_after,
 *              count it on the windowed boards
 *   checkpoint flush the store (D), save the windowed boards (T = D), have other files saved that
 *              follow it, save the filters (F = D), acknowledge the events before the lesser of T
 *              and F
 *
 * After a crash the store is at its last flush, D; the files of the boards and of the filters stand
 * for the same position or an earlier one, because they are written after the flush; and the journal
 * still has all from there on, because acknowledging comes last. A file that cannot be written stops
 * nothing: the journal is then kept from where the old one stands.
 *
 * Between windows the filters are tidied (filters_move).
 *
 * A window that the store would not take is kept and tried again as it is: the filters already
 * know it, and must not be told twice. For the same reason no checkpoint is made then.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/log.h"
#include "project/private.h"

#define TIDY_REST      1              /* so many quarters of what it took, nothing is tidied */
#define TIDY_REST_BUSY 400            /* likewise while windows are full */
#define TIDY_RETRY_NS  60000000000ULL /* after a failure */

void projector_set_state(struct projector *projector, enum projector_state state)
{
    const char *sentence =
        state == PROJECTOR_FAILED ? projector->failure : projector_state_text(state);
    ASSERT((state == PROJECTOR_FAILED) == projector->failed);
    pthread_mutex_lock(&projector->lock);
    bool same = projector->stats.state == state;
    projector->stats.state = state;
    projector->stats.sentence = sentence;
    pthread_cond_broadcast(&projector->reached);
    uint64_t position = projector->stats.position;
    pthread_mutex_unlock(&projector->lock);
    if (same)
        return;
    if (state == PROJECTOR_OK)
        log_info("projector: resumed");
    else
        log_error("projector: %s", sentence);
    if (projector->options.moved != NULL)
        projector->options.moved(projector->options.context, position);
}

static enum projector_step step_fail(struct projector *projector, const char *what,
                                     const char *problem)
{
    ASSERT(!projector->failed);
    projector->failed = true;
    snprintf(projector->failure, sizeof projector->failure, "%s: %s", what, problem);
    if (projector->options.failed != NULL)
        projector->options.failed(projector->options.context, projector->failure);
    projector_set_state(projector, PROJECTOR_FAILED);
    return STEP_FAILED;
}

/* Of the store's answers, a lack of room passes; no other failure does. */
static enum projector_step store_refused(struct projector *projector, const char *what,
                                         enum status status)
{
    if (status == STATUS_DISK_FULL || status == STATUS_NO_MEMORY) {
        projector_set_state(projector,
                            status == STATUS_DISK_FULL ? PROJECTOR_DISK_FULL : PROJECTOR_NO_MEMORY);
        return STEP_WAIT;
    }
    struct store_stats stats = {0};
    store_stats(projector->options.admin, &stats);
    bool says_why = stats.state != STORE_OK;
    return step_fail(projector, what,
                     says_why ? store_state_text(stats.state) : status_sentence(status));
}

static uint64_t position_of(struct projector *projector)
{
    return projector->stats.position; /* only this thread changes it */
}

/* All that comes from here on is younger than the look at the journal. */
static enum projector_step step_idle(struct projector *projector)
{
    pthread_mutex_lock(&projector->lock);
    projector->oldest_ms = projector->read_ms;
    pthread_mutex_unlock(&projector->lock);
    return STEP_IDLE;
}

static enum projector_step window_begin(struct projector *projector)
{
    ASSERT(!projector->pending && !projector->failed);
    io_fault_point("project.read");
    struct source_view view;
    projector->read_ms = projector_now_ms(projector);
    source_view(projector->options.source, &view);
    if (view.appended > view.available)
        source_hurry(projector->options.source); /* for the next window: nobody else may ask */
    if (view.available <= position_of(projector))
        return step_idle(projector);
    char problem[256];
    enum status status = window_read(&projector->window, view.available, problem, sizeof problem);
    if (status != STATUS_OK)
        return step_fail(projector, "the journal cannot be read", problem);
    ASSERT(window_events(&projector->window) > 0); /* limits are between two events */
    ASSERT(projector->window.changes.position > position_of(projector));
    io_fault_point("project.folded");
    filters_before(projector->options.filters, &projector->window.changes);
    projector->pending = true;
    io_fault_point("project.before");
    return STEP_MOVED;
}

/* What is left over is either the event that did not fit, or younger than the reading. */
static void publish(struct projector *projector)
{
    const struct window *window = &projector->window;
    const struct store_changes *changes = &window->changes;
    pthread_mutex_lock(&projector->lock);
    struct projector_stats *stats = &projector->stats;
    ASSERT(changes->position > stats->position);
    projector->event_bytes += changes->position - stats->position;
    stats->position = changes->position;
    stats->windows++;
    stats->events += window_events(window);
    stats->changes += changes->user.reaction_count + changes->item.count_count +
                      changes->name_count + changes->item.token_count;
    pthread_cond_broadcast(&projector->reached);
    projector->oldest_ms = window->more ? (uint64_t)window->next_s * 1000 : projector->read_ms;
    pthread_mutex_unlock(&projector->lock);
}

static void count_window(struct projector *projector)
{
    const struct window *window = &projector->window;
    struct trends *trends = projector->options.trends;
    if (trends != NULL && projector->options.trends_pass)
        trends_pass(trends, window->changes.position);
    else if (trends != NULL)
        trends_apply(trends, &window->changes, window->newest_s,
                     (uint32_t)(projector->read_ms / 1000));
}

static enum projector_step window_finish(struct projector *projector)
{
    ASSERT(projector->pending && !projector->failed);
    enum status status = store_apply(projector->options.applier, &projector->window.changes);
    if (status != STATUS_OK)
        return store_refused(projector, "events could not be written to the store", status);
    io_fault_point("project.applied");
    filters_after(projector->options.filters, &projector->window.changes);
    io_fault_point("project.after");
    count_window(projector);
    publish(projector);
    window_clear(&projector->window);
    projector->pending = false;
    projector_set_state(projector, PROJECTOR_OK);
    if (projector->options.moved != NULL)
        projector->options.moved(projector->options.context, position_of(projector));
    return STEP_MOVED;
}

uint64_t projector_saved(const struct projector *projector)
{
    uint64_t filters = projector->filter_position;
    uint64_t trends = projector->trend_position;
    return projector->options.trends != NULL && trends < filters ? trends : filters;
}

static uint64_t moves_of(const struct projector *projector)
{
    struct filters_move_stats stats;
    filters_move_stats(projector->options.filters, &stats);
    return stats.moves;
}

/* Without the file of moved filters the next start would move them again. */
bool projector_has_unsaved(const struct projector *projector)
{
    return projector->stats.position > projector_saved(projector) ||
           moves_of(projector) != projector->moves_saved;
}

/* A file beside the store was written, or not: what it stands for now. */
static void note_saved(struct projector *projector, int result, const char *path, uint64_t *saved)
{
    ASSERT(*saved <= position_of(projector));
    if (result == 0)
        *saved = position_of(projector);
    else
        log_warn("projector: %s was not written: %s; the journal is kept from position %" PRIu64,
                 path, strerror(-result), *saved);
}

static void save_trends(struct projector *projector)
{
    const char *path = projector->options.trend_path;
    if (projector->options.trends == NULL)
        return;
    io_fault_point("project.trends");
    ASSERT(trends_position(projector->options.trends) == position_of(projector));
    int result = trends_save(projector->options.trends, path);
    note_saved(projector, result, path, &projector->trend_position);
    io_fault_point("project.trends_saved");
}

static void save_filters(struct projector *projector)
{
    const char *path = projector->options.filter_path;
    io_fault_point("project.save");
    int result = filters_save(projector->options.filters, path, position_of(projector));
    note_saved(projector, result, path, &projector->filter_position);
    if (result == 0)
        projector->moves_saved = moves_of(projector);
    io_fault_point("project.saved");
}

static void acknowledge(struct projector *projector)
{
    if (projector->options.keep_journal)
        return;
    io_fault_point("project.forget");
    ASSERT(projector_saved(projector) <= position_of(projector));
    enum status status = source_acknowledge(projector->options.source, projector_saved(projector));
    if (status != STATUS_OK)
        log_warn("projector: old journal segments could not be removed: %s",
                 status_sentence(status));
    io_fault_point("project.forgotten");
}

enum projector_step projector_checkpoint(struct projector *projector)
{
    ASSERT(!projector->pending && !projector->failed);
    io_fault_point("project.flush");
    enum status status = store_flush(projector->options.applier);
    if (status != STATUS_OK)
        return store_refused(projector, "the store could not be flushed", status);
    io_fault_point("project.flushed");
    save_trends(projector);
    if (projector->options.save != NULL)
        projector->options.save(projector->options.context, position_of(projector));
    save_filters(projector);
    acknowledge(projector);
    projector->checkpoint_next = position_of(projector) + projector->options.checkpoint_bytes;
    pthread_mutex_lock(&projector->lock);
    projector->stats.checkpoint = projector_saved(projector);
    ASSERT(projector->stats.checkpoint <= projector->stats.position);
    projector->stats.checkpoints++;
    pthread_mutex_unlock(&projector->lock);
    projector_set_state(projector, PROJECTOR_OK);
    return STEP_MOVED;
}

/*
 * For a part of this thread's time: those who answer come first anyway (NICE), and windows should not
 * wait long; while they are full nothing is begun, and what goes on nearly rests. Where it failed (no
 * memory, or the store does not read) nothing is lost but speed.
 */
void projector_tidy(struct projector *projector, bool busy)
{
    uint64_t began_ns = clock_monotonic_ns();
    if (projector->pending || projector->failed || began_ns < projector->tidy_next_ns ||
        (busy && !projector->tidying))
        return;
    enum status status = filters_move(projector->options.filters, projector->options.admin);
    uint64_t took_ns = clock_monotonic_ns() - began_ns;
    uint64_t pause_ns = took_ns * (busy ? TIDY_REST_BUSY : TIDY_REST) / 4;
    projector->tidying = status == STATUS_MORE;
    if (status != STATUS_OK && status != STATUS_MORE)
        pause_ns = TIDY_RETRY_NS;
    if (status != STATUS_OK && status != STATUS_MORE && status != STATUS_NO_MEMORY)
        log_warn(
            "projector: the filters could not be rebuilt as one segment: %s; trying again later",
            status_sentence(status));
    projector->tidy_next_ns = began_ns + took_ns + pause_ns;
}

/* A checkpoint that is due comes first: while none can be made, no more is put on top. */
enum projector_step projector_step(struct projector *projector)
{
    if (projector->failed)
        return STEP_FAILED;
    enum projector_step step = STEP_MOVED;
    if (!projector->pending && position_of(projector) >= projector->checkpoint_next)
        step = projector_checkpoint(projector);
    if (step == STEP_MOVED && !projector->pending)
        step = window_begin(projector);
    return step == STEP_MOVED ? window_finish(projector) : step;
}

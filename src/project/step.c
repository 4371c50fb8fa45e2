/*
 * The work of the projector, in an order that makes it safe to be killed at any point:
 *
 *     a window   read and fold, filters_before, make the rows of comments, apply (data, rows and
 *                position together), filters_after, count it on the windowed boards, let others
 *                discard what they cache of the rows of comments, publish the position
 *     checkpoint flush the store (position D), save the windowed boards (position T = D), let
 *                others save their files, save the filters (position F = D), let a backup link
 *                all files, acknowledge the events before the lower of T and F
 *
 * After a crash the store has the position of its last flush, D. The files of boards and filters
 * have the same position or an earlier one, because they are written after the flush. The journal
 * still has everything from there on, because acknowledging is the last step. If a file cannot be
 * written, the projector continues, and the journal keeps all events from the position of the old
 * file on.
 *
 * Between windows the filters are maintained (filters_move).
 *
 * A window that the store could not apply is kept and tried again unchanged: it is already in the
 * filters and must not be added to them twice. For the same reason no checkpoint is made then.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/log.h"
#include "project/private.h"

#define TIDY_REST      1 /* pause after work on the filters, in quarters of the time that it took */
#define TIDY_REST_BUSY 400            /* the same while windows are full */
#define TIDY_RETRY_NS  60000000000ULL /* pause after a failure */

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

/* Of the failures of the store only a lack of space or memory is temporary. */
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

/* All events that follow are younger than the last reading of the journal. */
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
        /* For the next window, because perhaps no other thread requests it. */
        source_hurry(projector->options.source);
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

/* An event that is not applied is either the one that did not fit, or younger than the reading. */
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
                      changes->name_count + changes->item.token_count + changes->row_count;
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

/* Whoever caches rows of comments discards them before anybody can rely on the new position. */
static void tell_parents(struct projector *projector)
{
    size_t count = 0;
    if (projector->window.comments == NULL || projector->options.parents == NULL)
        return;
    const struct item *parents = comments_parents(projector->window.comments, &count);
    if (count > 0)
        projector->options.parents(projector->options.context, parents, count);
}

static enum projector_step window_finish(struct projector *projector)
{
    ASSERT(projector->pending && !projector->failed);
    char problem[256] = "";
    enum status status = window_make_rows(&projector->window, problem, sizeof problem);
    if (status == STATUS_DAMAGED)
        return step_fail(projector, "events could not be applied to the store", problem);
    if (status != STATUS_OK)
        return store_refused(projector, "comments could not be read from the store", status);
    io_fault_point("project.rows");
    status = store_apply(projector->options.applier, &projector->window.changes);
    if (status != STATUS_OK)
        return store_refused(projector, "events could not be written to the store", status);
    io_fault_point("project.applied");
    filters_after(projector->options.filters, &projector->window.changes);
    io_fault_point("project.after");
    count_window(projector);
    tell_parents(projector);
    if (projector->options.moved != NULL) /* first, so that whoever waits for it finds it done */
        projector->options.moved(projector->options.context, projector->window.changes.position);
    publish(projector);
    window_clear(&projector->window);
    projector->pending = false;
    projector_set_state(projector, PROJECTOR_OK);
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

/* If the file of rebuilt filters were not saved, the next start would rebuild them again. */
bool projector_has_unsaved(const struct projector *projector)
{
    return projector->stats.position > projector_saved(projector) ||
           moves_of(projector) != projector->moves_saved;
}

/* Updates the position of a file after an attempt to write it. */
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
    uint64_t saved = projector_saved(projector), history = projector->options.history_bytes;
    ASSERT(saved <= position_of(projector));
    enum status status =
        source_acknowledge(projector->options.source, saved > history ? saved - history : 0);
    if (status != STATUS_OK)
        log_warn("projector: old journal segments could not be removed: %s",
                 status_sentence(status));
    io_fault_point("project.forgotten");
}

/* A request that arrives meanwhile is for the next checkpoint. */
static void stage(struct projector *projector)
{
    pthread_mutex_lock(&projector->lock);
    bool requested = projector->requested;
    projector->requested = false;
    pthread_mutex_unlock(&projector->lock);
    if (requested && projector->options.staged != NULL)
        projector->options.staged(projector->options.context, position_of(projector));
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
    stage(projector);
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
 * Uses only a fraction of this thread's time: threads that answer clients have priority anyway
 * (NICE), and windows should not wait long. While windows are full, no new rebuild begins, and a
 * present one continues very slowly. After a failure (no memory, or the store cannot be read) only
 * speed is lost.
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

/* A checkpoint that is due is made first: as long as it fails, nothing more is applied. */
enum projector_step projector_step(struct projector *projector)
{
    if (projector->failed)
        return STEP_FAILED;
    enum projector_step step = STEP_MOVED;
    bool due = position_of(projector) >= projector->checkpoint_next;
    if (!projector->pending && (due || projector_is_requested(projector)))
        step = projector_checkpoint(projector);
    if (step == STEP_MOVED && !projector->pending)
        step = window_begin(projector);
    return step == STEP_MOVED ? window_finish(projector) : step;
}

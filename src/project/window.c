/*
 * The age of idempotency tokens and cleared reactions is measured by the times of events and not by
 * a clock: the same journal always results in the same store, whenever it is read.
 *
 * A window ends where a slice of the windowed boards ends, so that it belongs to one slice. A time
 * that is earlier than the newest one counts as the newest and ends no window.
 */
#include "project/window.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/assert.h"
#include "trend/trends.h"

#define PULL_EVENTS 256 /* events pulled at a time */

enum status window_open(struct window *window, const struct window_options *options,
                        uint64_t position, char *problem, size_t size)
{
    ASSERT(options->events_max > 0 && options->budget != NULL);
    *window = (struct window){.token_ttl_s = options->token_ttl_s,
                              .changes_ttl_s = options->changes_ttl_s};
    window->fold = fold_new(options->budget, options->events_max, options->seed);
    if (options->comments.names != NULL)
        window->comments = comments_new(&options->comments);
    if (window->fold == NULL ||
        (options->comments.names != NULL &&
         (window->comments == NULL || !fold_set_comments(window->fold, window->comments)))) {
        snprintf(problem, size, "there is no memory for a window of events");
        return STATUS_NO_MEMORY;
    }
    window->source = options->source;
    window->position = position;
    return source_seek(window->source, position, problem, size);
}

void window_close(struct window *window)
{
    fold_free(window->fold);
    comments_free(window->comments);
    *window = (struct window){0};
}

/* Does this event belong to a later slice than those before it? */
static bool window_turns(const struct window *window, const struct event *event)
{
    return fold_events(window->fold) > 0 &&
           event->time_s / TREND_SLICE_S > window->newest_s / TREND_SLICE_S;
}

/* NO_MEMORY: the event does not fit into this window and was not added. */
static enum status take_event(struct window *window, const struct event *event)
{
    enum status status =
        window_turns(window, event) ? STATUS_NO_MEMORY : fold_add(window->fold, event);
    if (status == STATUS_OK) {
        if (event->time_s > window->newest_s)
            window->newest_s = event->time_s;
        if (event_is_import(event) && event->time_s > window->import_s)
            window->import_s = event->time_s;
    } else if (status == STATUS_NO_MEMORY) {
        ASSERT(fold_events(window->fold) > 0);
        window->more = true;
        window->next_s = event->time_s;
    }
    return status;
}

/*
 * Pulls a new run if all events of the present run are taken. After OK the run may still be empty.
 */
static enum status next_event(struct window *window, char *problem, size_t size)
{
    if (window->taken < window->run.count)
        return STATUS_OK;
    window->taken = 0;
    enum status status = source_pull(window->source, PULL_EVENTS, &window->run, problem, size);
    ASSERT(status == STATUS_OK || window->run.count == 0);
    return status;
}

/*
 * Adds events of the run up to the limit. OK, also if there are none; NO_MEMORY: the window is
 * full.
 */
static enum status take_run(struct window *window, uint64_t limit, char *problem, size_t size)
{
    const struct source_run *run = &window->run;
    enum status status = STATUS_OK;
    while (window->taken < run->count && run->ends[window->taken] <= limit) {
        status = take_event(window, &run->events[window->taken]);
        if (status != STATUS_OK)
            break;
        ASSERT(run->ends[window->taken] > window->position);
        window->position = run->ends[window->taken++];
    }
    if (status != STATUS_OK && status != STATUS_NO_MEMORY)
        snprintf(problem, size,
                 "the event at position %" PRIu64 " of the journal contradicts those before it",
                 window->position);
    return status;
}

static enum status take_events(struct window *window, uint64_t limit, char *problem, size_t size)
{
    enum status status = STATUS_OK;
    uint64_t before;
    do {
        before = window->position;
        status = next_event(window, problem, size);
        if (status == STATUS_OK)
            status = take_run(window, limit, problem, size);
    } while (status == STATUS_OK && window->position > before && window->position < limit);
    return status == STATUS_NO_MEMORY ? STATUS_OK : status;
}

static uint32_t time_before(uint32_t time_s, uint32_t span_s)
{
    return time_s > span_s ? time_s - span_s : 0;
}

enum status window_read(struct window *window, uint64_t limit, char *problem, size_t size)
{
    ASSERT(fold_events(window->fold) == 0);
    window->more = false;
    enum status status = take_events(window, limit, problem, size);
    if (status != STATUS_OK) {
        fold_clear(window->fold);
        return status;
    }
    fold_take(window->fold, window->position, &window->changes);
    window->changes.newest_s = window->newest_s;
    window->changes.item.token_horizon_s = time_before(window->newest_s, window->token_ttl_s);
    window->changes.user.cleared_horizon_s = time_before(window->newest_s, window->changes_ttl_s);
    if (window->changes.user.cleared_horizon_s < window->import_s)
        window->changes.user.cleared_horizon_s = window->import_s;
    ASSERT(window->changes.position <= limit);
    ASSERT(window->changes.item.token_horizon_s <= window->newest_s &&
           window->changes.user.cleared_horizon_s <= window->newest_s);
    return STATUS_OK;
}

/* window_read meets the same error of the journal again and reports it. */
uint32_t window_peek(struct window *window)
{
    char problem[256];
    bool found = next_event(window, problem, sizeof problem) == STATUS_OK &&
                 window->taken < window->run.count;
    return found ? window->run.events[window->taken].time_s : 0;
}

size_t window_events(const struct window *window)
{
    return fold_events(window->fold);
}

enum status window_make_rows(struct window *window, char *problem, size_t size)
{
    if (window->comments == NULL)
        return STATUS_OK;
    enum status status = comments_make_rows(window->comments, &window->changes, problem, size);
    if (status != STATUS_OK && problem[0] == '\0')
        snprintf(problem, size, "%s", status_sentence(status));
    return status;
}

void window_clear(struct window *window)
{
    fold_clear(window->fold);
    window->changes = (struct store_changes){0};
}

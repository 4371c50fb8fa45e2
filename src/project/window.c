/*
 * How old an idempotency token or a cleared reaction may get is measured by the events themselves, not by a clock: the
 * same journal gives the same store, whenever it is read.
 *
 * A window ends where a slice of the windowed boards does, so that it belongs to one of them. Times
 * that fall end nothing: they count as the newest one.
 */
#include "project/window.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/assert.h"
#include "trend/trends.h"

enum status window_open(struct window *window, const struct window_options *options,
                        uint64_t position, char *problem, size_t size)
{
    *window = (struct window){.token_ttl_s = options->token_ttl_s,
                              .changes_ttl_s = options->changes_ttl_s,
                              .contradiction = UINT64_MAX};
    window->fold = fold_new(options->budget, options->events_max, options->seed);
    if (window->fold == NULL) {
        snprintf(problem, size, "there is no memory for a window of events");
        return STATUS_NO_MEMORY;
    }
    return journal_cursor_open(options->journal_directory, position, &window->cursor, problem,
                               size);
}

void window_close(struct window *window)
{
    if (window->cursor != NULL)
        journal_cursor_close(window->cursor);
    fold_free(window->fold);
    *window = (struct window){0};
}

/* Is this event of a later slice than those before it? */
static bool window_turns(const struct window *window, const struct event *event)
{
    return fold_events(window->fold) > 0 &&
           event->time_s / TREND_SLICE_S > window->newest_s / TREND_SLICE_S;
}

static enum status window_visit(void *context, const struct event *event, uint64_t position,
                                size_t size)
{
    (void)size;
    struct window *window = context;
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
        status = STATUS_MORE;
    } else {
        window->contradiction = position;
    }
    return status;
}

static uint32_t time_before(uint32_t time_s, uint32_t span_s)
{
    return time_s > span_s ? time_s - span_s : 0;
}

enum status window_read(struct window *window, uint64_t limit, char *problem, size_t size)
{
    ASSERT(fold_events(window->fold) == 0);
    window->more = false;
    enum status status =
        journal_cursor_read(window->cursor, limit, window_visit, window, problem, size);
    if (window->contradiction != UINT64_MAX) {
        snprintf(problem, size,
                 "the event at position %" PRIu64 " of the journal contradicts those before it",
                 window->contradiction);
        status = STATUS_DAMAGED;
    }
    if (status != STATUS_OK) {
        fold_clear(window->fold);
        return status;
    }
    fold_take(window->fold, journal_cursor_position(window->cursor), &window->changes);
    window->changes.newest_s = window->newest_s;
    window->changes.item.token_horizon_s = time_before(window->newest_s, window->token_ttl_s);
    window->changes.user.cleared_horizon_s = time_before(window->newest_s, window->changes_ttl_s);
    if (window->changes.user.cleared_horizon_s < window->import_s)
        window->changes.user.cleared_horizon_s = window->import_s;
    return STATUS_OK;
}

static enum status peek_visit(void *context, const struct event *event, uint64_t position,
                              size_t size)
{
    (void)position;
    (void)size;
    *(uint32_t *)context = event->time_s;
    return STATUS_MORE; /* it is not taken */
}

/* What is wrong with the journal is met again, and told, by whoever reads it. */
uint32_t window_peek(struct window *window, uint64_t limit)
{
    char problem[256];
    uint32_t next_s = 0;
    if (journal_cursor_position(window->cursor) < limit)
        (void)journal_cursor_read(window->cursor, limit, peek_visit, &next_s, problem,
                                  sizeof problem);
    return next_s;
}

size_t window_events(const struct window *window)
{
    return fold_events(window->fold);
}

void window_clear(struct window *window)
{
    fold_clear(window->fold);
    window->changes = (struct store_changes){0};
}

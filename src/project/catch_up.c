/*
 * The filters are updated with the same events as when the store was changed. What the first event
 * on a reaction says about the store was true at that time, so the result is correct although the
 * store is already further.
 */
#include "project/catch_up.h"

#include <stdio.h>

#include "base/assert.h"

struct target {
    struct store_applier *applier; /* NULL: it has these events already */
    struct filters *filters;       /* NULL: there are none */
    struct trends *trends;         /* NULL: there are none */
    uint32_t now_s;
};

static enum status apply_to_store(struct store_applier *applier, struct window *window,
                                  char *problem, size_t size)
{
    char why[256] = "";
    enum status status = window_make_rows(window, why, sizeof why);
    if (status == STATUS_OK)
        status = store_apply(applier, &window->changes);
    if (status != STATUS_OK)
        snprintf(problem, size, "events could not be written to the store: %s",
                 why[0] != '\0' ? why : status_sentence(status));
    return status;
}

static enum status target_apply(const struct target *target, struct window *window, char *problem,
                                size_t size)
{
    const struct store_changes *changes = &window->changes;
    enum status status = STATUS_OK;
    if (target->filters != NULL)
        filters_before(target->filters, changes);
    if (target->applier != NULL)
        status = apply_to_store(target->applier, window, problem, size);
    if (status != STATUS_OK)
        return status;
    if (target->filters != NULL)
        filters_after(target->filters, changes);
    if (target->trends != NULL)
        trends_apply(target->trends, changes, window->newest_s, target->now_s);
    return STATUS_OK;
}

static enum status windows_apply(const struct catch_up *how, const struct target *target,
                                 struct window *window, uint64_t to, char *problem, size_t size)
{
    enum status status = STATUS_OK;
    while (status == STATUS_OK && window->position < to) {
        uint64_t before = window->position;
        status = window_read(window, to, problem, size);
        if (status != STATUS_OK)
            break;
        uint64_t reached = window->changes.position;
        if (reached == before) {
            snprintf(problem, size, "the journal ends before position %llu",
                     (unsigned long long)to);
            return STATUS_DAMAGED;
        }
        ASSERT(reached > before && reached <= to);
        status = target_apply(target, window, problem, size);
        window_clear(window);
        if (status == STATUS_OK && how->progress != NULL &&
            !how->progress(how->context, reached, to))
            status = STATUS_STOPPING;
    }
    return status;
}

static enum status catch_up(const struct catch_up *how, struct store_applier *applier,
                            struct filters *filters, uint64_t from, uint64_t to, char *problem,
                            size_t size)
{
    if (from >= to)
        return STATUS_OK;
    ASSERT(applier == NULL || store_position(applier) == from);
    struct target target = {.applier = applier, .filters = filters, .now_s = how->now_s};
    if (how->trends != NULL && trends_position(how->trends) == from)
        target.trends = how->trends;
    struct window window;
    enum status status = window_open(&window, &how->window, from, problem, size);
    if (status == STATUS_OK)
        status = windows_apply(how, &target, &window, to, problem, size);
    window_close(&window);
    return status;
}

enum status catch_up_filters(const struct catch_up *how, struct filters *filters, uint64_t from,
                             uint64_t to, char *problem, size_t size)
{
    return catch_up(how, NULL, filters, from, to, problem, size);
}

enum status catch_up_trends(const struct catch_up *how, uint64_t to, char *problem, size_t size)
{
    return catch_up(how, NULL, NULL, trends_position(how->trends), to, problem, size);
}

enum status catch_up_store(const struct catch_up *how, struct store_applier *applier,
                           struct filters *filters, uint64_t to, char *problem, size_t size)
{
    return catch_up(how, applier, filters, store_position(applier), to, problem, size);
}

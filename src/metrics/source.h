/*
 * The sources of metrics. A source is one function that fills numbers and texts of one section. Each
 * module with metrics adds its sources to the list of the server, so that no other module has to
 * include it: net/ adds its own sources, cli/ adds those of the shape that it has started.
 *
 * Only the sources of a section that was asked for are called, so one section of INFO costs less than
 * all of them. Several sources may fill one section, each its own numbers. A section without any
 * source is absent: INFO shows that it is absent, and METRICS omits it.
 *
 * The list is filled before the server starts, and is only read after that. Any thread that writes
 * INFO or METRICS calls the sources, and several threads may do so at once. The context of a source
 * belongs to the caller of metrics_sources_add, and must exist for as long as the list is used.
 */
#ifndef LAUD_METRICS_SOURCE_H
#define LAUD_METRICS_SOURCE_H

#include <stddef.h>

#include "metrics/metrics.h"

#define METRICS_SOURCES_MAX 24

/* Fills its numbers and texts. The texts must outlive `out`. */
typedef void metrics_collect_fn(void *context, struct metrics *out);

struct metrics_source {
    enum metrics_section section;
    metrics_collect_fn *collect;
    void *context;
};

struct metrics_sources {
    struct metrics_source list[METRICS_SOURCES_MAX];
    size_t count;
};

void metrics_sources_add(struct metrics_sources *sources, enum metrics_section section,
                         metrics_collect_fn *collect, void *context);

/* Makes all sections absent, all numbers 0 and all texts empty: the state before metrics_collect. */
void metrics_clear(struct metrics *out);

/* Calls the sources of one section. It must be called at most once for each section. */
void metrics_collect(const struct metrics_sources *sources, enum metrics_section section,
                     struct metrics *out);

#endif

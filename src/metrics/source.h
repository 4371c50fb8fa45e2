/*
 * Where metrics come from. A source is one function that fills numbers and texts of one section. Each
 * module that has something to tell adds its sources to the list of the server, and nobody else has to
 * know the module for that: net/ adds its own, cli/ adds those of the shape that it has started.
 *
 * Only the sources of a section that somebody asked for are called, so that one section of INFO does
 * not cost what all of them cost. Several sources may fill one section, each its own numbers. A section
 * without any source is absent: INFO shows that there is none, and METRICS omits it.
 *
 * The list is filled before the server starts, and is only read after that. A source is called by any
 * thread that writes INFO or METRICS, also by several at once. Its context belongs to whoever added it,
 * and must live for as long as the list is used.
 */
#ifndef LAUD_METRICS_SOURCE_H
#define LAUD_METRICS_SOURCE_H

#include <stddef.h>

#include "metrics/metrics.h"

#define METRICS_SOURCES_MAX 24

/* Fills what it knows of the section. The texts that it sets must outlive `out`. */
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

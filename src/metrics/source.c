#include "metrics/source.h"

#include <string.h>

#include "base/assert.h"

void metrics_sources_add(struct metrics_sources *sources, enum metrics_section section,
                         metrics_collect_fn *collect, void *context)
{
    ASSERT(sources->count < METRICS_SOURCES_MAX);
    ASSERT(section < METRICS_SECTIONS);
    ASSERT(collect != NULL);
    sources->list[sources->count++] =
        (struct metrics_source){.section = section, .collect = collect, .context = context};
}

void metrics_clear(struct metrics *out)
{
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < METRICS_SECTIONS; i++)
        out->absent[i] = true;
    for (size_t i = 0; i < METRICS_TEXTS; i++)
        out->texts[i] = "";
}

void metrics_collect(const struct metrics_sources *sources, enum metrics_section section,
                     struct metrics *out)
{
    ASSERT(section < METRICS_SECTIONS);
    ASSERT(out->absent[section]); /* sources add to sums, so no source may run twice */
    for (size_t i = 0; i < sources->count; i++) {
        if (sources->list[i].section != section)
            continue;
        sources->list[i].collect(sources->list[i].context, out);
        out->absent[section] = false;
    }
}

/*
 * The metrics of the embedded shape: the journal, the clock, the hot tier with its boards, the
 * projector, the store, the filters and the windowed boards. Each module is one section of INFO. If
 * the server runs without a module, its section is absent.
 */
#ifndef LAUD_CLI_EMBEDDED_METRICS_H
#define LAUD_CLI_EMBEDDED_METRICS_H

#include <stdint.h>

#include "base/names.h"
#include "base/options.h"
#include "filter/filters.h"
#include "hot/hot.h"
#include "journal/log.h"
#include "metrics/source.h"
#include "project/projector.h"
#include "store/store.h"
#include "time/timeline.h"
#include "trend/trends.h"

/* The modules that the metrics are about. The caller owns them and this struct. */
struct embedded_metrics {
    const struct options *options;
    const struct names *names;
    struct hot *hot;
    struct journal *journal;
    struct timeline *timeline;   /* NULL: recorded times are those of the clock */
    struct projector *projector; /* NULL without a store, like the next two */
    struct store_admin *store;
    struct filters *filters;
    struct trends *trends; /* NULL: there are no windowed boards */
};

/* Adds the sources. `metrics` and everything that it points to must outlive the list of sources. */
void embedded_metrics_add(struct embedded_metrics *metrics, struct metrics_sources *sources);

#endif

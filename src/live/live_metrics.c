/* The section "Live" of INFO: sums over all I/O threads, each of which has its own counters. */
#include "live/live.h"
#include "metrics/source.h"
#include "net/loop.h"

static void collect_live(void *context, struct metrics *out)
{
    struct server *server = context;
    out->numbers[NUMBER_LIVE_STREAMS] = atomic_load(&server->streams);
    out->numbers[NUMBER_LIVE_STREAMS_MAX] = server->parts.options->live_streams;
    for (unsigned i = 0; i < server->loop_count; i++) {
        const struct loop_stats *stats = &server->loops[i].stats;
        out->numbers[NUMBER_LIVE_ITEMS] += atomic_load(&stats->live_items);
        out->numbers[NUMBER_LIVE_EVENTS] += atomic_load(&stats->live_events);
        out->numbers[NUMBER_LIVE_COALESCED] += atomic_load(&stats->live_coalesced);
        out->numbers[NUMBER_LIVE_STALLED] += atomic_load(&stats->live_stalled);
    }
}

void live_metrics_add(struct server *server, struct metrics_sources *sources)
{
    metrics_sources_add(sources, METRICS_LIVE, collect_live, server);
}

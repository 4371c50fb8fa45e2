/*
 * Each function fills one section of metrics.def from one module. If the server runs without a module,
 * no source is added for it, so that its section is absent.
 */
#include "cli/embedded_metrics.h"

static void collect_shape(void *context, struct metrics *out)
{
    (void)context;
    out->texts[TEXT_SHAPE] = "embedded";
}

static void collect_journal(void *context, struct metrics *out)
{
    struct embedded_metrics *metrics = context;
    static const char *const durabilities[] = {"commit", "interval", "none"};
    struct journal_stats stats;
    journal_stats(metrics->journal, &stats);
    out->texts[TEXT_DURABILITY] = durabilities[metrics->options->durability];
    out->texts[TEXT_JOURNAL_STATE] = stats.state == STATUS_OK ? "ok" : status_name(stats.state);
    out->texts[TEXT_READ_ONLY_REASON] = stats.reason;
    out->numbers[NUMBER_READ_ONLY] = stats.state != STATUS_OK;
    out->numbers[NUMBER_APPENDED] = stats.appended;
    out->numbers[NUMBER_WRITTEN] = stats.written;
    out->numbers[NUMBER_DURABLE] = stats.durable;
    out->numbers[NUMBER_JOURNAL_EVENTS] = stats.events;
    out->numbers[NUMBER_BATCHES] = stats.batches;
    out->numbers[NUMBER_SYNCS] = stats.syncs;
    out->numbers[NUMBER_SYNC_TIME] = stats.sync_ns;
    out->numbers[NUMBER_JOURNAL_BYTES] = stats.bytes;
    out->numbers[NUMBER_SEGMENTS] = stats.segments;
    out->numbers[NUMBER_FIRST] = stats.first;
    out->batch_events = stats.batch_events;
    out->sync_times = stats.sync_times;
}

static void collect_clock(void *context, struct metrics *out)
{
    struct embedded_metrics *metrics = context;
    struct timeline_stats stats;
    timeline_stats(metrics->timeline, &stats);
    out->texts[TEXT_CLOCK_STATE] = stats.state == STATUS_OK ? "ok" : status_sentence(stats.state);
    out->numbers[NUMBER_CLOCK_OK] = stats.state == STATUS_OK;
    out->numbers[NUMBER_CLOCK_OFFSET] = stats.offset_s;
    out->numbers[NUMBER_CLOCK_SPANS] = stats.spans;
}

static void collect_hot(void *context, struct metrics *out)
{
    struct embedded_metrics *metrics = context;
    struct hot_stats stats;
    hot_collect(metrics->hot, &stats);
    out->numbers[NUMBER_HOT_USERS] = stats.users;
    out->numbers[NUMBER_HOT_SHELVES] = stats.shelves;
    out->numbers[NUMBER_HOT_REACTIONS] = stats.reactions;
    out->numbers[NUMBER_HOT_ITEMS] = stats.items;
    out->numbers[NUMBER_HOT_TOKENS] = stats.tokens;
    out->numbers[NUMBER_HOT_CLEARED] = stats.cleared;
    out->numbers[NUMBER_ITEM_LOADS] = stats.item_loads;
    out->numbers[NUMBER_REACTION_LOADS] = stats.reaction_loads;
    out->numbers[NUMBER_SHARED_LOADS] = stats.shared_loads;
    out->numbers[NUMBER_EVICTED_USERS] = stats.evicted_users;
    out->numbers[NUMBER_EVICTED_ITEMS] = stats.evicted_items;
    out->numbers[NUMBER_EXPIRED_ITEMS] = stats.expired_items;
    out->numbers[NUMBER_EMPTIED_PAGES] = stats.emptied_pages;
    out->numbers[NUMBER_TYPES] = names_type_count(metrics->names);
    out->numbers[NUMBER_NAMES] = names_count(metrics->names);
    out->numbers[NUMBER_FILTER_NO] = stats.filter_no;
    out->numbers[NUMBER_FILTER_HIT] = stats.filter_hit;
    out->numbers[NUMBER_FILTER_MISS] = stats.filter_miss;
}

static void collect_boards(void *context, struct metrics *out)
{
    struct embedded_metrics *metrics = context;
    struct hot_stats stats;
    hot_collect(metrics->hot, &stats);
    out->texts[TEXT_BOARDS_STATE] = hot_boards_state_text(stats.boards_state);
    out->numbers[NUMBER_BOARDS] = stats.boards;
    out->numbers[NUMBER_BOARDS_OFF] = stats.boards_off;
    out->numbers[NUMBER_BOARDS_FULL] = stats.boards_full;
    out->numbers[NUMBER_BOARD_ENTRIES] = stats.board_entries;
    out->numbers[NUMBER_BOARD_BYTES] = stats.board_bytes;
    out->numbers[NUMBER_BOARD_BYTES_MAX] = stats.board_bytes_max;
    out->numbers[NUMBER_BOARD_FILLS] = stats.board_fills;
}

static void collect_projector(void *context, struct metrics *out)
{
    struct embedded_metrics *metrics = context;
    struct projector_stats stats;
    struct hot_stats hot;
    projector_stats(metrics->projector, &stats);
    hot_collect(metrics->hot, &hot);
    out->texts[TEXT_PROJECTOR_STATE] = stats.sentence;
    out->numbers[NUMBER_PROJECTOR_OK] = stats.state == PROJECTOR_OK;
    out->numbers[NUMBER_PROJECTED] = stats.position;
    out->numbers[NUMBER_CHECKPOINT] = stats.checkpoint;
    out->numbers[NUMBER_LAG_BYTES] = stats.lag_bytes;
    out->numbers[NUMBER_LAG_EVENTS] = stats.lag_events;
    out->numbers[NUMBER_LAG_TIME] = stats.lag_ms;
    out->numbers[NUMBER_LAG_SLOW] = hot.lag_slow;
    out->numbers[NUMBER_LAG_MAX] = hot.lag_max;
    out->numbers[NUMBER_WINDOWS] = stats.windows;
    out->numbers[NUMBER_PROJECTOR_EVENTS] = stats.events;
    out->numbers[NUMBER_CHANGES] = stats.changes;
    out->numbers[NUMBER_CHECKPOINTS] = stats.checkpoints;
}

static void collect_store(void *context, struct metrics *out)
{
    struct embedded_metrics *metrics = context;
    struct store_stats stats;
    store_stats(metrics->store, &stats);
    out->texts[TEXT_STORE_NAME] = metrics->store->functions->name;
    out->texts[TEXT_STORE_STATE] = store_state_text(stats.state);
    out->numbers[NUMBER_STORE_OK] = stats.state == STORE_OK;
    out->numbers[NUMBER_STORE_POSITION] = stats.position;
    out->numbers[NUMBER_STORE_DURABLE] = stats.durable;
    out->numbers[NUMBER_STORE_REACTIONS] = stats.reactions;
    out->numbers[NUMBER_STORE_DISK] = stats.disk_bytes;
    out->numbers[NUMBER_STORE_MEMORY] = stats.memory_bytes;
    out->numbers[NUMBER_STORE_MERGES] = stats.merges;
}

static void collect_filter(void *context, struct metrics *out)
{
    struct embedded_metrics *metrics = context;
    struct filter_stats live, known;
    struct filters_move_stats moving;
    filters_stats(metrics->filters, &live, &known);
    filters_move_stats(metrics->filters, &moving);
    out->numbers[NUMBER_LIVE_KEYS] = live.keys;
    out->numbers[NUMBER_LIVE_SLOTS] = live.slots;
    out->numbers[NUMBER_LIVE_BYTES] = live.bytes;
    out->numbers[NUMBER_LIVE_OPEN] = live.open;
    out->numbers[NUMBER_LIVE_SEGMENTS] = live.segments;
    out->numbers[NUMBER_KNOWN_KEYS] = known.keys;
    out->numbers[NUMBER_KNOWN_SLOTS] = known.slots;
    out->numbers[NUMBER_KNOWN_BYTES] = known.bytes;
    out->numbers[NUMBER_KNOWN_OPEN] = known.open;
    out->numbers[NUMBER_KNOWN_SEGMENTS] = known.segments;
    out->numbers[NUMBER_FILTER_MOVES] = moving.moves;
    out->numbers[NUMBER_FILTER_MOVING_BYTES] = moving.bytes;
    out->numbers[NUMBER_FILTER_MOVING_PERCENT] = (uint64_t)moving.part * 100 / STORE_PARTITIONS;
    collect_hot(metrics, out); /* the hot tier counts what the filters answered */
}

static void collect_trends(void *context, struct metrics *out)
{
    struct embedded_metrics *metrics = context;
    struct trend_stats stats;
    trends_stats(metrics->trends, &stats);
    out->numbers[NUMBER_TREND_POSITION] = stats.position;
    struct timeline *timeline = metrics->timeline;
    out->numbers[NUMBER_TREND_SINCE] =
        timeline != NULL ? timeline_shown(timeline, stats.since_s) : stats.since_s;
    out->numbers[NUMBER_TREND_BOARDS] = stats.boards;
    out->numbers[NUMBER_TREND_REFUSED] = stats.refused;
    out->numbers[NUMBER_TREND_ITEMS] = stats.items;
    out->numbers[NUMBER_TREND_BYTES] = stats.bytes;
    out->numbers[NUMBER_TREND_BYTES_MAX] = stats.bytes_max;
    out->numbers[NUMBER_TREND_PRUNED] = stats.pruned;
    out->numbers[NUMBER_TREND_ERROR] = stats.error_max;
    out->numbers[NUMBER_TREND_EXACT] = stats.exact;
    out->texts[TEXT_TREND_EXACT] = stats.exact ? "yes" : "no";
}

void embedded_metrics_add(struct embedded_metrics *metrics, struct metrics_sources *sources)
{
    const struct {
        const void *module; /* NULL: the server runs without it */
        enum metrics_section section;
        metrics_collect_fn *collect;
    } all[] = {
        {metrics, METRICS_SERVER, collect_shape},
        {metrics->journal, METRICS_JOURNAL, collect_journal},
        {metrics->timeline, METRICS_CLOCK, collect_clock},
        {metrics->hot, METRICS_HOT, collect_hot},
        {metrics->hot, METRICS_BOARDS, collect_boards},
        {metrics->projector, METRICS_PROJECTOR, collect_projector},
        {metrics->store, METRICS_STORE, collect_store},
        {metrics->filters, METRICS_FILTER, collect_filter},
        {metrics->trends, METRICS_TRENDS, collect_trends},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i].module != NULL)
            metrics_sources_add(sources, all[i].section, all[i].collect, metrics);
}

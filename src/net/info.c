/*
 * Where each number of metrics.def comes from. Only the parts that are asked for are looked at: a
 * section of INFO does not cost what all of them do.
 */
#include "net/info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "filter/filters.h"
#include "metrics/metrics.h"
#include "net/loop.h"
#include "trend/trends.h"

typedef void collect_fn(struct server *server, struct metrics *out);

static void collect_server(struct server *server, struct metrics *out)
{
    out->texts[TEXT_VERSION] = LAUD_VERSION;
    out->texts[TEXT_SHAPE] = "embedded";
    out->numbers[NUMBER_PROCESS] = (uint64_t)getpid();
    out->numbers[NUMBER_PORT] = server->resp_port;
    out->numbers[NUMBER_HTTP_PORT] = server->http_port;
    out->numbers[NUMBER_IO_THREADS] = server->loop_count;
    out->numbers[NUMBER_WORKERS] = server->work.count;
    out->numbers[NUMBER_UPTIME] = (clock_monotonic_ns() - server->started_ns) / 1000000000;
}

static void collect_clients(struct server *server, struct metrics *out)
{
    out->numbers[NUMBER_CONNECTIONS] = atomic_load(&server->connections);
    out->numbers[NUMBER_CONNECTIONS_MAX] = server->parts.options->max_connections;
}

uint64_t info_resident_bytes(void)
{
    char line[128]; /* pages: all, resident, … */
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL)
        return 0;
    const char *resident = fgets(line, sizeof line, file) ? strchr(line, ' ') : NULL;
    fclose(file);
    return resident ? strtoull(resident, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

static void collect_memory(struct server *server, struct metrics *out)
{
    const struct options *options = server->parts.options;
    struct memory_budget *budget = server->parts.budget;
    out->numbers[NUMBER_MEMORY_USED] = memory_used(budget);
    out->numbers[NUMBER_MEMORY_RESIDENT] = info_resident_bytes();
    out->numbers[NUMBER_MEMORY_BUDGET] = budget->limit;
    out->numbers[NUMBER_MEMORY_MAX] = options->max_memory ? options->max_memory : budget->limit;
}

static void collect_journal(struct server *server, struct metrics *out)
{
    static const char *const durabilities[] = {"commit", "interval", "none"};
    struct journal_stats stats;
    journal_stats(server->parts.journal, &stats);
    out->texts[TEXT_DURABILITY] = durabilities[server->parts.options->durability];
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

static void collect_clock(struct server *server, struct metrics *out)
{
    struct timeline_stats stats;
    out->absent[METRICS_CLOCK] = server->parts.timeline == NULL;
    if (server->parts.timeline == NULL)
        return;
    timeline_stats(server->parts.timeline, &stats);
    out->texts[TEXT_CLOCK_STATE] = stats.state == STATUS_OK ? "ok" : status_sentence(stats.state);
    out->numbers[NUMBER_CLOCK_OK] = stats.state == STATUS_OK;
    out->numbers[NUMBER_CLOCK_OFFSET] = stats.offset_s;
    out->numbers[NUMBER_CLOCK_SPANS] = stats.spans;
}

static void add_loop(const struct loop *loop, struct metrics *out)
{
    const struct loop_stats *stats = &loop->stats;
    const struct {
        enum metrics_number number;
        const _Atomic uint64_t *counter;
    } sums[] = {
        {NUMBER_ACCEPTED, &stats->accepted}, {NUMBER_REFUSED, &stats->refused},
        {NUMBER_COMMANDS, &stats->commands}, {NUMBER_ERRORS, &stats->errors},
        {NUMBER_RECEIVED, &stats->bytes_in}, {NUMBER_SENT, &stats->bytes_out},
        {NUMBER_JOBS, &stats->jobs},         {NUMBER_JOBS_REFUSED, &stats->jobs_refused},
    };
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++)
        out->numbers[sums[i].number] += atomic_load_explicit(sums[i].counter, memory_order_relaxed);
    meter_read(&loop->watch.meter, &out->meter);
}

static void collect_stats(struct server *server, struct metrics *out)
{
    uint64_t ran = 0;
    for (unsigned i = 0; i < server->loop_count; i++)
        add_loop(&server->loops[i], out);
    for (size_t i = 0; i < op_count(); i++)
        ran += buckets_count(&out->meter.operations[i].times);
    uint64_t by_worker = out->meter.by_worker;
    out->numbers[NUMBER_BY_WORKER] = by_worker;
    out->numbers[NUMBER_BY_MEMORY] = ran > by_worker ? ran - by_worker : 0;
    out->numbers[NUMBER_JOBS_WAITING] = work_waiting(&server->work);
    out->numbers[NUMBER_SLOW] = slowlog_total(&server->slowlog);
    out->numbers[NUMBER_LOG_SUPPRESSED] = log_suppressed();
    out->operation_count = (uint32_t)server->commands.count;
    for (uint32_t i = 0; i < out->operation_count; i++)
        out->operations[i] = server->commands.list[i].name;
}

static void collect_hot(struct server *server, struct metrics *out)
{
    struct hot_stats stats;
    hot_stats(server->parts.hot, &stats);
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
    out->numbers[NUMBER_TYPES] = names_type_count(server->parts.names);
    out->numbers[NUMBER_NAMES] = names_count(server->parts.names);
    out->numbers[NUMBER_FILTER_NO] = stats.filter_no;
    out->numbers[NUMBER_FILTER_HIT] = stats.filter_hit;
    out->numbers[NUMBER_FILTER_MISS] = stats.filter_miss;
}

static void collect_boards(struct server *server, struct metrics *out)
{
    struct hot_stats stats;
    hot_stats(server->parts.hot, &stats);
    out->texts[TEXT_BOARDS_STATE] = hot_boards_state_text(stats.boards_state);
    out->numbers[NUMBER_BOARDS] = stats.boards;
    out->numbers[NUMBER_BOARDS_OFF] = stats.boards_off;
    out->numbers[NUMBER_BOARDS_FULL] = stats.boards_full;
    out->numbers[NUMBER_BOARD_ENTRIES] = stats.board_entries;
    out->numbers[NUMBER_BOARD_BYTES] = stats.board_bytes;
    out->numbers[NUMBER_BOARD_BYTES_MAX] = stats.board_bytes_max;
    out->numbers[NUMBER_BOARD_FILLS] = stats.board_fills;
}

static void collect_projector(struct server *server, struct metrics *out)
{
    struct projector_stats stats;
    out->absent[METRICS_PROJECTOR] = server->parts.projector == NULL;
    if (server->parts.projector == NULL)
        return;
    projector_stats(server->parts.projector, &stats);
    out->texts[TEXT_PROJECTOR_STATE] = stats.sentence;
    out->numbers[NUMBER_PROJECTOR_OK] = stats.state == PROJECTOR_OK;
    out->numbers[NUMBER_PROJECTED] = stats.position;
    out->numbers[NUMBER_CHECKPOINT] = stats.checkpoint;
    out->numbers[NUMBER_LAG_BYTES] = stats.lag_bytes;
    out->numbers[NUMBER_LAG_EVENTS] = stats.lag_events;
    out->numbers[NUMBER_LAG_TIME] = stats.lag_ms;
    out->numbers[NUMBER_LAG_SLOW] = server->guard.lag_slow;
    out->numbers[NUMBER_LAG_MAX] = server->guard.lag_max;
    out->numbers[NUMBER_WINDOWS] = stats.windows;
    out->numbers[NUMBER_PROJECTOR_EVENTS] = stats.events;
    out->numbers[NUMBER_CHANGES] = stats.changes;
    out->numbers[NUMBER_CHECKPOINTS] = stats.checkpoints;
}

static void collect_store(struct server *server, struct metrics *out)
{
    struct store_stats stats;
    out->absent[METRICS_STORE] = server->parts.store == NULL;
    if (server->parts.store == NULL)
        return;
    store_stats(server->parts.store, &stats);
    out->texts[TEXT_STORE_NAME] = server->parts.store->functions->name;
    out->texts[TEXT_STORE_STATE] = store_state_text(stats.state);
    out->numbers[NUMBER_STORE_OK] = stats.state == STORE_OK;
    out->numbers[NUMBER_STORE_POSITION] = stats.position;
    out->numbers[NUMBER_STORE_DURABLE] = stats.durable;
    out->numbers[NUMBER_STORE_REACTIONS] = stats.reactions;
    out->numbers[NUMBER_STORE_DISK] = stats.disk_bytes;
    out->numbers[NUMBER_STORE_MEMORY] = stats.memory_bytes;
    out->numbers[NUMBER_STORE_MERGES] = stats.merges;
}

static void collect_filter(struct server *server, struct metrics *out)
{
    struct filter_stats live, known;
    struct filters_move_stats moving;
    out->absent[METRICS_FILTER] = server->parts.filters == NULL;
    if (server->parts.filters == NULL)
        return;
    filters_stats(server->parts.filters, &live, &known);
    filters_move_stats(server->parts.filters, &moving);
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
    collect_hot(server, out); /* it counts what the filters said */
}

static void collect_trends(struct server *server, struct metrics *out)
{
    struct trend_stats stats;
    out->absent[METRICS_TRENDS] = server->parts.trends == NULL;
    if (server->parts.trends == NULL)
        return;
    trends_stats(server->parts.trends, &stats);
    out->numbers[NUMBER_TREND_POSITION] = stats.position;
    struct timeline *timeline = server->parts.timeline;
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

static void collect_rate(const struct limit_rule *rule, char *out, size_t size)
{
    uint64_t interval_ns = atomic_load_explicit(&rule->interval_ns, memory_order_relaxed);
    uint64_t room_ns = atomic_load_explicit(&rule->room_ns, memory_order_relaxed);
    if (interval_ns == 0)
        snprintf(out, size, "0");
    else
        snprintf(out, size, "%llu/%llu", 1000000000ULL / interval_ns,
                 (unsigned long long)(room_ns / interval_ns));
}

static void collect_limited(const struct loop_stats *stats, struct metrics *out)
{
    static const enum metrics_number refused[LIMIT_BY_TOTAL] = {
        [LIMIT_BY_IP] = NUMBER_LIMITED_IP,
        [LIMIT_BY_USER] = NUMBER_LIMITED_USER,
        [LIMIT_BY_DEVICE] = NUMBER_LIMITED_DEVICE};
    out->numbers[NUMBER_LIMITS_CHECKED] +=
        atomic_load_explicit(&stats->limits_checked, memory_order_relaxed);
    for (unsigned i = 0; i < LIMIT_BY_TOTAL; i++)
        out->numbers[refused[i]] += atomic_load_explicit(&stats->limited[i], memory_order_relaxed);
}

static void collect_limits(struct server *server, struct metrics *out)
{
    struct limits *limits = &server->limits;
    bool on = limits_active(limits) != 0;
    out->texts[TEXT_LIMITS_STATE] = !on ? "off" : atomic_load(&limits->dry_run) ? "dry-run" : "on";
    for (unsigned i = 0; i < 2 * LIMIT_BY_TOTAL; i++) {
        collect_rate(&limits->rules[i / 2][i % 2], out->rates[i], sizeof out->rates[i]);
        out->texts[TEXT_RATE_IP_READ + i] = out->rates[i];
    }
    for (unsigned i = 0; i < server->loop_count; i++)
        collect_limited(&server->loops[i].stats, out);
    out->numbers[NUMBER_LIMIT_CELLS] = on ? limits_cells(limits) : 0;
    out->numbers[NUMBER_LIMIT_CELLS_USED] = atomic_load(&limits->cells_used);
    out->numbers[NUMBER_LIMIT_CELLS_LOST] = atomic_load(&limits->cells_lost);
}

static void collect_live(struct server *server, struct metrics *out)
{
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

/* Where there is no memory for it, nothing is hot. */
static void collect_hotkeys(struct server *server, struct metrics *out)
{
    out->absent[METRICS_HOTKEYS] = server->hotkeys == NULL;
    out->names = server->parts.names;
    if (server->hotkeys != NULL)
        hotkeys_top(server->hotkeys, clock_monotonic_ns(), &out->top);
}

static collect_fn *const collectors[] = {
    [METRICS_SERVER] = collect_server,
    [METRICS_CLIENTS] = collect_clients,
    [METRICS_MEMORY] = collect_memory,
    [METRICS_JOURNAL] = collect_journal,
    [METRICS_CLOCK] = collect_clock,
    [METRICS_STATS] = collect_stats,
    [METRICS_HOT] = collect_hot,
    [METRICS_BOARDS] = collect_boards,
    [METRICS_PROJECTOR] = collect_projector,
    [METRICS_STORE] = collect_store,
    [METRICS_FILTER] = collect_filter,
    [METRICS_TRENDS] = collect_trends,
    [METRICS_LIMITS] = collect_limits,
    [METRICS_LIVE] = collect_live,
    [METRICS_HOTKEYS] = collect_hotkeys,
};

_Static_assert(sizeof collectors / sizeof collectors[0] == METRICS_SECTIONS, "one for each");

static bool wanted(const char *title, const struct text *sections, uint32_t count)
{
    bool any = count == 0;
    for (uint32_t i = 0; i < count; i++)
        any = any || text_is(sections[i], title) || text_is(sections[i], "all") ||
              text_is(sections[i], "everything") || text_is(sections[i], "default");
    return any;
}

bool info_write(struct server *server, const struct text *sections, uint32_t count, bool hotkeys,
                struct buffer *out)
{
    struct metrics metrics = {.operation_count = 0};
    bool written = true;
    for (int i = 0; written && i < METRICS_SECTIONS; i++) {
        if (!wanted(metrics_title((enum metrics_section)i), sections, count) ||
            (i == METRICS_HOTKEYS && !hotkeys))
            continue;
        collectors[i](server, &metrics);
        written = (out->length == 0 || buffer_append(out, "\r\n", 2)) &&
                  metrics_info(&metrics, (enum metrics_section)i, out);
    }
    return written;
}

bool info_metrics(struct server *server, struct buffer *out)
{
    struct metrics metrics = {.operation_count = 0};
    for (int i = 0; i < METRICS_SECTIONS; i++)
        collectors[i](server, &metrics);
    return metrics_write(&metrics, out);
}

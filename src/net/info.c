/*
 * The sources of the sections that net/ fills itself: server, clients, memory, stats, limits and hot
 * keys. All other sections have the sources that were handed in (server_parts.sources).
 */
#include "net/info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "metrics/source.h"
#include "net/loop.h"

static void collect_server(void *context, struct metrics *out)
{
    struct server *server = context;
    out->texts[TEXT_VERSION] = LAUD_VERSION;
    out->numbers[NUMBER_PROCESS] = (uint64_t)getpid();
    out->numbers[NUMBER_PORT] = server->resp_port;
    out->numbers[NUMBER_HTTP_PORT] = server->http_port;
    out->numbers[NUMBER_IO_THREADS] = server->loop_count;
    out->numbers[NUMBER_WORKERS] = server->parts.options->workers;
    out->numbers[NUMBER_UPTIME] = (clock_monotonic_ns() - server->started_ns) / 1000000000;
}

static void collect_clients(void *context, struct metrics *out)
{
    struct server *server = context;
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

static void collect_memory(void *context, struct metrics *out)
{
    struct server *server = context;
    const struct options *options = server->parts.options;
    struct memory_budget *budget = server->parts.budget;
    out->numbers[NUMBER_MEMORY_USED] = memory_used(budget);
    out->numbers[NUMBER_MEMORY_CONNECTIONS] =
        atomic_load_explicit(&budget->connections, memory_order_relaxed);
    out->numbers[NUMBER_MEMORY_RESIDENT] = info_resident_bytes();
    out->numbers[NUMBER_MEMORY_BUDGET] = budget->limit;
    out->numbers[NUMBER_MEMORY_MAX] = options->max_memory ? options->max_memory : budget->limit;
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

static void collect_stats(void *context, struct metrics *out)
{
    struct server *server = context;
    uint64_t ran = 0;
    struct hot_stats stats;
    hot_collect(server->parts.hot, &stats);
    for (unsigned i = 0; i < server->loop_count; i++)
        add_loop(&server->loops[i], out);
    for (size_t i = 0; i < op_count(); i++)
        ran += buckets_count(&out->meter.operations[i].times);
    uint64_t by_worker = out->meter.by_worker;
    out->numbers[NUMBER_BY_WORKER] = by_worker;
    out->numbers[NUMBER_BY_MEMORY] = ran > by_worker ? ran - by_worker : 0;
    out->numbers[NUMBER_JOBS_WAITING] = stats.waiting;
    out->numbers[NUMBER_SLOW] = slowlog_total(&server->slowlog);
    out->numbers[NUMBER_LOG_SUPPRESSED] = log_suppressed();
    out->operation_count = (uint32_t)server->commands.count;
    for (uint32_t i = 0; i < out->operation_count; i++)
        out->operations[i] = server->commands.list[i].name;
}

static void collect_rate(const struct limits *limits, enum limit_by by, bool writes,
                         char out[METRICS_RATE])
{
    const struct limit_rule *rule = &limits->rules[by][writes];
    uint64_t interval_ns = atomic_load_explicit(&rule->interval_ns, memory_order_relaxed);
    uint64_t room_ns = atomic_load_explicit(&rule->room_ns, memory_order_relaxed);
    if (interval_ns == 0)
        snprintf(out, METRICS_RATE, "0");
    else
        snprintf(out, METRICS_RATE, "%llu/%llu",
                 (unsigned long long)(limit_period_ns(by) / interval_ns),
                 (unsigned long long)(room_ns / interval_ns));
}

static void collect_limited(const struct loop_stats *stats, struct metrics *out)
{
    static const enum metrics_number refused[LIMIT_BY_TOTAL] = {
        [LIMIT_BY_IP] = NUMBER_LIMITED_IP,
        [LIMIT_BY_USER] = NUMBER_LIMITED_USER,
        [LIMIT_BY_DEVICE] = NUMBER_LIMITED_DEVICE,
        [LIMIT_BY_COMMENT] = NUMBER_LIMITED_COMMENT};
    out->numbers[NUMBER_LIMITS_CHECKED] +=
        atomic_load_explicit(&stats->limits_checked, memory_order_relaxed);
    for (unsigned i = 0; i < LIMIT_BY_TOTAL; i++)
        out->numbers[refused[i]] += atomic_load_explicit(&stats->limited[i], memory_order_relaxed);
}

static void collect_limits(void *context, struct metrics *out)
{
    struct server *server = context;
    struct limits *limits = &server->limits;
    bool on = limits_active(limits) != 0;
    out->texts[TEXT_LIMITS_STATE] = !on ? "off" : atomic_load(&limits->dry_run) ? "dry-run" : "on";
    for (unsigned i = 0; i < 2 * LIMIT_BY_COMMENT; i++) {
        collect_rate(limits, (enum limit_by)(i / 2), i % 2, out->rates[i]);
        out->texts[TEXT_RATE_IP_READ + i] = out->rates[i];
    }
    collect_rate(limits, LIMIT_BY_COMMENT, true, out->rates[2 * LIMIT_BY_COMMENT]);
    out->texts[TEXT_RATE_USER_COMMENT] = out->rates[2 * LIMIT_BY_COMMENT];
    for (unsigned i = 0; i < server->loop_count; i++)
        collect_limited(&server->loops[i].stats, out);
    out->numbers[NUMBER_LIMIT_CELLS] = on ? limits_cells(limits) : 0;
    out->numbers[NUMBER_LIMIT_CELLS_USED] = atomic_load(&limits->cells_used);
    out->numbers[NUMBER_LIMIT_CELLS_LOST] = atomic_load(&limits->cells_lost);
}

static void collect_hotkeys(void *context, struct metrics *out)
{
    struct server *server = context;
    out->names = server->parts.names;
    hotkeys_top(server->hotkeys, clock_monotonic_ns(), &out->top);
}

void info_add_sources(struct server *server)
{
    struct metrics_sources *sources = &server->parts.sources;
    metrics_sources_add(sources, METRICS_SERVER, collect_server, server);
    metrics_sources_add(sources, METRICS_CLIENTS, collect_clients, server);
    metrics_sources_add(sources, METRICS_MEMORY, collect_memory, server);
    metrics_sources_add(sources, METRICS_STATS, collect_stats, server);
    metrics_sources_add(sources, METRICS_LIMITS, collect_limits, server);
    if (server->hotkeys != NULL) /* where there was no memory for them, the section is absent */
        metrics_sources_add(sources, METRICS_HOTKEYS, collect_hotkeys, server);
}

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
    struct metrics metrics;
    metrics_clear(&metrics);
    bool written = true;
    for (int i = 0; written && i < METRICS_SECTIONS; i++) {
        if (!wanted(metrics_title((enum metrics_section)i), sections, count) ||
            (i == METRICS_HOTKEYS && !hotkeys))
            continue;
        metrics_collect(&server->parts.sources, (enum metrics_section)i, &metrics);
        written = (out->length == 0 || buffer_append(out, "\r\n", 2)) &&
                  metrics_info(&metrics, (enum metrics_section)i, out);
    }
    return written;
}

void info_collect(struct server *server, bool hotkeys, struct metrics *out)
{
    metrics_clear(out);
    for (int i = 0; i < METRICS_SECTIONS; i++) {
        if (i != METRICS_HOTKEYS || hotkeys)
            metrics_collect(&server->parts.sources, (enum metrics_section)i, out);
    }
}

bool info_metrics(struct server *server, struct buffer *out)
{
    struct metrics metrics;
    info_collect(server, true, &metrics);
    return metrics_write(&metrics, out);
}

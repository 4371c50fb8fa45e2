#include "net/info.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "filter/filters.h"
#include "net/loop.h"

typedef bool section_fn(struct server *server, struct buffer *out);

static bool line(struct buffer *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool line(struct buffer *out, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0)
        return false;
    size_t kept = (size_t)length < sizeof text ? (size_t)length : sizeof text - 1;
    return buffer_append(out, text, kept) && buffer_append(out, "\r\n", 2);
}

static bool number(struct buffer *out, const char *name, uint64_t value)
{
    return line(out, "%s:%llu", name, (unsigned long long)value);
}

static bool write_server(struct server *server, struct buffer *out)
{
    uint64_t up_ms = clock_wall_ms() - server->started_ms;
    return line(out, "laud_version:%s", LAUD_VERSION) && line(out, "shape:embedded") &&
           number(out, "process_id", (uint64_t)getpid()) &&
           number(out, "tcp_port", server->resp_port) &&
           number(out, "http_port", server->http_port) &&
           number(out, "io_threads", server->loop_count) &&
           number(out, "workers", server->work.count) &&
           number(out, "uptime_in_seconds", up_ms / 1000);
}

static bool write_clients(struct server *server, struct buffer *out)
{
    return number(out, "connected_clients", atomic_load(&server->connections)) &&
           number(out, "maxclients", server->parts.options->max_connections);
}

static bool write_memory(struct server *server, struct buffer *out)
{
    return number(out, "used_memory", memory_used(server->parts.budget)) &&
           number(out, "memory_budget", server->parts.budget->limit) &&
           number(out, "maxmemory",
                  server->parts.options->max_memory ? server->parts.options->max_memory
                                                    : server->parts.budget->limit);
}

static bool write_journal(struct server *server, struct buffer *out)
{
    const char *name;
    char durability[OPTION_TEXT_MAX];
    struct journal_stats stats;
    options_get(server->parts.options, OPTIONS_INDEX_durability, &name, durability);
    journal_stats(server->parts.journal, &stats);
    return number(out, "loading", 0) && line(out, "durability:%s", durability) &&
           line(out, "state:%s", stats.state == STATUS_OK ? "ok" : status_name(stats.state)) &&
           number(out, "read_only", stats.state != STATUS_OK) &&
           line(out, "read_only_reason:%s", stats.reason) &&
           number(out, "appended_position", stats.appended) &&
           number(out, "written_position", stats.written) &&
           number(out, "durable_position", stats.durable) && number(out, "events", stats.events) &&
           number(out, "batches", stats.batches) && number(out, "syncs", stats.syncs) &&
           number(out, "sync_microseconds", stats.sync_ns / 1000) &&
           number(out, "journal_bytes", stats.bytes) && number(out, "segments", stats.segments) &&
           number(out, "first_position", stats.first);
}

static bool write_stats(struct server *server, struct buffer *out)
{
    uint64_t commands = 0, errors = 0, accepted = 0, refused = 0, in = 0, sent = 0;
    uint64_t jobs = 0, jobs_refused = 0;
    for (unsigned i = 0; i < server->loop_count; i++) {
        const struct loop_stats *stats = &server->loops[i].stats;
        commands += atomic_load_explicit(&stats->commands, memory_order_relaxed);
        errors += atomic_load_explicit(&stats->errors, memory_order_relaxed);
        accepted += atomic_load_explicit(&stats->accepted, memory_order_relaxed);
        refused += atomic_load_explicit(&stats->refused, memory_order_relaxed);
        in += atomic_load_explicit(&stats->bytes_in, memory_order_relaxed);
        sent += atomic_load_explicit(&stats->bytes_out, memory_order_relaxed);
        jobs += atomic_load_explicit(&stats->jobs, memory_order_relaxed);
        jobs_refused += atomic_load_explicit(&stats->jobs_refused, memory_order_relaxed);
    }
    return number(out, "total_connections_received", accepted) &&
           number(out, "rejected_connections", refused) &&
           number(out, "total_commands_processed", commands) &&
           number(out, "total_error_replies", errors) && number(out, "total_net_input_bytes", in) &&
           number(out, "total_net_output_bytes", sent) && number(out, "total_jobs", jobs) &&
           number(out, "rejected_jobs", jobs_refused) &&
           number(out, "waiting_jobs", work_waiting(&server->work));
}

static bool write_hot(struct server *server, struct buffer *out)
{
    struct hot_stats stats;
    hot_stats(server->parts.hot, &stats);
    return number(out, "users", stats.users) && number(out, "shelves", stats.shelves) &&
           number(out, "shelf_reactions", stats.reactions) && number(out, "items", stats.items) &&
           number(out, "tokens", stats.tokens) && number(out, "cleared", stats.cleared) &&
           number(out, "item_loads", stats.item_loads) &&
           number(out, "reaction_loads", stats.reaction_loads) &&
           number(out, "shared_loads", stats.shared_loads) &&
           number(out, "evicted_users", stats.evicted_users) &&
           number(out, "evicted_items", stats.evicted_items) &&
           number(out, "expired_items", stats.expired_items) &&
           number(out, "emptied_pages", stats.emptied_pages) &&
           number(out, "types", names_type_count(server->parts.names)) &&
           number(out, "names", names_count(server->parts.names));
}

/* Where a part is not there, its section says so. */
static bool write_none(struct buffer *out)
{
    return line(out, "state:none");
}

static bool write_store(struct server *server, struct buffer *out)
{
    struct store_stats stats;
    if (server->parts.store == NULL)
        return write_none(out);
    store_stats(server->parts.store, &stats);
    return line(out, "name:%s", server->parts.store->ops->name) &&
           line(out, "state:%s", stats.state) && number(out, "position", stats.position) &&
           number(out, "durable_position", stats.durable) &&
           number(out, "reactions", stats.reactions) &&
           number(out, "disk_bytes", stats.disk_bytes) &&
           number(out, "memory_bytes", stats.memory_bytes) && number(out, "merges", stats.merges);
}

static bool write_projector(struct server *server, struct buffer *out)
{
    struct projector_stats stats;
    if (server->parts.projector == NULL)
        return write_none(out);
    projector_stats(server->parts.projector, &stats);
    return line(out, "state:%s", stats.state) && number(out, "position", stats.position) &&
           number(out, "checkpoint_position", stats.checkpoint) &&
           number(out, "lag_bytes", stats.lag_bytes) &&
           number(out, "lag_events", stats.lag_events) && number(out, "lag_ms", stats.lag_ms) &&
           number(out, "lag_slow_bytes", server->guard.lag_slow) &&
           number(out, "lag_max_bytes", server->guard.lag_max) &&
           number(out, "windows", stats.windows) && number(out, "events", stats.events) &&
           number(out, "changes", stats.changes) && number(out, "checkpoints", stats.checkpoints);
}

static bool write_one_filter(struct buffer *out, const char *name, const struct filter_stats *stats)
{
    return line(out, "%s_keys:%llu", name, (unsigned long long)stats->keys) &&
           line(out, "%s_slots:%llu", name, (unsigned long long)stats->slots) &&
           line(out, "%s_bytes:%llu", name, (unsigned long long)stats->bytes) &&
           line(out, "%s_open:%d", name, stats->open);
}

static bool write_filter(struct server *server, struct buffer *out)
{
    struct filter_stats live, known;
    if (server->parts.filters == NULL)
        return write_none(out);
    filters_stats(server->parts.filters, &live, &known);
    return write_one_filter(out, "live", &live) && write_one_filter(out, "known", &known);
}

static bool write_rate(struct buffer *out, const char *name, const struct limit_rule *rule)
{
    uint64_t interval_ns = atomic_load_explicit(&rule->interval_ns, memory_order_relaxed);
    uint64_t room_ns = atomic_load_explicit(&rule->room_ns, memory_order_relaxed);
    if (interval_ns == 0)
        return number(out, name, 0);
    return line(out, "%s:%llu/%llu", name, 1000000000ULL / interval_ns,
                (unsigned long long)(room_ns / interval_ns));
}

static bool write_rates(const struct limits *limits, struct buffer *out)
{
    static const char *const names[LIMIT_BY_TOTAL][2] = {
        [LIMIT_BY_IP] = {"ip_read", "ip_write"},
        [LIMIT_BY_USER] = {"user_read", "user_write"},
        [LIMIT_BY_DEVICE] = {"device_read", "device_write"}};
    bool written = true;
    for (unsigned i = 0; i < LIMIT_BY_TOTAL; i++)
        written = written && write_rate(out, names[i][0], &limits->rules[i][0]) &&
                  write_rate(out, names[i][1], &limits->rules[i][1]);
    return written;
}

static bool write_limits(struct server *server, struct buffer *out)
{
    struct limits *limits = &server->limits;
    bool on = limits_active(limits) != 0;
    uint64_t checked = 0, refused[LIMIT_BY_TOTAL] = {0};
    for (unsigned i = 0; i < server->loop_count; i++) {
        const struct loop_stats *stats = &server->loops[i].stats;
        checked += atomic_load_explicit(&stats->limits_checked, memory_order_relaxed);
        for (unsigned by = 0; by < LIMIT_BY_TOTAL; by++)
            refused[by] += atomic_load_explicit(&stats->limited[by], memory_order_relaxed);
    }
    return line(out, "state:%s",
                !on                             ? "off"
                : atomic_load(&limits->dry_run) ? "dry-run"
                                                : "on") &&
           write_rates(limits, out) && number(out, "checked", checked) &&
           number(out, "refused_ip", refused[LIMIT_BY_IP]) &&
           number(out, "refused_user", refused[LIMIT_BY_USER]) &&
           number(out, "refused_device", refused[LIMIT_BY_DEVICE]) &&
           number(out, "cells", on ? limits_cells(limits) : 0) &&
           number(out, "cells_used", atomic_load(&limits->cells_used)) &&
           number(out, "cells_lost", atomic_load(&limits->cells_lost));
}

static const struct {
    const char *title;
    section_fn *write;
} table[] = {
    {"Server", write_server},       {"Clients", write_clients}, {"Memory", write_memory},
    {"Journal", write_journal},     {"Stats", write_stats},     {"Hot", write_hot},
    {"Projector", write_projector}, {"Store", write_store},     {"Filter", write_filter},
    {"Limits", write_limits},
};

static bool wanted(const char *title, const struct text *sections, uint32_t count)
{
    bool any = count == 0;
    for (uint32_t i = 0; i < count; i++)
        any = any || text_is(sections[i], title) || text_is(sections[i], "all") ||
              text_is(sections[i], "everything") || text_is(sections[i], "default");
    return any;
}

bool info_write(struct server *server, const struct text *sections, uint32_t count,
                struct buffer *out)
{
    bool written = true;
    for (size_t i = 0; written && i < sizeof table / sizeof table[0]; i++) {
        if (!wanted(table[i].title, sections, count))
            continue;
        written = (out->length == 0 || buffer_append(out, "\r\n", 2)) &&
                  line(out, "# %s", table[i].title) && table[i].write(server, out);
    }
    return written;
}

#include "http/figures.h"

#include "base/clock.h"
#include "base/decimal.h"
#include "http/answer.h"
#include "net/info.h"

static bool write_number(struct buffer *out, uint64_t number)
{
    char text[DECIMAL_MAX + 1];
    return buffer_append(out, text, (size_t)(decimal_write(text, number) - text));
}

static bool write_member(struct buffer *out, const char *name, uint64_t number)
{
    return answer_write_text(out, name) && write_number(out, number);
}

static bool write_section(struct buffer *out, const struct metrics *metrics,
                          enum metrics_section section)
{
    struct metrics_line line;
    bool written = answer_write_string(out, metrics_title(section)) && answer_write_text(out, ":{");
    for (size_t at = 0; written && metrics_next_line(metrics, section, &at, &line);)
        written = answer_write_text(out, "\"") && answer_write_text(out, line.prefix) &&
                  answer_write_text(out, line.name) && answer_write_text(out, "\":") &&
                  (line.text != NULL ? answer_write_string(out, line.text)
                                     : write_number(out, line.number)) &&
                  answer_write_text(out, ",");
    return written && answer_close_list(out, "},");
}

static bool write_buckets(struct buffer *out, const struct buckets_total *buckets)
{
    bool written = answer_write_text(out, "[");
    for (uint32_t i = 0; written && i < BUCKETS; i++)
        written = write_number(out, buckets->counts[i]) && answer_write_text(out, ",");
    return written && answer_close_list(out, "]");
}

/* An operation that was never called is left out. */
static bool write_operation(struct buffer *out, const struct metrics *metrics, uint32_t index)
{
    const struct buckets_total *times = &metrics->meter.operations[index].times;
    uint64_t refused = metrics->meter.operations[index].refused;
    uint64_t count = buckets_count(times) + refused;
    return count == 0 ||
           (answer_write_text(out, "{\"name\":") &&
            answer_write_string(out, metrics->operations[index]) &&
            write_member(out, ",\"count\":", count) &&
            write_member(out, ",\"errors\":", metrics->meter.operations[index].failed + refused) &&
            answer_write_text(out, ",\"times\":") && write_buckets(out, times) &&
            answer_write_text(out, "},"));
}

static bool write_bounds(struct buffer *out)
{
    bool written = answer_write_text(out, ",\"bounds_ns\":[");
    for (uint32_t i = 0; written && i < BUCKETS_BOUNDED; i++)
        written =
            write_number(out, (uint64_t)1 << (BUCKETS_SHIFT_NS + i)) && answer_write_text(out, ",");
    return written && answer_close_list(out, "]}");
}

enum status figures_write_info(struct loop *loop, struct buffer *out)
{
    struct server *server = loop->server;
    struct metrics metrics;
    info_collect(server, false, &metrics);
    bool written =
        write_member(out,
                     "{\"uptime_ms\":", (clock_monotonic_ns() - server->started_ns) / 1000000) &&
        answer_write_text(out, ",\"sections\":{");
    for (int i = 0; written && i < METRICS_SECTIONS; i++) {
        if (i != METRICS_HOTKEYS)
            written = write_section(out, &metrics, (enum metrics_section)i);
    }
    written = written && answer_close_list(out, "},\"operations\":[");
    for (uint32_t i = 0; written && i < metrics.operation_count; i++)
        written = write_operation(out, &metrics, i);
    written = written && answer_close_list(out, "],\"commit_waits\":") &&
              write_buckets(out, &metrics.meter.waits) && write_bounds(out);
    return written ? STATUS_OK : STATUS_NO_MEMORY;
}

/* Ids and items need no escaping. `names` is NULL for users. */
static bool write_ranks(struct buffer *out, const char *member, const struct hotkeys_rank *ranks,
                        uint32_t count, const struct names *names)
{
    bool written = true;
    for (uint32_t i = 0; written && i < count && i < FIGURES_RANKS; i++) {
        char name[HOTKEYS_TEXT];
        hotkeys_name(&ranks[i], names, name);
        written = answer_write_text(out, member) && answer_write_string(out, name) &&
                  write_member(out, ",\"rate\":", hotkeys_rate(&ranks[i])) &&
                  answer_write_text(out, "},");
    }
    return written;
}

enum status figures_write_hotkeys(struct loop *loop, struct buffer *out)
{
    struct server *server = loop->server;
    struct hotkeys_top top;
    if (!server->parts.options->hotkeys)
        return STATUS_NO_HOTKEYS;
    if (server->hotkeys == NULL ||
        hotkeys_top(server->hotkeys, clock_monotonic_ns(), &top) != STATUS_OK)
        return STATUS_NO_MEMORY;
    bool written = answer_write_text(out, "{\"items\":[") &&
                   write_ranks(out, "{\"item\":", top.items, top.item_count, server->parts.names) &&
                   answer_close_list(out, "],\"users\":[") &&
                   write_ranks(out, "{\"user\":", top.users, top.user_count, NULL) &&
                   answer_close_list(out, "]}");
    return written ? STATUS_OK : STATUS_NO_MEMORY;
}

static bool write_entry(struct buffer *out, const struct slowlog_entry *entry)
{
    bool written = write_member(out, "{\"id\":", entry->id) &&
                   write_member(out, ",\"time\":", entry->time_s) &&
                   write_member(out, ",\"took_us\":", entry->took_us) &&
                   answer_write_text(out, ",\"words\":[");
    for (uint32_t i = 0; written && i < entry->count; i++)
        written = answer_write_string(out, entry->words[i]) && answer_write_text(out, ",");
    return written && answer_close_list(out, "],\"client\":") &&
           answer_write_string(out, entry->client) && answer_write_text(out, ",\"name\":") &&
           answer_write_string(out, entry->name) && answer_write_text(out, "},");
}

enum status figures_write_slowlog(struct loop *loop, struct buffer *out)
{
    struct slowlog_entry entry = {.id = UINT64_MAX};
    bool written = answer_write_text(out, "{\"entries\":[");
    while (written && slowlog_get(&loop->server->slowlog, entry.id, &entry))
        written = write_entry(out, &entry);
    return written && answer_close_list(out, "]}") ? STATUS_OK : STATUS_NO_MEMORY;
}

/*
 * Families are written in the order of the table, each at the row of its first number. The format of
 * Prometheus wants all numbers of a family together, while INFO shows some of them in different
 * sections.
 */
#include "metrics/metrics.h"

#include <inttypes.h>
#include <stdio.h>

#include "metrics/exposition.h"

#define LINE_BYTES 512 /* the longest line of INFO */

enum unit { UNIT_ONE, UNIT_MS, UNIT_NS };

static const struct {
    uint64_t info; /* the divisor for INFO */
    unsigned digits;
} units[] = {[UNIT_ONE] = {1, 0}, [UNIT_MS] = {1, 3}, [UNIT_NS] = {1000, 9}};

#define TYPE_COUNTER   "counter"
#define TYPE_GAUGE     "gauge"
#define TYPE_HISTOGRAM "histogram"

/* The lines of INFO in their order: texts and numbers. */
struct row {
    enum metrics_section section;
    bool is_text;
    uint16_t index; /* the index of the text or number */
    const char *info;
    const char *type;
    enum unit unit;
    const char *family;
    const char *labels;
    const char *help;
};

static const struct row rows[] = {
#define TEXT(in, id, name)                                                                         \
    {.section = METRICS_##in, .is_text = true, .index = TEXT_##id, .info = name, .family = ""},
#define NUMBER(in, id, name, sort, in_unit, in_family, with, text)                                 \
    {.section = METRICS_##in,                                                                      \
     .index = NUMBER_##id,                                                                         \
     .info = name,                                                                                 \
     .type = TYPE_##sort,                                                                          \
     .unit = UNIT_##in_unit,                                                                       \
     .family = in_family,                                                                          \
     .labels = with,                                                                               \
     .help = text},
#include "metrics/metrics.def"
};

#define ROWS (sizeof rows / sizeof rows[0])

static const struct {
    const char *family;
    const char *type;
    const char *help;
} vectors[] = {
#define VECTOR(id, sort, in_family, text) {in_family, TYPE_##sort, text},
#include "metrics/metrics.def"
};

static const struct {
    const char *title;
    const char *prefix;
} sections[] = {
#define SECTION(id, in_title, in_prefix) {in_title, in_prefix},
#include "metrics/metrics.def"
};

static bool is_first_of_family(size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (strcmp(rows[i].family, rows[at].family) == 0)
            return false;
    return true;
}

static bool write_family(const struct metrics *metrics, size_t first, struct buffer *out)
{
    const char *family = rows[first].family;
    bool written = exposition_family(out, family, rows[first].type, rows[first].help);
    for (size_t i = first; written && i < ROWS; i++)
        if (strcmp(rows[i].family, family) == 0)
            written =
                exposition_sample(out, family, rows[i].labels, metrics->numbers[rows[i].index],
                                  units[rows[i].unit].digits);
    return written;
}

bool metrics_write(const struct metrics *metrics, struct buffer *out)
{
    bool written = true;
    for (size_t i = 0; written && i < ROWS; i++)
        if (rows[i].family[0] != '\0' && !metrics->absent[rows[i].section] && is_first_of_family(i))
            written = write_family(metrics, i, out);
    for (size_t i = 0; written && i < METRICS_VECTORS; i++)
        written = exposition_family(out, vectors[i].family, vectors[i].type, vectors[i].help) &&
                  metrics_write_vector(metrics, (enum metrics_vector)i, vectors[i].family, out);
    return written;
}

static bool write_line(struct buffer *out, const char *line)
{
    return buffer_append(out, line, strlen(line)) && buffer_append(out, "\r\n", 2);
}

bool metrics_next_line(const struct metrics *metrics, enum metrics_section section, size_t *at,
                       struct metrics_line *line)
{
    *line = (struct metrics_line){.prefix = sections[section].prefix};
    if (metrics->absent[section]) {
        line->name = "state";
        line->text = "none";
        return (*at)++ == 0;
    }
    while (*at < ROWS) {
        const struct row *row = &rows[(*at)++];
        if (row->section != section || row->info[0] == '\0')
            continue;
        line->name = row->info;
        if (row->is_text)
            line->text = metrics->texts[row->index];
        else
            line->number = metrics->numbers[row->index] / units[row->unit].info;
        return true;
    }
    return false;
}

static bool write_info_line(const struct metrics_line *from, struct buffer *out)
{
    char line[LINE_BYTES];
    if (from->text != NULL)
        snprintf(line, sizeof line, "%s%s:%s", from->prefix, from->name, from->text);
    else
        snprintf(line, sizeof line, "%s%s:%" PRIu64, from->prefix, from->name, from->number);
    return write_line(out, line);
}

static bool write_ranks(const struct metrics *metrics, bool items, struct buffer *out)
{
    const struct hotkeys_top *top = &metrics->top;
    uint32_t count = items ? top->item_count : top->user_count;
    bool written = true;
    for (uint32_t i = 0; written && i < count && i < METRICS_SHOWN; i++) {
        char line[LINE_BYTES], name[HOTKEYS_TEXT];
        const struct hotkeys_rank *rank = items ? &top->items[i] : &top->users[i];
        hotkeys_name(rank, items ? metrics->names : NULL, name);
        const char *what = items ? "item" : "user";
        snprintf(line, sizeof line, "%s%s_%u:%s=%s,per_second=%" PRIu64,
                 sections[METRICS_HOTKEYS].prefix, what, i + 1, what, name, hotkeys_rate(rank));
        written = write_line(out, line);
    }
    return written;
}

const char *metrics_title(enum metrics_section section)
{
    return sections[section].title;
}

bool metrics_info(const struct metrics *metrics, enum metrics_section section, struct buffer *out)
{
    char line[LINE_BYTES];
    snprintf(line, sizeof line, "# %s", sections[section].title);
    bool written = write_line(out, line);
    struct metrics_line next;
    for (size_t at = 0; written && metrics_next_line(metrics, section, &at, &next);)
        written = write_info_line(&next, out);
    if (section == METRICS_HOTKEYS && !metrics->absent[section])
        written = written && write_ranks(metrics, true, out) && write_ranks(metrics, false, out);
    return written;
}

/*
 * The metrics of the server at one moment, and the two ways to write them: as sections of INFO, and in
 * the text format of Prometheus. metrics.def lists all of them. The sources (source.h) fill a struct
 * metrics; nothing here knows where a number comes from.
 *
 * Any thread may call these functions, because nothing is shared. The texts belong to the sources and
 * must outlive the struct.
 */
#ifndef LAUD_METRICS_METRICS_H
#define LAUD_METRICS_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buckets.h"
#include "base/buffer.h"
#include "base/names.h"
#include "metrics/hotkeys.h"
#include "metrics/meter.h"

#define METRICS_RANKS 10 /* how many of the hottest METRICS shows, by rank */
#define METRICS_SHOWN 3  /* how many of the hottest INFO shows, by name */

#define METRICS_RATE 48 /* bytes of the text of a rate */

enum metrics_section {
#define SECTION(id, title, prefix) METRICS_##id,
#include "metrics/metrics.def"
    METRICS_SECTIONS
};

enum metrics_text {
#define TEXT(section, id, info) TEXT_##id,
#include "metrics/metrics.def"
    METRICS_TEXTS
};

enum metrics_number {
#define NUMBER(section, id, info, type, unit, family, labels, help) NUMBER_##id,
#include "metrics/metrics.def"
    METRICS_NUMBERS
};

enum metrics_vector {
#define VECTOR(id, type, family, help) VECTOR_##id,
#include "metrics/metrics.def"
    METRICS_VECTORS
};

struct metrics {
    bool absent[METRICS_SECTIONS]; /* the server runs without the module of this section */
    uint64_t numbers[METRICS_NUMBERS];
    const char *texts[METRICS_TEXTS]; /* "" if there is nothing to show; they have no line ends */
    char rates[7][METRICS_RATE];      /* the rates of the limits as text; `texts` points to them */
    uint32_t operation_count;
    const char *operations[METER_OPERATIONS]; /* their names */
    struct meter_total meter;
    struct buckets_total batch_events;
    struct buckets_total sync_times; /* ns */
    struct hotkeys_top top;
    const struct names *names; /* the names of the items in `top` */
};

/* Appends everything in the text format of Prometheus. False: there is no memory. */
bool metrics_write(const struct metrics *metrics, struct buffer *out);

/* Appends one vector with the head of its family; metrics_write calls it for all vectors. */
bool metrics_write_vector(const struct metrics *metrics, enum metrics_vector vector,
                          const char *family, struct buffer *out);

/* One line of a section of INFO: a text, or a number if `text` is NULL. Its name is prefix and name. */
struct metrics_line {
    const char *prefix, *name;
    const char *text;
    uint64_t number;
};

/*
 * Reads the next line of a section, as INFO shows it, except the hot keys. *at is 0 at first. A section
 * that is absent has one line, which says so. False: there are no more.
 */
bool metrics_next_line(const struct metrics *metrics, enum metrics_section section, size_t *at,
                       struct metrics_line *line);

/* Appends a section of INFO, with its title. False: there is no memory. */
bool metrics_info(const struct metrics *metrics, enum metrics_section section, struct buffer *out);
const char *metrics_title(enum metrics_section section);

#endif

/*
 * Recorded times and the clock. Recorded times must never go back, because lists, CHANGES and
 * everything that expires rely on their order; clocks do go back. So a recorded time is the time of
 * the clock plus an offset, which is 0 as long as no clock was ever wrong. A span is a range of
 * recorded times with the same offset. The table of spans says which time to show for a recorded
 * time, and has no other purpose.
 *
 * These are plain values without a lock: whoever shares a table between threads must protect it.
 */
#ifndef LAUD_TIME_SPANS_H
#define LAUD_TIME_SPANS_H

#include <stdint.h>

#include "base/status.h"

#define SPANS_MAX  64      /* above it two spans are joined, see spans_add */
#define SPANS_NAME "clock" /* name of the file in a data directory */

struct time_span {
    uint32_t from_s;   /* first recorded time of the span */
    uint32_t offset_s; /* recorded times of the span are this much later than the clock */
};

/*
 * In rising order of from_s, which is 0 in the first span. Without any span, as when all is zero,
 * the offset is always 0.
 */
struct spans {
    uint32_t count;
    struct time_span list[SPANS_MAX];
};

/* The offset of times that are recorded from now on. */
static inline uint32_t spans_offset(const struct spans *spans)
{
    return spans->count == 0 ? 0 : spans->list[spans->count - 1].offset_s;
}

/* The time that the clock had when this time was recorded. */
uint32_t spans_shown(const struct spans *spans, uint32_t recorded_s);

/* The recorded time when the clock had the time `shown_s`; the latest if there are several. */
uint32_t spans_recorded(const struct spans *spans, uint32_t shown_s);

/*
 * Like spans_shown, but not later than now: a time at which the clock was ahead becomes the time at
 * which the clock was corrected, or now. The order of times stays the same.
 */
uint32_t spans_past(const struct spans *spans, uint32_t recorded_s, uint32_t now_s);

/*
 * Times after last_s, the newest recorded time, have this offset from now on. Spans without any
 * recorded time are removed. If there are too many spans, two are joined where this changes the
 * shown times least.
 */
void spans_add(struct spans *spans, uint32_t last_s, uint32_t offset_s);

/*
 * The file of a data directory. spans_read: OK, also if there is no file; DAMAGED or IO_FAILED.
 * Without OK or without a file the table has no spans. spans_write: 0 when the file is on disk, or
 * -errno.
 */
enum status spans_read(const char *directory, struct spans *spans);
int spans_write(const char *directory, const struct spans *spans);

#endif
